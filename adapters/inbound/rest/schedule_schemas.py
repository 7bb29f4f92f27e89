"""The bodies of the routes of schedules."""

from typing import Literal

from pydantic import Field

from adapters.inbound.rest.bodies import Answer, OptionalTimestamp, Timestamp, attribute


class Schedule(Answer):
    instanceId: int
    userId: str
    channelId: str
    channelName: str
    kind: Literal["schedule", "poll"] = Field(
        description="schedule: fires by the clock; poll: asked every so often."
    )
    description: str = Field(description="When it runs, in words.")
    expression: str = Field(description="The cron expression; empty for polls.")
    timezone: str = Field(description="Of the expression; empty for polls.")
    nextRun: OptionalTimestamp = Field(description="null: not before it is changed, or run by hand.")
    following: list[Timestamp] = Field(description="The times of the clock after that, at most 4.")
    running: bool = Field(validation_alias="is_running")
    failures: int = Field(description="Failed runs since the last good one.")
    lastSuccess: OptionalTimestamp
    lastError: str | None
    lastErrorAt: OptionalTimestamp


class ScheduleList(Answer):
    schedules: list[Schedule] = attribute("items")
    next: int | None
