"""The bodies of the routes of subscriptions."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from adapters.inbound.rest.bodies import (
    Answer,
    Body,
    Done,
    Id,
    OptionalTimestamp,
    Text,
    Timestamp,
    attribute,
    is_none,
)
from adapters.inbound.rest.schemas import ActivityHealth
from domain import limits
from domain.subscriptions.model import SubscriptionFields


class SubscriptionBody(Body):
    kinds: list[Text] | None = Field(None, description="Kinds of events; without it all.", max_length=50)
    instanceIds: list[Id] | None = Field(
        None, description="Instances of the caller; without it all.", max_length=100
    )
    secret: Text | None = Field(None, description="whsec_ and 24 to 64 bytes in base64.", max_length=200)

    def fields(self, url: str | None) -> SubscriptionFields:
        return SubscriptionFields(
            url,
            None if self.kinds is None else tuple(self.kinds),
            None if self.instanceIds is None else tuple(self.instanceIds),
            self.secret,
        )


class CreateSubscription(SubscriptionBody):
    url: Text = Field(description="The address that events are pushed to.", max_length=limits.ADDRESS)


class ChangeSubscription(SubscriptionBody):
    url: Text | None = Field(None, max_length=limits.ADDRESS)
    status: Literal["active", "off"] | None = Field(
        None, description="off switches it off; else it is switched on."
    )


class EventSubscription(Answer):
    id: int
    url: str
    kinds: list[str] = Field(description="Empty: all.")
    instanceIds: list[int] = Field(description="Empty: all of the user; for an admin all.")
    userId: str
    status: Literal["active", "off"]
    reason: Annotated[str | None, BeforeValidator(lambda off: off or None)] = attribute(
        "off", description="Why it is off."
    )
    healthy: bool = attribute(
        "is_healthy",
        description="False while the last push failed, or nothing was taken for an hour although events wait.",
    )
    problem: Annotated[str | None, BeforeValidator(lambda problem: problem or None)] = Field(
        description="Why it is not healthy."
    )
    createdAt: Timestamp
    updatedAt: Timestamp


class SubscriptionAnswer(Done):
    subscription: EventSubscription
    health: ActivityHealth = attribute("sending")
    pending: int = Field(description="Pushes on their way.")
    dead: int = Field(description="Pushes that were given up.")
    secret: str | None = Field(None, description="Shown once.", exclude_if=is_none)


class SubscriptionList(Answer):
    subscriptions: list[EventSubscription] = attribute("items")
    next: int | None


class PushTestAnswer(Answer):
    success: bool
    error: Annotated[str | None, BeforeValidator(lambda error: error or None)] = Field(
        description="How the address answered, where it did not take the trial event."
    )


class PushRecord(Answer):
    id: int
    eventId: int
    status: Literal["pending", "sent", "dead"]
    attempts: int
    error: str | None
    createdAt: Timestamp
    nextAttemptAt: OptionalTimestamp
    kind: str = Field(description="Kind of the event; empty once the event is deleted.")
    answer: int | None = Field(description="HTTP status of the last try that was answered.")


class PushList(Answer):
    deliveries: list[PushRecord] = attribute("items")
    next: int | None
