"""Reports over REST: what happened on each day, as pages or as CSV."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import Field

from adapters.inbound.rest.bodies import Answer, attribute
from adapters.inbound.rest.conversations import Next
from adapters.inbound.rest.csv_files import exported
from adapters.inbound.rest.routing import (
    Call,
    CommaSeparated,
    CursorPage,
    EmptyIsNone,
    JsonRoute,
    OnlyInstances,
    errors,
)
from domain.paging import LARGEST_LIMIT, Page
from domain.reports import model

_NOT_SPLIT = "null where the report is not by it."


class ReportTimes(Answer):
    count: int = Field(description="How many times were counted.", examples=[90])
    meanSeconds: float | None = Field(description="null where there were none.", examples=[42.5])
    medianSeconds: float | None = Field(
        description="Half of the times were at most so long, to within a fifth; null where there were none.",
        examples=[3.4],
    )


class ReportRow(Answer):
    day: str | None = Field(description=f"In UTC; {_NOT_SPLIT}", examples=["2026-03-31"])
    instanceId: int | None = Field(description=f"The instance may be gone; {_NOT_SPLIT}", examples=[1])
    channelName: str | None = Field(
        description="null where the instance is gone, or the report is not by it.", examples=["Support"]
    )
    userId: str | None = Field(
        description=f"The colleague; empty for what no colleague did; {_NOT_SPLIT}", examples=["ann"]
    )
    teamId: int | None = Field(description=f"0 for what no member of a team did; {_NOT_SPLIT}", examples=[3])
    teamName: str | None = Field(examples=["Support"])
    messages: int = Field(description="Messages received.", examples=[120])
    people: int = Field(
        description="How many people wrote them, on each day and to each instance.", examples=[85]
    )
    answeredByAgent: int = Field(description="Answers of agents.", examples=[110])
    answeredByPerson: int = Field(
        description="Answers of colleagues; several in a row are one.", examples=[7]
    )
    timeToFirstAnswer: ReportTimes = Field(
        description="From the message that opened a conversation to its first answer."
    )
    handovers: int = Field(description="Conversations that were handed to people.", examples=[6])
    timeToPerson: ReportTimes = Field(
        description="From an agent's asking for people to the first answer of a colleague."
    )
    closed: int = Field(description="Conversations that were closed.", examples=[40])
    timeToClose: ReportTimes = Field(
        description="From the message that opened a conversation until it was closed."
    )
    failed: int = Field(description="Messages of both directions that were given up.", examples=[1])
    feedbackUp: int = Field(description="Answers that people liked.", examples=[12])
    feedbackDown: int = Field(description="Answers that people did not like.", examples=[3])


class ReportList(Answer):
    reports: list[ReportRow] = attribute("items", description="Ordered by day, instance, team and colleague.")
    next: Next


router = APIRouter(route_class=JsonRoute, tags=["monitoring"])

COLUMNS = (
    "day",
    "instanceId",
    "channelName",
    "teamId",
    "teamName",
    "userId",
    "messages",
    "people",
    "answeredByAgent",
    "answeredByPerson",
    "timeToFirstAnswerCount",
    "timeToFirstAnswerMeanSeconds",
    "timeToFirstAnswerMedianSeconds",
    "handovers",
    "timeToPersonCount",
    "timeToPersonMeanSeconds",
    "timeToPersonMedianSeconds",
    "closed",
    "timeToCloseCount",
    "timeToCloseMeanSeconds",
    "timeToCloseMedianSeconds",
    "failed",
    "feedbackUp",
    "feedbackDown",
)
MOST_EXPORTED = 100
"""Pages of an export: 20,000 rows."""


@router.get(
    "/api/agent/reports",
    response_model=ReportList,
    responses={
        **errors(400, 403, 404),
        200: {
            "description": "The rows; as CSV at most 20,000.",
            "content": {"text/csv": {"schema": {"type": "string"}}},
        },
    },
    summary="What happened on each day",
)
async def list_reports(
    call: Call,
    page: CursorPage,
    by: Annotated[
        list[str],
        CommaSeparated,
        Query(
            max_length=10,
            description="What there is a row for each of, separated by commas: day, instance, team, person (a "
            "colleague); all for one row in all. By the day where it is not given.",
            examples=[["day", "instance"]],
        ),
    ] = [],  # noqa: B006 - not changed
    first: Annotated[
        str | None,
        EmptyIsNone,
        Query(
            alias="from",
            description="The first day, in UTC; 29 days before the last one where it is not given.",
            examples=["2026-03-01"],
        ),
    ] = None,
    last: Annotated[
        str | None,
        EmptyIsNone,
        Query(
            alias="to",
            description="The last day, included; today where it is not given. At most 400 days in all.",
            examples=["2026-03-31"],
        ),
    ] = None,
    instances: OnlyInstances = [],  # noqa: B006 - not changed
    format: Annotated[
        Literal["json", "csv"] | None,
        EmptyIsNone,
        Query(description="csv for a file of all pages.", examples=["csv"]),
    ] = None,
) -> Page[model.ReportRow, str] | StreamingResponse:
    """Figures of the instances that the caller sees; an admin sees all, also those that are gone. Where nothing
    happened there is no row. In CSV a text that a spreadsheet would take for a formula begins with '."""

    async def page_of(cursor: str | None, limit: int = LARGEST_LIMIT) -> Page[model.ReportRow, str]:
        reports = call.services.monitoring.reports
        return await reports.list(call.caller, by, first, last, instances, limit, cursor)

    if format != "csv":
        return await page_of(page.cursor, page.limit)
    return await exported("reports", "csv", COLUMNS, page_of, _cells, str, MOST_EXPORTED)


def _cells(row: model.ReportRow) -> dict[str, Any]:
    cells = ReportRow.model_validate(row).model_dump()
    for name in ("timeToFirstAnswer", "timeToPerson", "timeToClose"):
        times = cells.pop(name)
        cells[f"{name}Count"] = times["count"]
        cells[f"{name}MeanSeconds"] = times["meanSeconds"]
        cells[f"{name}MedianSeconds"] = times["medianSeconds"]
    return cells
