"""What runs of resources take, over REST: sums as pages or as CSV."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
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
from domain.usage import model

_NOT_SPLIT = "null where the sums are not split by it."


class UsageRecord(Answer):
    day: str | None = Field(description=f"In UTC; {_NOT_SPLIT}", examples=["2026-03-31"])
    instanceId: int | None = Field(
        description=f"0 for tests and questions that came to no instance; {_NOT_SPLIT}", examples=[1]
    )
    resourceId: str | None = Field(
        description=f"The agent, all of its experts together; {_NOT_SPLIT}", examples=["agent::support"]
    )
    userId: str | None = Field(
        description=f"The sender's user, or the owner of the instance for a sender who is not verified; {_NOT_SPLIT}",
        examples=["ann"],
    )
    currency: str | None = Field(description="Of `cost`; null for runs without prices.", examples=["EUR"])
    runs: int = Field(description="How often resources were asked.", examples=[120])
    inputTokens: int = Field(description="Tokens that models read.", examples=[91_500])
    outputTokens: int = Field(description="Tokens that models wrote.", examples=[12_300])
    seconds: float = Field(description="How long the runs took.", examples=[310.5])
    cost: float = Field(description="0 without prices.", examples=[1.24])


class UsageList(Answer):
    usage: list[UsageRecord] = attribute("items")
    next: Next


router = APIRouter(route_class=JsonRoute, tags=["monitoring"])

COLUMNS = tuple(UsageRecord.model_fields)
MOST_EXPORTED = 50
"""Pages of an export: 10,000 sums."""


@router.get(
    "/api/agent/usage",
    response_model=UsageList,
    responses={
        **errors(400, 403, 404),
        200: {
            "description": "The sums; as CSV at most 10,000.",
            "content": {"text/csv": {"schema": {"type": "string"}}},
        },
    },
    summary="Tokens, seconds and costs of agents",
)
async def list_usage(
    call: Call,
    request: Request,
    page: CursorPage,
    by: Annotated[
        list[str],
        CommaSeparated,
        Query(
            max_length=10,
            description="What the sums are split by, separated by commas: day, instance, agent, user.",
            examples=[["day", "agent"]],
        ),
    ] = [],  # noqa: B006 - not changed
    first: Annotated[
        str | None,
        EmptyIsNone,
        Query(
            alias="from",
            description="The first day, in UTC; the first of this month where it is not given.",
            examples=["2026-03-01"],
        ),
    ] = None,
    last: Annotated[
        str | None,
        EmptyIsNone,
        Query(
            alias="to",
            description="The last day, included; today where it is not given.",
            examples=["2026-03-31"],
        ),
    ] = None,
    instances: OnlyInstances = [],  # noqa: B006 - not changed
    format: Annotated[
        Literal["json", "csv"] | None,
        EmptyIsNone,
        Query(description="csv for a file of all pages; also by `Accept: text/csv`.", examples=["csv"]),
    ] = None,
) -> Page[model.UsageSum, str] | StreamingResponse:
    """Sums over the caller's instances, an admin's: over all. Sums in different currencies stay apart. In CSV a text
    that a spreadsheet would take for a formula begins with '."""

    async def page_of(limit: int, cursor: str | None) -> Page[model.UsageSum, str]:
        return await call.services.usage.list(call.caller, by, first, last, instances, limit, cursor)

    accepted = request.headers.get("accept", "").partition(",")[0].partition(";")[0].strip().lower()
    if (format or ("csv" if accepted == "text/csv" else "json")) == "json":
        return await page_of(page.limit, page.cursor)

    async def of_file(cursor: str | None) -> Page[model.UsageSum, str]:
        return await page_of(LARGEST_LIMIT, cursor)

    return await exported("usage", "csv", COLUMNS, of_file, _cells, str, MOST_EXPORTED)


def _cells(usage: model.UsageSum) -> dict[str, Any]:
    return UsageRecord.model_validate(usage).model_dump()
