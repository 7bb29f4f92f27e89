"""Conversations at a remote core."""

from switchboard.channels.v1 import conversations_pb2 as pb
from switchboard.channels.v1 import conversations_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire import conversations as convert
from domain.access.model import Caller
from domain.conversations.model import (
    ConversationFilter,
    ConversationPage,
    Handler,
    MessagePage,
    MessagesWanted,
)

ERASURE = 120.0
"""Seconds for erasing a long conversation."""


class RemoteConversations:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = conversations_pb2_grpc.ConversationServiceStub(core.channel)

    async def list(
        self, caller: Caller, wanted: ConversationFilter, limit: int, cursor: str | None
    ) -> ConversationPage:
        request = convert.filter_to_pb(wanted, limit, cursor)
        return convert.conversations_from_pb(await self._core.call(self._stub.ListConversations, request))

    async def messages(
        self, caller: Caller, instance_id: int, session_id: str, wanted: MessagesWanted
    ) -> MessagePage:
        request = convert.wanted_to_pb(instance_id, session_id, wanted)
        return convert.messages_from_pb(await self._core.call(self._stub.ListMessages, request))

    async def failed(self, caller: Caller, instance_id: int, limit: int, cursor: str | None) -> MessagePage:
        request = pb.ListFailedMessagesRequest(instance_id=instance_id, limit=limit, cursor=cursor or "")
        return convert.messages_from_pb(await self._core.call(self._stub.ListFailedMessages, request))

    async def set_handler(
        self, caller: Caller, instance_id: int, session_id: str, handler: Handler, minutes: int | None
    ) -> None:
        request = pb.SetHandlerRequest(
            instance_id=instance_id, session_id=session_id, handler=handler, minutes=minutes
        )
        await self._core.call(self._stub.SetHandler, request)

    async def rerun(self, caller: Caller, instance_id: int, message_id: str) -> None:
        request = pb.RerunMessageRequest(instance_id=instance_id, message_id=message_id)
        await self._core.call(self._stub.RerunMessage, request)

    async def erase(self, caller: Caller, instance_id: int, session_id: str) -> None:
        request = pb.EraseConversationRequest(instance_id=instance_id, session_id=session_id)
        await self._core.call(self._stub.EraseConversation, request, deadline=ERASURE)
