"""Messages of conversations at a remote core."""

from collections.abc import Sequence

from switchboard.channels.v1 import messages_pb2 as pb
from switchboard.channels.v1 import messages_pb2_grpc

from adapters.outbound.core_client.channels import SLOW
from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire import messages as convert
from domain.access.model import Caller
from domain.conversations.model import Message, NewMessage, QueuedSend, Timeline


class RemoteMessages:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = messages_pb2_grpc.MessageServiceStub(core.channel)

    async def send(
        self, caller: Caller, instance_id: int, message: NewMessage, idempotency_key: str | None
    ) -> QueuedSend:
        request = convert.new_to_pb(message, instance_id, idempotency_key)
        return convert.QUEUED.from_pb(await self._core.call(self._stub.SendMessage, request, deadline=SLOW))

    async def message(self, caller: Caller, instance_id: int, message_id: str) -> Message:
        request = pb.GetMessageRequest(instance_id=instance_id, message_id=message_id)
        return convert.message_from_pb(await self._core.call(self._stub.GetMessage, request, deadline=SLOW))

    async def timelines(
        self, caller: Caller, instance_id: int, message_ids: Sequence[str]
    ) -> Sequence[Timeline]:
        request = pb.ListTimelinesRequest(instance_id=instance_id, message_ids=message_ids)
        return convert.timelines_from_pb(await self._core.call(self._stub.ListTimelines, request))
