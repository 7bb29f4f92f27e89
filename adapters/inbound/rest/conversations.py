"""Conversations over REST."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request

from adapters.inbound.rest import conversation_schemas as schemas
from adapters.inbound.rest.instances import BASE, require_ownership
from adapters.inbound.rest.routing import (
    CURSOR_PARAMETERS,
    INSTANCES_PARAMETER,
    CurrentCaller,
    CursorPage,
    InstanceId,
    JsonRoute,
    Services,
    before_body,
    errors,
    named_instances,
    query_word,
)
from adapters.inbound.rest.schemas import Accepted
from domain.conversations.model import (
    ConversationFilter,
    ConversationView,
    Handler,
    Message,
    MessagesWanted,
)
from domain.paging import Page
from domain.refusals import Fault, Invalid

CONVERSATION = BASE + "/{instanceId}/conversations/{sessionId:path}"

router = APIRouter(route_class=JsonRoute, tags=["conversations"])


SEARCH_PARAMETERS: list[dict[str, Any]] = [
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
    {
        "name": "handler",
        "in": "query",
        "description": "Only those that a person or the resource has.",
        "schema": {"enum": list(Handler)},
    },
    *CURSOR_PARAMETERS,
]


def _filter(
    request: Request, instance_ids: Sequence[int], session_id: str | None = None
) -> ConversationFilter:
    """Raises `Invalid`."""
    handler = request.query_params.get("handler", "")
    if handler and handler not in list(Handler):
        raise Invalid.of([Fault("handler", "must be person or resource")])
    return ConversationFilter(
        request.query_params.get("query", ""),
        query_word(request, "waiting"),
        Handler(handler) if handler else None,
        tuple(instance_ids),
        session_id,
    )


@router.get(
    "/api/agent/conversations",
    response_model=schemas.ConversationList,
    responses=errors(400, 403, 404),
    summary="Conversations of all instances, the latest first",
    openapi_extra={"parameters": [INSTANCES_PARAMETER, *SEARCH_PARAMETERS]},
)
async def list_all_conversations(
    services: Services, caller: CurrentCaller, page: CursorPage, request: Request
) -> Page[ConversationView, str]:
    """The conversations of all of the caller's instances, an admin's: of everybody's, or of those that are named.
    Otherwise as the list of one instance."""
    wanted = _filter(request, named_instances(request))
    return await services.conversations.list(caller, wanted, page.limit, page.cursor)


@router.get(
    BASE + "/{instanceId}/conversations",
    response_model=schemas.ConversationList,
    responses=errors(400, 403, 404),
    summary="Conversations, the latest first",
    openapi_extra={
        "parameters": [
            {
                "name": "sessionId",
                "in": "query",
                "description": "That conversation alone.",
                "schema": {"type": "string"},
            },
            *SEARCH_PARAMETERS,
        ]
    },
)
async def list_conversations(
    services: Services, caller: CurrentCaller, instance: InstanceId, page: CursorPage, request: Request
) -> Page[ConversationView, str]:
    """The conversations of an instance with their latest message, and who has them. A search looks at some
    conversations for each page: a page may be short, even empty, while `next` leads on."""
    wanted = _filter(request, [instance], request.query_params.get("sessionId"))
    return await services.conversations.list(caller, wanted, page.limit, page.cursor)


@router.get(
    CONVERSATION + "/messages",
    response_model=schemas.MessageList,
    responses=errors(400, 403, 404),
    summary="The messages of a conversation",
    openapi_extra={
        "parameters": [
            *CURSOR_PARAMETERS,
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
    page: CursorPage,
    request: Request,
) -> Page[Message, str]:
    """What a person would see in the chat, in that order, with the state of each message. Files that we hold a copy
    of have a signed address that expires."""
    latest_first = bool(query_word(request, "latestFirst"))
    wanted = MessagesWanted(page.limit, page.cursor, latest_first)
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
            *CURSOR_PARAMETERS,
        ]
    },
)
async def failed_messages(
    services: Services, caller: CurrentCaller, instance: InstanceId, page: CursorPage, request: Request
) -> Page[Message, str]:
    """The messages of both directions that were given up, the latest first, with the reason: messages of senders that
    could not be processed, and messages that the platform did not take."""
    if request.query_params.get("status") != "failed":
        raise Invalid.of([Fault("status", "must be failed")])
    return await services.conversations.failed(caller, instance, page.limit, page.cursor)


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
