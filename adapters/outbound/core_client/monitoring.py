"""What operators look at, at a remote core."""

from collections.abc import Sequence

from switchboard.monitoring.v1 import monitoring_pb2 as pb
from switchboard.monitoring.v1 import monitoring_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire import monitoring as convert
from domain.access.model import Caller
from domain.conversations.model import Direction
from domain.monitoring.model import (
    DeadLetterId,
    DeadLetterPage,
    DeadLetterView,
    Figures,
    Finding,
    HealthPage,
    ItemResult,
    Period,
)
from ports.monitoring import Monitoring

SLOW = 60.0
"""Seconds for many dead letters at once, and for a look at the whole installation."""


class RemoteDeadLetters:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = monitoring_pb2_grpc.MonitoringServiceStub(core.channel)

    async def list(
        self,
        caller: Caller,
        instance_id: int | None,
        direction: Direction | None,
        limit: int,
        cursor: str | None,
    ) -> DeadLetterPage:
        request = pb.ListDeadLettersRequest(
            instance_id=instance_id, direction=direction or "", limit=limit, cursor=cursor or ""
        )
        return convert.dead_letters_from_pb(await self._core.call(self._stub.ListDeadLetters, request))

    async def get(self, caller: Caller, dead_letter: DeadLetterId) -> DeadLetterView:
        request = convert.ID.to_pb(dead_letter)
        return convert.view_from_pb(await self._core.call(self._stub.GetDeadLetter, request))

    async def replay(self, caller: Caller, dead_letters: Sequence[DeadLetterId]) -> Sequence[ItemResult]:
        request = convert.ids_to_pb(dead_letters)
        return convert.results_from_pb(
            await self._core.call(self._stub.ReplayDeadLetters, request, deadline=SLOW)
        )

    async def drop(self, caller: Caller, dead_letters: Sequence[DeadLetterId]) -> Sequence[ItemResult]:
        request = convert.ids_to_pb(dead_letters)
        return convert.results_from_pb(
            await self._core.call(self._stub.DropDeadLetters, request, deadline=SLOW)
        )


class RemoteHealthOverview:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = monitoring_pb2_grpc.MonitoringServiceStub(core.channel)

    async def list(
        self, caller: Caller, limit: int, cursor: str | None, *, failing: bool = False
    ) -> HealthPage:
        request = pb.ListInstanceHealthRequest(failing=failing, limit=limit, cursor=cursor or "")
        return convert.health_page_from_pb(await self._core.call(self._stub.ListInstanceHealth, request))


class RemoteFigures:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = monitoring_pb2_grpc.MonitoringServiceStub(core.channel)

    async def figures(self, caller: Caller, period: Period, instance_id: int | None) -> Figures:
        request = pb.GetFiguresRequest(period=period, instance_id=instance_id)
        return convert.figures_from_pb(await self._core.call(self._stub.GetFigures, request))


class RemoteDoctor:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = monitoring_pb2_grpc.MonitoringServiceStub(core.channel)

    async def findings(self, caller: Caller) -> Sequence[Finding]:
        request = pb.ListFindingsRequest()
        answer = await self._core.call(self._stub.ListFindings, request, deadline=SLOW)
        return [convert.FINDING.from_pb(finding) for finding in answer.findings]


def remote_monitoring(core: CoreConnection) -> Monitoring:
    return Monitoring(
        RemoteDeadLetters(core), RemoteHealthOverview(core), RemoteFigures(core), RemoteDoctor(core)
    )
