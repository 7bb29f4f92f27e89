"""What runs by the clock in a remote core."""

from switchboard.channels.v1 import schedules_pb2 as pb
from switchboard.channels.v1 import schedules_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire import schedules as convert
from domain.access.model import Caller
from domain.polling.model import SchedulePage


class RemoteSchedules:
    """`ports.schedules.Schedules`."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = schedules_pb2_grpc.ScheduleServiceStub(core.channel)

    async def list(self, caller: Caller, cursor: int, limit: int) -> SchedulePage:
        request = pb.ListSchedulesRequest(cursor=cursor, limit=limit)
        return convert.page_from_pb(await self._core.call(self._stub.ListSchedules, request))

    async def run(self, caller: Caller, instance_id: int) -> None:
        request = pb.RunScheduleRequest(instance_id=instance_id)
        await self._core.call(self._stub.RunSchedule, request)
