"""Subscriptions to events over REST."""

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BeforeValidator, Field

from adapters.inbound.rest import bodies
from adapters.inbound.rest.instances import ActivityHealth
from adapters.inbound.rest.routing import Call, CursorPage, DeliveryStatus, JsonRoute, errors, id_in_path
from domain import limits
from domain.paging import Page
from domain.subscriptions.model import Push, PushTest, Subscription, SubscriptionFields, SubscriptionView


class SubscriptionBody(bodies.Body):
    kinds: list[bodies.Text] | None = Field(
        None, description="Kinds of events; without it all.", max_length=50
    )
    instanceIds: list[bodies.Id] | None = Field(
        None, description="Instances of the caller; without it all.", max_length=100
    )
    secret: bodies.Text | None = Field(
        None, description="whsec_ and 24 to 64 bytes in base64.", max_length=200
    )

    def fields(self, url: str | None) -> SubscriptionFields:
        return SubscriptionFields(
            url,
            None if self.kinds is None else tuple(self.kinds),
            None if self.instanceIds is None else tuple(self.instanceIds),
            self.secret,
        )


class CreateSubscription(SubscriptionBody):
    url: bodies.Text = Field(
        description="The address that events are pushed to.",
        max_length=limits.ADDRESS,
        examples=["https://events.example.com/switchboard"],
    )


class ChangeSubscription(SubscriptionBody):
    url: bodies.Text | None = Field(None, max_length=limits.ADDRESS)
    status: Literal["active", "off"] | None = Field(
        None, description="off switches it off; else it is switched on."
    )


class EventSubscription(bodies.Answer):
    id: int = Field(examples=[12])
    url: str = Field(examples=["https://events.example.com/switchboard"])
    kinds: list[str] = Field(description="Empty: all.", examples=[["message.answered"]])
    instanceIds: list[int] = Field(description="Empty: all of the user; for an admin all.")
    userId: str = Field(examples=["ann"])
    status: Literal["active", "off"]
    reason: Annotated[str | None, BeforeValidator(lambda off: off or None)] = bodies.attribute(
        "off", description="Why it is off."
    )
    healthy: bool = bodies.attribute(
        "is_healthy",
        description="False while the last push failed, or nothing was taken for an hour although events wait.",
    )
    problem: Annotated[str | None, BeforeValidator(lambda problem: problem or None)] = Field(
        description="Why it is not healthy."
    )
    createdAt: bodies.Timestamp
    updatedAt: bodies.Timestamp


class SubscriptionAnswer(bodies.Done):
    subscription: EventSubscription
    health: ActivityHealth = bodies.attribute("sending")
    pending: int = Field(description="Pushes on their way.", examples=[0])
    dead: int = Field(description="Pushes that were given up.", examples=[0])
    secret: str | None = Field(None, description="Shown once.", exclude_if=bodies.is_none)


class SubscriptionList(bodies.Answer):
    subscriptions: list[EventSubscription] = bodies.attribute("items")
    next: int | None


class PushTestAnswer(bodies.Answer):
    success: bool
    error: Annotated[str | None, BeforeValidator(lambda error: error or None)] = Field(
        description="How the address answered, where it did not take the trial event."
    )


class PushRecord(bodies.Answer):
    id: int = Field(examples=[7])
    eventId: int = Field(examples=[42])
    status: Literal["pending", "sent", "dead"] = Field(examples=["sent"])
    attempts: int
    error: str | None
    createdAt: bodies.Timestamp
    nextAttemptAt: bodies.OptionalTimestamp
    kind: str = Field(description="Kind of the event; empty once the event is deleted.")
    answer: int | None = Field(description="HTTP status of the last try that was answered.")


class PushList(bodies.Answer):
    deliveries: list[PushRecord] = bodies.attribute("items")
    next: int | None


BASE = "/api/agent/event-subscriptions"
ONE = BASE + "/{subscriptionId}"
CREATE = (
    "Pushes events to an address from now on, each as a POST of its JSON, signed by Standard Webhooks with `secret`"
    " (webhook-id, webhook-timestamp, webhook-signature). Without `secret` one is made; it is shown in this answer"
    " alone. A push that is not answered with 2xx is sent again as replies are; after five days without success the"
    " subscription is switched off, and at once by 410."
)
router = APIRouter(route_class=JsonRoute, tags=["events"])


SubscriptionId = Annotated[int, id_in_path("subscriptionId", "Id of a subscription.", 12)]
PushId = Annotated[int, id_in_path("pushId", "Id of a push.", 7)]


@router.post(
    BASE,
    status_code=201,
    response_model=SubscriptionAnswer,
    responses=errors(400, 403, 404, 409, 413),
    summary="Subscribe to events",
    description=CREATE,
)
async def create(call: Call, body: CreateSubscription) -> SubscriptionView:
    return await call.services.subscriptions.create(call.caller, body.fields(body.url))


@router.get(
    BASE, response_model=SubscriptionList, responses=errors(400), summary="The caller's subscriptions"
)
async def list_subscriptions(call: Call, page: CursorPage) -> Page[Subscription, int]:
    """Ordered by id; an admin sees those of all users."""
    return await call.services.subscriptions.list(call.caller, page.number, page.limit)


@router.get(ONE, response_model=SubscriptionAnswer, responses=errors(403, 404), summary="One subscription")
async def get(call: Call, subscription: SubscriptionId) -> SubscriptionView:
    """With its health."""
    return await call.services.subscriptions.get(call.caller, subscription)


@router.put(
    ONE,
    response_model=SubscriptionAnswer,
    responses=errors(400, 403, 404, 413),
    summary="Change a subscription, and switch it on or off",
)
async def change(call: Call, subscription: SubscriptionId, body: ChangeSubscription) -> SubscriptionView:
    """Changes the fields that are given. One that was switched off gets the events from now on; with the status off,
    one that was on gets no more."""
    fields = replace(body.fields(body.url), status=body.status)
    return await call.services.subscriptions.change(call.caller, subscription, fields)


@router.delete(ONE, status_code=204, responses=errors(403, 404), summary="Delete a subscription")
async def remove(call: Call, subscription: SubscriptionId) -> None:
    """Deletes it with all that is on its way."""
    await call.services.subscriptions.remove(call.caller, subscription)


@router.post(
    ONE + "/test", response_model=PushTestAnswer, responses=errors(403, 404), summary="Push a trial event"
)
async def test(call: Call, subscription: SubscriptionId) -> PushTest:
    """Pushes an event of the kind `test` at once, and tells how the address answered."""
    return await call.services.subscriptions.test(call.caller, subscription)


@router.get(
    ONE + "/deliveries", response_model=PushList, responses=errors(400, 403, 404), summary="What was pushed"
)
async def deliveries(
    call: Call, subscription: SubscriptionId, page: CursorPage, status: DeliveryStatus = None
) -> Page[Push, int]:
    """The newest first."""
    return await call.services.pushes.pushes(call.caller, subscription, status, page.number, page.limit)


@router.post(
    ONE + "/deliveries/{pushId}/replay",
    status_code=202,
    response_model=bodies.Accepted,
    responses=errors(403, 404, 409),
    summary="Push an event again",
)
async def replay(call: Call, subscription: SubscriptionId, push: PushId) -> bodies.Accepted:
    """Pushes an event again that was given up. 409 for one that was taken or is on its way."""
    await call.services.pushes.replay(call.caller, subscription, push)
    return bodies.Accepted(message="The event is pushed again")
