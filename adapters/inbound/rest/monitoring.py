"""What operators look at over REST: dead letters, the health of all instances, figures, the doctor's findings."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from adapters.inbound.rest.bodies import Answer, Body, Id, Text, Timestamp, attribute
from adapters.inbound.rest.conversations import Next
from adapters.inbound.rest.instances import InstanceHealth
from adapters.inbound.rest.messages import ConversationMessage
from adapters.inbound.rest.routing import (
    LARGEST_ID,
    Call,
    CursorPage,
    EmptyIsFalse,
    EmptyIsNone,
    InstanceId,
    JsonRoute,
    MessageId,
    errors,
)
from domain.conversations.model import Direction
from domain.monitoring import model
from domain.monitoring.model import DeadLetterId, DeadLetterView, Figures, ItemResult, Period
from domain.paging import LARGEST_LIMIT, Page


class InstanceName(Answer):
    id: int
    userId: str = Field(examples=["ann"])
    channelId: str = Field(examples=["http-webhook"])
    channelName: str = Field(examples=["Support"])


class DeadLetter(Answer):
    instance: InstanceName
    message: ConversationMessage = Field(description="error says why it was given up.")


class DeadLetterList(Answer):
    deadLetters: list[DeadLetter] = attribute("items")
    next: Next


class DeadPart(Answer):
    deliveryId: int = Field(examples=[7])
    attempts: int = Field(examples=[8])
    error: str | None = Field(examples=["HTTP 503"])
    payload: str = Field(
        description="JSON, as it was handed to the channel.",
        examples=['{"text":"Your order 4711 is ready."}'],
    )


class DeadLetterAnswer(Answer):
    deadLetter: DeadLetter
    parts: list[DeadPart] = Field(description="Those that were given up; none of an inbound message.")


class DeadLetterName(Body):
    instanceId: Id
    messageId: Text = Field(max_length=30, examples=["out-7"])


class ChosenDeadLetters(Body):
    items: list[DeadLetterName] = Field(min_length=1, max_length=LARGEST_LIMIT)

    def ids(self) -> list[DeadLetterId]:
        return [DeadLetterId(item.instanceId, item.messageId) for item in self.items]


class DeadLetterResult(Answer):
    instanceId: int
    messageId: str = Field(examples=["out-7"])
    success: bool
    error: str | None = Field(description="Why it was refused.")


class DeadLetterResults(Answer):
    results: list[DeadLetterResult] = Field(description="In the order of the request.")


class Backlog(Answer):
    waitingSeconds: float = Field(
        description="Age of the oldest message that waits to be processed.", examples=[0.0]
    )
    pendingSeconds: float = Field(
        description="Age of the oldest message that waits to be sent.", examples=[0.0]
    )


class Cooldown(Answer):
    seconds: float = Field(description="For how long nothing is sent with the account.", examples=[0.0])
    conversations: int = Field(
        description="Conversations in which nothing is sent for a while.", examples=[0]
    )


class InstanceState(Answer):
    instance: InstanceName
    health: InstanceHealth
    backlog: Backlog
    cooldown: Cooldown = Field(description="What the platform asked for.")


class HealthList(Answer):
    instances: list[InstanceState] = attribute(
        "items",
        description="A page of the failing ones may hold fewer than the limit, even none, while others follow.",
    )
    next: Next


class Counts(Answer):
    received: int = Field(examples=[120])
    answered: int = Field(description="Answers that reached the platform.", examples=[118])
    failed: int = Field(description="Messages of both directions that were given up.", examples=[2])
    p50Seconds: float | None = attribute(
        "p50",
        description="From a message to its answer: half of the answers took at most so long.",
        examples=[1.4],
    )
    p95Seconds: float | None = attribute(
        "p95", description="95 % of the answers took at most so long.", examples=[6.2]
    )


class FigurePoint(Answer):
    at: Timestamp = Field(description="When the step begins.")
    counts: Counts


class FigureReport(Answer):
    period: Literal["hour", "day"]
    stepSeconds: int = Field(examples=[60])
    until: Timestamp = Field(description="What happened later is not counted yet.")
    total: Counts
    points: list[FigurePoint] = Field(description="All steps of the period, the oldest first.")


class Finding(Answer):
    grade: Literal["ok", "note", "fail"] = Field(description="note: it works without.", examples=["note"])
    subject: str = Field(examples=["AGENT_URL"])
    text: str = Field(examples=["is http://localhost:3011: set it to a public https address"])


class FindingList(Answer):
    findings: list[Finding]


DEAD_LETTERS = "/api/agent/dead-letters"
router = APIRouter(route_class=JsonRoute, tags=["monitoring"])


OfInstance = Annotated[
    int | None,
    Field(ge=1, le=LARGEST_ID),
    EmptyIsNone,
    Query(alias="instanceId", description="Only of this instance.", examples=[1]),
]


@router.get(
    DEAD_LETTERS,
    response_model=DeadLetterList,
    responses=errors(400, 403, 404),
    summary="Messages that were given up, of all instances",
)
async def list_dead_letters(
    call: Call,
    page: CursorPage,
    instance: OfInstance = None,
    direction: Annotated[
        Direction | None,
        EmptyIsNone,
        Query(description="Only messages of senders (in) or to them (out).", examples=["out"]),
    ] = None,
) -> Page[model.DeadLetter, str]:
    """The messages of both directions that were given up, with the reason, the latest first; an admin sees those of
    all users."""
    letters = call.services.monitoring.dead_letters
    return await letters.list(call.caller, instance, direction, page.limit, page.cursor)


@router.get(
    DEAD_LETTERS + "/{instanceId}/{messageId}",
    response_model=DeadLetterAnswer,
    responses=errors(403, 404),
    summary="One dead letter",
)
async def get_dead_letter(call: Call, instance: InstanceId, messageId: MessageId) -> DeadLetterView:
    """With the payload of each part that was given up. 404 for a message that is not given up."""
    return await call.services.monitoring.dead_letters.get(call.caller, DeadLetterId(instance, messageId))


@router.post(
    DEAD_LETTERS + "/replay",
    response_model=DeadLetterResults,
    responses=errors(400, 413),
    summary="Process or send dead letters again",
)
async def replay_dead_letters(call: Call, body: ChosenDeadLetters) -> Mapping[str, Sequence[ItemResult]]:
    """Has messages of senders processed again, with another request id, and sends the dead parts of the others again.
    The answer says for each whether it was done; one that is refused keeps no other from it."""
    return {"results": await call.services.monitoring.dead_letters.replay(call.caller, body.ids())}


@router.post(
    DEAD_LETTERS + "/drop",
    response_model=DeadLetterResults,
    responses=errors(400, 413),
    summary="Drop dead letters",
)
async def drop_dead_letters(call: Call, body: ChosenDeadLetters) -> Mapping[str, Sequence[ItemResult]]:
    """Gives messages up for good: they are listed no more, and cannot be replayed. A message of a sender stays in its
    conversation. The answer says for each whether it was done."""
    return {"results": await call.services.monitoring.dead_letters.drop(call.caller, body.ids())}


@router.get(
    "/api/agent/instance-health",
    response_model=HealthList,
    responses=errors(400),
    summary="The health of all instances",
)
async def list_health(
    call: Call,
    page: CursorPage,
    failing: Annotated[
        bool, EmptyIsFalse, Query(description="Only instances that are not healthy.", examples=[True])
    ] = False,
) -> Page[model.InstanceState, str]:
    """The health of the caller's instances with what to mend, what waits, and the limits of platforms that hold it
    up; ordered by id. An admin sees the instances of all users."""
    return await call.services.monitoring.health.list(call.caller, page.limit, page.cursor, failing=failing)


@router.get(
    "/api/agent/figures",
    response_model=FigureReport,
    responses=errors(400, 403, 404),
    summary="Messages received, answered and given up",
)
async def get_figures(
    call: Call,
    instance: OfInstance = None,
    period: Annotated[
        Period,
        Query(description="The last hour by minutes, or the last day by half hours.", examples=["hour"]),
    ] = Period.HOUR,
) -> Figures:
    """How many messages were received, answered and given up, and how long answers took, of the caller's instances or
    of one; for an admin of all. A step counts what happened in it: an answer counts when the platform took it."""
    return await call.services.monitoring.figures.figures(call.caller, period, instance)


@router.get(
    "/api/agent/doctor",
    response_model=FindingList,
    responses=errors(403),
    summary="What the installation lacks",
)
async def list_findings(call: Call) -> Mapping[str, Sequence[model.Finding]]:
    """The findings of `switchboard doctor`, from inside the running service: what is well, what is missing and how to
    mend it. For admins."""
    return {"findings": await call.services.monitoring.doctor.findings(call.caller)}
