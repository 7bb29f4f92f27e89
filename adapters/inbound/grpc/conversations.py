"""Servicer of conversations: convert, call, convert."""

from typing import Any

from switchboard.channels.v1 import conversations_pb2 as pb
from switchboard.channels.v1 import conversations_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from adapters.wire import conversations as convert
from ports.use_cases import Conversations


class ConversationServicer(conversations_pb2_grpc.ConversationServiceServicer):
    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations

    async def ListConversations(
        self, request: pb.ListConversationsRequest, context: Any
    ) -> pb.ListConversationsResponse:
        wanted, limit = convert.filter_from_pb(request), convert.limit_of(request)
        cursor = request.cursor or None
        return convert.conversations_to_pb(await self._conversations.list(caller(), wanted, limit, cursor))

    async def ListMessages(self, request: pb.ListMessagesRequest, context: Any) -> pb.ListMessagesResponse:
        wanted = convert.wanted_from_pb(request)
        return convert.messages_to_pb(
            await self._conversations.messages(caller(), request.instance_id, request.session_id, wanted)
        )

    async def ListFailedMessages(
        self, request: pb.ListFailedMessagesRequest, context: Any
    ) -> pb.ListMessagesResponse:
        limit, cursor = convert.limit_of(request), request.cursor or None
        return convert.messages_to_pb(
            await self._conversations.failed(caller(), request.instance_id, limit, cursor)
        )

    async def SetHandler(self, request: pb.SetHandlerRequest, context: Any) -> pb.SetHandlerResponse:
        await self._conversations.set_handler(
            caller(),
            request.instance_id,
            request.session_id,
            convert.parsed_handler(request.handler),
            request.minutes if request.HasField("minutes") else None,
        )
        return pb.SetHandlerResponse()

    async def RerunMessage(self, request: pb.RerunMessageRequest, context: Any) -> pb.RerunMessageResponse:
        await self._conversations.rerun(caller(), request.instance_id, request.message_id)
        return pb.RerunMessageResponse()

    async def EraseConversation(
        self, request: pb.EraseConversationRequest, context: Any
    ) -> pb.EraseConversationResponse:
        await self._conversations.erase(caller(), request.instance_id, request.session_id)
        return pb.EraseConversationResponse()
