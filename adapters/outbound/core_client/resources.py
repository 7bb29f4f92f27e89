"""What stands behind resource ids in a remote core."""

from switchboard.downstream.v1 import resources_pb2 as pb
from switchboard.downstream.v1 import resources_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire import resources as convert
from domain.access.model import Caller
from domain.routing.trials.model import ResourceRules, ResourceTrial

SLOW = 40.0
"""Seconds for a trial."""


class RemoteResources:
    """`ports.resources.Resources`."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = resources_pb2_grpc.ResourceServiceStub(core.channel)

    async def rules(self, caller: Caller) -> ResourceRules:
        return convert.rules_from_pb(await self._core.call(self._stub.ListRules, pb.ListRulesRequest()))

    async def try_out(self, caller: Caller, resource_id: str, text: str, *, ask: bool) -> ResourceTrial:
        request = pb.TryResourceRequest(resource_id=resource_id, text=text, ask=ask)
        answer = await self._core.call(self._stub.TryResource, request, deadline=SLOW)
        return convert.trial_from_pb(answer)
