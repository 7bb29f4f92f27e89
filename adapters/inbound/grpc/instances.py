"""Lists of instances over gRPC, in pages of the store's."""

from typing import Any

from switchboard.channels.v1 import instances_pb2 as pb

from adapters.inbound.grpc.interceptors import caller
from adapters.rpc.messages import to_message
from adapters.rpc.pages import PAGE_BYTES, fitting, position
from ports.use_cases import Instances


class InstanceServicer:
    def __init__(self, instances: Instances) -> None:
        self._instances = instances

    async def ListInstances(self, request: pb.ListInstancesRequest, context: Any) -> pb.ListInstancesResponse:
        stored = await self._instances.page(caller(), position(request.page_token), PAGE_BYTES)
        instances = fitting(to_message(view, pb.Instance) for view in stored.views)
        more = stored.more or len(instances) < len(stored.views)
        token = str(instances[-1].id) if more else ""
        return pb.ListInstancesResponse(instances=instances, next_page_token=token)
