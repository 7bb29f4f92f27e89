"""Schedules to protobuf and back."""

from switchboard.channels.v1 import schedules_pb2 as pb

from adapters.wire.conversion import Conversion
from adapters.wire.timestamps import from_us, to_us
from domain.polling.model import SchedulePage, ScheduleView

SCHEDULE = Conversion(ScheduleView, pb.Schedule)


def page_to_pb(page: SchedulePage) -> pb.ListSchedulesResponse:
    schedules = [SCHEDULE.to_pb(view, following_us=map(to_us, view.following)) for view in page.schedules]
    return pb.ListSchedulesResponse(schedules=schedules, next=page.next)


def page_from_pb(message: pb.ListSchedulesResponse) -> SchedulePage:
    schedules = [
        SCHEDULE.from_pb(each, following=tuple(map(from_us, each.following_us))) for each in message.schedules
    ]
    return SchedulePage(schedules, message.next if message.HasField("next") else None)
