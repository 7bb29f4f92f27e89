"""What operators look at over gRPC: convert, call, convert."""

from typing import Any

from switchboard.monitoring.v1 import monitoring_pb2 as pb
from switchboard.monitoring.v1 import monitoring_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from adapters.wire import monitoring as convert
from domain.monitoring.rules import parse_period
from ports.monitoring import Monitoring


class MonitoringServicer(monitoring_pb2_grpc.MonitoringServiceServicer):
    def __init__(self, monitoring: Monitoring) -> None:
        self._monitoring = monitoring

    async def ListDeadLetters(
        self, request: pb.ListDeadLettersRequest, context: Any
    ) -> pb.ListDeadLettersResponse:
        instance_id, direction = convert.instance_of(request), convert.direction_of(request)
        limit, cursor = convert.limit_of(request), request.cursor or None
        return convert.dead_letters_to_pb(
            await self._monitoring.dead_letters.list(caller(), instance_id, direction, limit, cursor)
        )

    async def GetDeadLetter(self, request: pb.DeadLetterId, context: Any) -> pb.GetDeadLetterResponse:
        found = await self._monitoring.dead_letters.get(caller(), convert.ID.from_pb(request))
        return convert.view_to_pb(found)

    async def ReplayDeadLetters(self, request: pb.DeadLetterIds, context: Any) -> pb.DeadLetterResults:
        ids = convert.ids_from_pb(request)
        return convert.results_to_pb(await self._monitoring.dead_letters.replay(caller(), ids))

    async def DropDeadLetters(self, request: pb.DeadLetterIds, context: Any) -> pb.DeadLetterResults:
        ids = convert.ids_from_pb(request)
        return convert.results_to_pb(await self._monitoring.dead_letters.drop(caller(), ids))

    async def ListInstanceHealth(
        self, request: pb.ListInstanceHealthRequest, context: Any
    ) -> pb.ListInstanceHealthResponse:
        limit, cursor = convert.limit_of(request), request.cursor or None
        return convert.health_page_to_pb(
            await self._monitoring.health.list(caller(), limit, cursor, failing=request.failing)
        )

    async def GetFigures(self, request: pb.GetFiguresRequest, context: Any) -> pb.Figures:
        period = parse_period(request.period)
        found = await self._monitoring.figures.figures(caller(), period, convert.instance_of(request))
        return convert.figures_to_pb(found)

    async def ListFindings(self, request: pb.ListFindingsRequest, context: Any) -> pb.ListFindingsResponse:
        findings = await self._monitoring.doctor.findings(caller())
        return pb.ListFindingsResponse(findings=map(convert.FINDING.to_pb, findings))
