"""The bodies of the routes of what operators look at."""

from typing import Literal

from pydantic import Field

from adapters.inbound.rest.bodies import Answer, Body, Id, Text, Timestamp, attribute
from adapters.inbound.rest.conversation_schemas import Next
from adapters.inbound.rest.message_schemas import ConversationMessage
from adapters.inbound.rest.schemas import InstanceHealth
from domain.monitoring.model import DeadLetterId
from domain.paging import LARGEST_LIMIT


class InstanceName(Answer):
    id: int
    userId: str
    channelId: str
    channelName: str


class DeadLetter(Answer):
    instance: InstanceName
    message: ConversationMessage = Field(description="error says why it was given up.")


class DeadLetterList(Answer):
    deadLetters: list[DeadLetter] = attribute("items")
    next: Next


class DeadPart(Answer):
    deliveryId: int
    attempts: int
    error: str | None
    payload: str = Field(description="JSON, as it was handed to the channel.")


class DeadLetterAnswer(Answer):
    deadLetter: DeadLetter
    parts: list[DeadPart] = Field(description="Those that were given up; none of an inbound message.")


class DeadLetterName(Body):
    instanceId: Id
    messageId: Text = Field(max_length=30)


class ChosenDeadLetters(Body):
    items: list[DeadLetterName] = Field(min_length=1, max_length=LARGEST_LIMIT)

    def ids(self) -> list[DeadLetterId]:
        return [DeadLetterId(item.instanceId, item.messageId) for item in self.items]


class DeadLetterResult(Answer):
    instanceId: int
    messageId: str
    success: bool
    error: str | None = Field(description="Why it was refused.")


class DeadLetterResults(Answer):
    results: list[DeadLetterResult] = Field(description="In the order of the request.")


class Backlog(Answer):
    waitingSeconds: float = Field(description="Age of the oldest message that waits to be processed.")
    pendingSeconds: float = Field(description="Age of the oldest message that waits to be sent.")


class Cooldown(Answer):
    seconds: float = Field(description="For how long nothing is sent with the account.")
    conversations: int = Field(description="Conversations in which nothing is sent for a while.")


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
    received: int
    answered: int = Field(description="Answers that reached the platform.")
    failed: int = Field(description="Messages of both directions that were given up.")
    p50Seconds: float | None = attribute(
        "p50", description="From a message to its answer: half of the answers took at most so long."
    )
    p95Seconds: float | None = attribute("p95", description="95 % of the answers took at most so long.")


class FigurePoint(Answer):
    at: Timestamp = Field(description="When the step begins.")
    counts: Counts


class FigureReport(Answer):
    period: Literal["hour", "day"]
    stepSeconds: int
    until: Timestamp = Field(description="What happened later is not counted yet.")
    total: Counts
    points: list[FigurePoint] = Field(description="All steps of the period, the oldest first.")


class Finding(Answer):
    grade: Literal["ok", "note", "fail"] = Field(description="note: it works without.")
    subject: str
    text: str


class FindingList(Answer):
    findings: list[Finding]
