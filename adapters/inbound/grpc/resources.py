"""What stands behind resource ids over gRPC."""

from typing import Any

from switchboard.downstream.v1 import resources_pb2 as pb
from switchboard.downstream.v1 import resources_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from adapters.wire import resources as convert
from ports.resources import Resources


class ResourceServicer(resources_pb2_grpc.ResourceServiceServicer):
    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def ListRules(self, request: pb.ListRulesRequest, context: Any) -> pb.ListRulesResponse:
        return convert.rules_to_pb(await self._resources.rules(caller()))

    async def TryResource(self, request: pb.TryResourceRequest, context: Any) -> pb.TryResourceResponse:
        trial = await self._resources.try_out(caller(), request.resource_id, request.text, ask=request.ask)
        return convert.trial_to_pb(trial)
