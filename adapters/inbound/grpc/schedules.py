"""What runs by the clock over gRPC."""

from typing import Any

from switchboard.channels.v1 import schedules_pb2 as pb
from switchboard.channels.v1 import schedules_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from adapters.wire import schedules as convert
from adapters.wire.pages import limit_of
from ports.schedules import Schedules


class ScheduleServicer(schedules_pb2_grpc.ScheduleServiceServicer):
    def __init__(self, schedules: Schedules) -> None:
        self._schedules = schedules

    async def ListSchedules(self, request: pb.ListSchedulesRequest, context: Any) -> pb.ListSchedulesResponse:
        limit = limit_of(request.limit)
        return convert.page_to_pb(await self._schedules.list(caller(), request.cursor, limit))

    async def RunSchedule(self, request: pb.RunScheduleRequest, context: Any) -> pb.RunScheduleResponse:
        await self._schedules.run(caller(), request.instance_id)
        return pb.RunScheduleResponse()
