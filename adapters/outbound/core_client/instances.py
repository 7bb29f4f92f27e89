"""Pages of instances of a remote core."""

from switchboard.channels.v1 import instances_pb2 as pb
from switchboard.channels.v1 import instances_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.rpc.messages import to_value
from domain.access.model import Caller
from domain.instances.model import InstancePage, InstanceView


class RemoteInstancePages:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = instances_pb2_grpc.InstanceServiceStub(core.channel)

    async def page(self, caller: Caller, after: int, most_bytes: int) -> InstancePage:
        """As many as the core sends in one message, whatever `most_bytes` says."""
        request = pb.ListInstancesRequest(page_token=str(after))
        answer = await self._core.call(self._stub.ListInstances, request)
        views = [to_value(instance, InstanceView) for instance in answer.instances]
        return InstancePage(views, bool(answer.next_page_token))
