"""What runs by the clock over REST."""

from typing import Literal

from fastapi import APIRouter
from pydantic import Field

from adapters.inbound.rest.bodies import AT, Accepted, Answer, OptionalTimestamp, Timestamp, attribute
from adapters.inbound.rest.routing import Call, CursorPage, InstanceId, JsonRoute, errors
from domain.paging import Page
from domain.polling.model import ScheduleView


class Schedule(Answer):
    instanceId: int
    userId: str = Field(examples=["ann"])
    channelId: str = Field(examples=["cron"])
    channelName: str = Field(examples=["Morning report"])
    kind: Literal["schedule", "poll"] = Field(
        description="schedule: fires by the clock; poll: asked every so often."
    )
    description: str = Field(
        description="When it runs, in words.", examples=["At 09:00 on Monday through Friday"]
    )
    expression: str = Field(description="The cron expression; empty for polls.", examples=["0 9 * * 1-5"])
    timezone: str = Field(description="Of the expression; empty for polls.", examples=["Europe/Berlin"])
    nextRun: OptionalTimestamp = Field(description="null: not before it is changed, or run by hand.")
    following: list[Timestamp] = Field(
        description="The times of the clock after that, at most 4.", examples=[["2026-03-02T09:30:00.000Z"]]
    )
    running: bool = Field(validation_alias="is_running", examples=[False])
    failures: int = Field(description="Failed runs since the last good one.", examples=[0])
    lastSuccess: OptionalTimestamp = Field(examples=[AT])
    lastError: str | None
    lastErrorAt: OptionalTimestamp


class ScheduleList(Answer):
    schedules: list[Schedule] = attribute("items")
    next: int | None


BASE = "/api/agent/schedules"
router = APIRouter(route_class=JsonRoute, tags=["schedules"])


@router.get(BASE, response_model=ScheduleList, responses=errors(400), summary="What runs by the clock")
async def list_schedules(call: Call, page: CursorPage) -> Page[ScheduleView, int]:
    """Firings and polls of the caller's instances (an admin's: of all), ordered by the ids of the instances."""
    return await call.services.schedules.list(call.caller, page.number, page.limit)


@router.post(
    BASE + "/{instanceId}/run",
    status_code=202,
    response_model=Accepted,
    responses=errors(403, 404, 409),
    summary="Fire or poll now",
)
async def run(call: Call, instance: InstanceId) -> Accepted:
    """Fires or polls once more as soon as a worker can, also where nothing is planned; the plan stays. While a run is
    under way, the next one begins when it has ended. 409 for an instance that does not run by the clock."""
    await call.services.schedules.run(call.caller, instance)
    return Accepted(message="The run begins as soon as a worker can take it")
