"""Subscriptions to events over REST."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from adapters.inbound.rest import subscription_schemas as schemas
from adapters.inbound.rest.routing import (
    CURSOR_PARAMETERS,
    CurrentCaller,
    CursorPage,
    JsonRoute,
    Services,
    errors,
    path_id,
)
from adapters.inbound.rest.schemas import Accepted
from domain.paging import Page
from domain.subscriptions.model import (
    Push,
    PushTest,
    Subscription,
    SubscriptionView,
)

BASE = "/api/agent/event-subscriptions"
ONE = BASE + "/{subscriptionId}"
CREATE = (
    "Pushes events to an address from now on, each as a POST of its JSON, signed by Standard Webhooks with `secret`"
    " (webhook-id, webhook-timestamp, webhook-signature). Without `secret` one is made; it is shown in this answer"
    " alone. A push that is not answered with 2xx is sent again as replies are; after five days without success the"
    " subscription is switched off, and at once by 410."
)

router = APIRouter(route_class=JsonRoute, tags=["events"])


async def _subscription_id(subscriptionId: str) -> int:
    return path_id(subscriptionId, "there is no subscription {}")


async def _push_id(pushId: str) -> int:
    return path_id(pushId, "there is no push {}")


SubscriptionId = Annotated[int, Depends(_subscription_id)]
PushId = Annotated[int, Depends(_push_id)]


@router.post(
    BASE,
    status_code=201,
    response_model=schemas.SubscriptionAnswer,
    responses=errors(400, 403, 404, 409, 413),
    summary="Subscribe to events",
    description=CREATE,
)
async def create(
    services: Services, caller: CurrentCaller, body: schemas.CreateSubscription
) -> SubscriptionView:
    return await services.subscriptions.create(caller, body.fields(body.url))


@router.get(
    BASE,
    response_model=schemas.SubscriptionList,
    responses=errors(400),
    summary="The caller's subscriptions",
    openapi_extra={"parameters": CURSOR_PARAMETERS},
)
async def list_subscriptions(
    services: Services, caller: CurrentCaller, page: CursorPage
) -> Page[Subscription, int]:
    """Ordered by id; an admin sees those of all users."""
    return await services.subscriptions.list(caller, page.number, page.limit)


@router.get(
    ONE, response_model=schemas.SubscriptionAnswer, responses=errors(403, 404), summary="One subscription"
)
async def get(services: Services, caller: CurrentCaller, subscription: SubscriptionId) -> SubscriptionView:
    """With its health."""
    return await services.subscriptions.get(caller, subscription)


@router.put(
    ONE,
    response_model=schemas.SubscriptionAnswer,
    responses=errors(400, 403, 404, 413),
    summary="Change a subscription, and switch it on or off",
)
async def change(
    services: Services, caller: CurrentCaller, subscription: SubscriptionId, body: schemas.ChangeSubscription
) -> SubscriptionView:
    """Changes the fields that are given. One that was switched off gets the events from now on; with the status off,
    one that was on gets no more."""
    fields = replace(body.fields(body.url), status=body.status)
    return await services.subscriptions.change(caller, subscription, fields)


@router.delete(ONE, status_code=204, responses=errors(403, 404), summary="Delete a subscription")
async def remove(services: Services, caller: CurrentCaller, subscription: SubscriptionId) -> None:
    """Deletes it with all that is on its way."""
    await services.subscriptions.remove(caller, subscription)


@router.post(
    ONE + "/test",
    response_model=schemas.PushTestAnswer,
    responses=errors(403, 404),
    summary="Push a trial event",
)
async def test(services: Services, caller: CurrentCaller, subscription: SubscriptionId) -> PushTest:
    """Pushes an event of the kind `test` at once, and tells how the address answered."""
    return await services.subscriptions.test(caller, subscription)


@router.get(
    ONE + "/deliveries",
    response_model=schemas.PushList,
    responses=errors(400, 403, 404),
    summary="What was pushed",
    openapi_extra={
        "parameters": [
            {"name": "status", "in": "query", "schema": {"enum": ["pending", "sent", "dead"]}},
            *CURSOR_PARAMETERS,
        ]
    },
)
async def deliveries(
    services: Services,
    caller: CurrentCaller,
    subscription: SubscriptionId,
    page: CursorPage,
    request: Request,
) -> Page[Push, int]:
    """The newest first."""
    status = request.query_params.get("status") or None
    return await services.pushes.pushes(caller, subscription, status, page.number, page.limit)


@router.post(
    ONE + "/deliveries/{pushId}/replay",
    status_code=202,
    response_model=Accepted,
    responses=errors(403, 404, 409),
    summary="Push an event again",
)
async def replay(
    services: Services, caller: CurrentCaller, subscription: SubscriptionId, push: PushId
) -> Accepted:
    """Pushes an event again that was given up. 409 for one that was taken or is on its way."""
    await services.pushes.replay(caller, subscription, push)
    return Accepted(message="The event is pushed again")
