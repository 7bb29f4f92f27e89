"""Servicer of the messages of conversations: convert, call, convert."""

from typing import Any

from switchboard.channels.v1 import messages_pb2 as pb
from switchboard.channels.v1 import messages_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from adapters.wire import messages as convert
from ports.use_cases import Messages


class MessageServicer(messages_pb2_grpc.MessageServiceServicer):
    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    async def SendMessage(self, request: pb.SendMessageRequest, context: Any) -> pb.SendMessageResponse:
        key = request.idempotency_key if request.HasField("idempotency_key") else None
        message = convert.new_from_pb(request)
        return convert.QUEUED.to_pb(await self._messages.send(caller(), request.instance_id, message, key))

    async def GetMessage(self, request: pb.GetMessageRequest, context: Any) -> pb.Message:
        message = await self._messages.message(caller(), request.instance_id, request.message_id)
        return convert.message_to_pb(message)

    async def ListTimelines(self, request: pb.ListTimelinesRequest, context: Any) -> pb.ListTimelinesResponse:
        ids = list(request.message_ids)
        return convert.timelines_to_pb(await self._messages.timelines(caller(), request.instance_id, ids))
