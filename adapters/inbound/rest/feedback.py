"""Feedback on answers over REST: lists, and exports as CSV or lines of JSON."""

import json
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import Field

from adapters.inbound.rest.bodies import Answer, Timestamp, attribute
from adapters.inbound.rest.conversations import Next
from adapters.inbound.rest.csv_files import Format, exported, file_responses
from adapters.inbound.rest.instances import BASE
from adapters.inbound.rest.routing import (
    Call,
    CursorPage,
    EmptyIsNone,
    InstanceId,
    JsonRoute,
    OnlyInstances,
    errors,
)
from domain.feedback import model
from domain.feedback.model import FeedbackFilter, Rating
from domain.paging import LARGEST_LIMIT, Page


class CitedPassage(Answer):
    index: int = Field(description="Its number in the answer.", examples=[1])
    chunkId: str
    fileName: str = Field(examples=["manual.pdf"])
    page: int | None = Field(examples=[3])
    quote: str = Field(description="A stretch of the passage.", examples=["The pump starts at 2 bar."])
    place: str = Field(description="Where it stands; empty where that is not known.", examples=["page 3"])


class Voter(Answer):
    externalId: str = Field(examples=["U0123456789"])
    displayName: str = Field(examples=["Ada"])


class FeedbackRecord(Answer):
    id: int = Field(examples=[7])
    instanceId: int
    channelName: str = Field(examples=["Support"])
    sessionId: str = Field(examples=["C0123456789"])
    messageId: str = Field(description="The answer.", examples=["out-12"])
    rating: Literal["up", "down"] = Field(examples=["down"])
    sender: Voter
    at: Timestamp
    question: str = Field(examples=["How do I start the pump?"])
    answer: str = Field(examples=["Press the red button."])
    resource: str | None = Field(description="Which one made the answer.", examples=["agent::support_0"])
    route: str | None = Field(
        description="Why that one was asked; null for the instance's own.", examples=["route 2, language de"]
    )
    citations: list[CitedPassage] = Field(description="The passages that the answer stands on.")


class FeedbackList(Answer):
    feedback: list[FeedbackRecord] = attribute(
        "items", description="A page may hold fewer than the limit, even none, while others follow."
    )
    next: Next


router = APIRouter(route_class=JsonRoute, tags=["conversations"])


async def _wanted(
    rating: Annotated[
        Literal["up", "down"] | None,
        EmptyIsNone,
        Query(description="Only these votes.", examples=["down"]),
    ] = None,
) -> FeedbackFilter:
    return FeedbackFilter(Rating(rating) if rating else None)


Wanted = Annotated[FeedbackFilter, Depends(_wanted)]


@router.get(
    "/api/agent/feedback",
    response_model=FeedbackList,
    responses=errors(400, 403, 404),
    summary="What people think of answers, the latest vote first",
)
async def list_all_feedback(
    call: Call,
    wanted: Wanted,
    page: CursorPage,
    instances: OnlyInstances = [],  # noqa: B006 - not changed
) -> Page[model.Feedback, str]:
    """Votes on the answers of all of the caller's instances, an admin's: of everybody's, or of those that are named.
    Each person has one vote on an answer, the latest."""
    selected = replace(wanted, instance_ids=tuple(instances))
    return await call.services.feedback.list(call.caller, selected, page.limit, page.cursor)


@router.get(
    BASE + "/{instanceId}/feedback",
    response_model=FeedbackList,
    responses=errors(400, 403, 404),
    summary="What people think of the answers of an instance",
)
async def list_feedback(
    call: Call, instance: InstanceId, wanted: Wanted, page: CursorPage
) -> Page[model.Feedback, str]:
    """The latest vote first, with the question, the answer, and the passages that it stands on."""
    selected = replace(wanted, instance_ids=(instance,))
    return await call.services.feedback.list(call.caller, selected, page.limit, page.cursor)


COLUMNS = (
    "id",
    "instanceId",
    "channelName",
    "sessionId",
    "messageId",
    "rating",
    "senderId",
    "senderName",
    "at",
    "question",
    "answer",
    "resource",
    "route",
    "citations",
)
MOST_EXPORTED = 50
"""Pages of an export: 10,000 votes."""


@router.get(
    "/api/agent/feedback/export",
    response_class=StreamingResponse,
    responses=file_responses("The votes, the latest first, at most 10,000.", 400, 403, 404),
    summary="Export feedback",
)
async def export_feedback(
    call: Call,
    wanted: Wanted,
    instances: OnlyInstances = [],  # noqa: B006 - not changed
    format: Annotated[
        Format, Query(description="CSV, or one JSON object on each line.", examples=["csv"])
    ] = "csv",
) -> StreamingResponse:
    """The votes of the list as a file. In CSV a text that a spreadsheet would take for a formula begins with '."""
    selected = replace(wanted, instance_ids=tuple(instances))

    async def page_of(cursor: str | None) -> Page[model.Feedback, str]:
        return await call.services.feedback.list(call.caller, selected, LARGEST_LIMIT, cursor)

    return await exported("feedback", format, COLUMNS, page_of, _cells, _line, MOST_EXPORTED)


def _line(vote: model.Feedback) -> str:
    return FeedbackRecord.model_validate(vote).model_dump_json()


def _cells(vote: model.Feedback) -> dict[str, Any]:
    record = FeedbackRecord.model_validate(vote).model_dump()
    sender, citations = record.pop("sender"), record.pop("citations")
    record |= {"senderId": sender["externalId"], "senderName": sender["displayName"]}
    return {**record, "citations": json.dumps(citations, ensure_ascii=False) if citations else ""}
