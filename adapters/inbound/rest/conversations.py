"""Conversations over REST."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from adapters.inbound.rest import conversation_schemas as schemas
from adapters.inbound.rest.instances import BASE, require_ownership
from adapters.inbound.rest.routing import (
    CurrentCaller,
    InstanceId,
    JsonRoute,
    Services,
    before_body,
    errors,
)
from adapters.inbound.rest.schemas import Accepted
from domain.conversations.model import (
    ConversationFilter,
    ConversationPage,
    Handler,
    MessagePage,
    MessagesWanted,
)
from domain.conversations.paging import DEFAULT_LIMIT, MOST
from domain.refusals import Fault, Invalid

CONVERSATION = BASE + "/{instanceId}/conversations/{sessionId:path}"
WORDS = {"true": True, "false": False, "": None}
LIMIT = {
    "name": "limit",
    "in": "query",
    "description": f"How many, 1 to {MOST}.",
    "example": DEFAULT_LIMIT,
    "schema": {"type": "integer", "default": DEFAULT_LIMIT, "minimum": 1, "maximum": MOST},
}
CURSOR = {
    "name": "cursor",
    "in": "query",
    "description": "The value of next in the answer before.",
    "schema": {"type": "string"},
}

router = APIRouter(route_class=JsonRoute, tags=["conversations"])


async def _limit(request: Request) -> int:
    """Raises `Invalid`."""
    text = request.query_params.get("limit", str(DEFAULT_LIMIT))
    if not (text.isascii() and text.isdigit() and len(text) < 20 and 1 <= int(text) <= MOST):
        raise Invalid.of([Fault("limit", f"must be a whole number from 1 to {MOST}")])
    return int(text)


def _word(request: Request, name: str) -> bool | None:
    """A condition of the query. Raises `Invalid`."""
    text = request.query_params.get(name, "")
    if text not in WORDS:
        raise Invalid.of([Fault(name, "must be true or false")])
    return WORDS[text]


Limit = Annotated[int, Depends(_limit)]


@router.get(
    BASE + "/{instanceId}/conversations",
    response_model=schemas.ConversationList,
    responses=errors(400, 403, 404),
    summary="Conversations, the latest first",
    openapi_extra={
        "parameters": [
            {
                "name": "query",
                "in": "query",
                "description": "Looked for in the name and id of the sender and in the texts.",
                "schema": {"type": "string", "maxLength": 200},
            },
            {
                "name": "waiting",
                "in": "query",
                "description": "Only those with (true) or without (false) messages that have no answer yet.",
                "schema": {"type": "boolean"},
            },
            LIMIT,
            CURSOR,
        ]
    },
)
async def list_conversations(
    services: Services, caller: CurrentCaller, instance: InstanceId, limit: Limit, request: Request
) -> ConversationPage:
    """The conversations of an instance with their latest message, and who has them. A search looks at some
    conversations for each page: a page may be short, even empty, while `next` leads on."""
    wanted = ConversationFilter(request.query_params.get("query", ""), _word(request, "waiting"))
    cursor = request.query_params.get("cursor")
    return await services.conversations.list(caller, instance, wanted, limit, cursor)


@router.get(
    CONVERSATION + "/messages",
    response_model=schemas.MessageList,
    responses=errors(400, 403, 404),
    summary="The messages of a conversation",
    openapi_extra={
        "parameters": [
            LIMIT,
            CURSOR,
            {
                "name": "latestFirst",
                "in": "query",
                "description": "From the end of the chat to its beginning.",
                "schema": {"type": "boolean", "default": False},
            },
        ]
    },
)
async def list_messages(
    services: Services,
    caller: CurrentCaller,
    instance: InstanceId,
    sessionId: str,
    limit: Limit,
    request: Request,
) -> MessagePage:
    """What a person would see in the chat, in that order, with the state of each message. Files that we hold a copy
    of have a signed address that expires."""
    latest_first = bool(_word(request, "latestFirst"))
    wanted = MessagesWanted(limit, request.query_params.get("cursor"), latest_first)
    return await services.conversations.messages(caller, instance, sessionId, wanted)


@router.put(
    CONVERSATION + "/handler",
    status_code=204,
    responses=errors(400, 403, 404),
    summary="Hand a conversation over",
)
@before_body(require_ownership)
async def set_handler(
    services: Services,
    caller: CurrentCaller,
    instance: InstanceId,
    sessionId: str,
    body: schemas.SetHandler,
) -> None:
    """Gives a conversation to a person, or back to the resource. While a person has it, messages are stored and not
    given to the resource; each message of theirs begins the time anew. When it is over, the resource gets what nobody
    has answered. A message that the resource is working on is finished."""
    handler = Handler(body.handler)
    await services.conversations.set_handler(caller, instance, sessionId, handler, body.minutes)


@router.delete(
    CONVERSATION,
    status_code=204,
    responses=errors(403, 404),
    summary="Erase a conversation",
)
async def erase_conversation(
    services: Services, caller: CurrentCaller, instance: InstanceId, sessionId: str
) -> None:
    """Erases the texts and files of a conversation and all that is on record of it, at once and for good: messages
    in all states, notices, questions about tools, dead letters, events. What has not been sent is not sent."""
    await services.conversations.erase(caller, instance, sessionId)


@router.get(
    BASE + "/{instanceId}/messages",
    response_model=schemas.MessageList,
    responses=errors(400, 403, 404),
    summary="Messages that were given up",
    openapi_extra={
        "parameters": [
            {
                "name": "status",
                "in": "query",
                "description": "What was given up.",
                "required": True,
                "example": "failed",
                "schema": {"enum": ["failed"]},
            },
            LIMIT,
            CURSOR,
        ]
    },
)
async def failed_messages(
    services: Services, caller: CurrentCaller, instance: InstanceId, limit: Limit, request: Request
) -> MessagePage:
    """The messages of both directions that were given up, the latest first, with the reason: messages of senders that
    could not be processed, and messages that the platform did not take."""
    if request.query_params.get("status") != "failed":
        raise Invalid.of([Fault("status", "must be failed")])
    return await services.conversations.failed(caller, instance, limit, request.query_params.get("cursor"))


@router.post(
    BASE + "/{instanceId}/messages/{messageId}/rerun",
    status_code=202,
    response_model=Accepted,
    responses=errors(403, 404, 409),
    summary="Run a message again",
)
async def rerun_message(
    services: Services, caller: CurrentCaller, instance: InstanceId, messageId: str
) -> Accepted:
    """Has a message processed again that was given up, with another request id, or sends its dead parts again. 409
    for one that was not given up. An apology that was sent for it stays."""
    await services.conversations.rerun(caller, instance, messageId)
    return Accepted(message="The message is run again")
