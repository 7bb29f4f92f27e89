"""Messages of conversations over REST."""

from typing import Annotated

from fastapi import APIRouter, Header

from adapters.inbound.rest import message_schemas as schemas
from adapters.inbound.rest.instances import BASE, require_ownership
from adapters.inbound.rest.routing import (
    CurrentCaller,
    InstanceId,
    JsonRoute,
    Services,
    before_body,
    errors,
)
from domain.conversations.model import Message, QueuedSend, Timeline

IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="1 to 200 printable ASCII characters without blanks."),
]

router = APIRouter(route_class=JsonRoute, tags=["messages"])


@router.post(
    BASE + "/{instanceId}/messages",
    status_code=202,
    response_model=schemas.MessageQueued,
    responses=errors(400, 403, 404, 409, 413),
    summary="Send a message",
)
@before_body(require_ownership)
async def send_message(
    services: Services,
    caller: CurrentCaller,
    instance: InstanceId,
    body: schemas.SendMessage,
    key: IdempotencyKey = None,
) -> QueuedSend:
    """Sends a message that answers none: to a known conversation (`sessionId`), to the platform's own address (`to`),
    or to the instance's default address. It is delivered as answers are. The same `Idempotency-Key` within 24 hours
    gives the same answer and sends nothing; 409 with another body. 409 too where the platform takes only templates
    now: WhatsApp, 24 hours after the person last wrote."""
    return await services.messages.send(caller, instance, body.message(), key)


@router.get(
    BASE + "/{instanceId}/messages/{messageId}",
    response_model=schemas.ConversationMessage,
    responses=errors(403, 404),
    summary="One message",
)
async def get_message(
    services: Services, caller: CurrentCaller, instance: InstanceId, messageId: str
) -> Message:
    """A message of either direction: what it says, where it is, and why it failed or was given up."""
    return await services.messages.message(caller, instance, messageId)


@router.get(
    BASE + "/{instanceId}/messages/{messageId}/timeline",
    response_model=schemas.MessageTimeline,
    responses=errors(403, 404),
    summary="What happened to a message",
)
async def get_timeline(
    services: Services, caller: CurrentCaller, instance: InstanceId, messageId: str
) -> Timeline:
    """The steps of a message in their order, with times, tries and reasons. The answer to a message is one of its
    own, with the same request id."""
    [timeline] = await services.messages.timelines(caller, instance, [messageId])
    return timeline
