"""Conversations over REST."""

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query
from pydantic import Field

from adapters.inbound.rest import bodies
from adapters.inbound.rest.instances import BASE
from adapters.inbound.rest.messages import ConversationMessage
from adapters.inbound.rest.routing import (
    Call,
    CursorPage,
    EmptyIsFalse,
    EmptyIsNone,
    InstanceId,
    JsonRoute,
    MessageId,
    OnlyInstances,
    ResponderRoute,
    errors,
)
from domain import limits
from domain.conversations.history import HANDLER_MINUTES, MOST_MINUTES
from domain.conversations.model import ConversationFilter, ConversationView, Handler, Message, MessagesWanted
from domain.paging import Page

Next = Annotated[str | None, Field(description="The cursor of the next page; null on the last one.")]


class ConversationSender(bodies.Answer):
    externalId: str = Field(
        description="The platform's id; empty where nobody has written yet.", examples=["U0123456789"]
    )
    displayName: str = Field(examples=["Ada"])
    userId: str | None = Field(
        description="The platform user, where the instance identifies its senders.", examples=["ann"]
    )


class Conversation(bodies.Answer):
    instanceId: int
    channelId: str = Field(examples=["http-webhook"])
    channelName: str = Field(examples=["Support"])
    sessionId: str = Field(examples=["C0123456789"])
    sender: ConversationSender = Field(description="Who wrote last.")
    lastText: str = Field(description="The beginning of the latest message.", examples=["The pump runs dry."])
    lastAt: bodies.Timestamp
    messages: int = Field(description="Counted up to 1000.", examples=[12])
    waiting: bool = Field(description="Whether messages of the sender have no answer yet.")
    handler: Literal["resource", "person"] = Field(examples=["person"])
    handlerUntil: bodies.OptionalTimestamp = bodies.attribute(
        "held_until", description="Until when a person has the conversation; null where the resource has it."
    )
    handledBy: str | None = bodies.attribute(
        "held_by",
        description="The user who took it over; null where the resource has it, or asked for a person.",
        examples=["ann"],
    )
    pendingConfirmation: bool = Field(
        description="Whether a question about a tool is open.", examples=[False]
    )
    assignee: str | None = Field(
        description="Who is responsible for it: `user:ID` or `team:ID`; null for nobody.",
        examples=["team:support"],
    )
    labels: list[str] = Field(examples=[["sale"]])
    state: Literal["open", "closed"] = Field(description="A closed one is open again once the person writes.")


class ConversationList(bodies.Answer):
    conversations: list[Conversation] = bodies.attribute(
        "items",
        description="A page of a search may hold fewer than the limit, even none, while others follow.",
    )
    next: Next


class MessageList(bodies.Answer):
    messages: list[ConversationMessage] = bodies.attribute("items")
    next: Next


class SetHandler(bodies.Body):
    handler: Literal["person", "resource"]
    minutes: bodies.WholeNumber | None = Field(
        None,
        ge=1,
        le=MOST_MINUTES,
        description=f"How long a person has the conversation after each message of theirs; {HANDLER_MINUTES}"
        " where it is not given.",
        examples=[60],
    )


CONVERSATION = BASE + "/{instanceId}/conversations/{sessionId:path}"

router = APIRouter(route_class=JsonRoute, tags=["conversations"])
owned = APIRouter(route_class=ResponderRoute)

SessionId = Annotated[
    str,
    Path(alias="sessionId", description="Id of a conversation, as its messages have it.", examples=["4711"]),
]


async def _search(
    query: Annotated[
        str,
        Query(
            max_length=limits.CONVERSATION_QUERY,
            description="Looked for in the name and id of the sender and in the texts.",
            examples=["pump"],
        ),
    ] = "",
    waiting: Annotated[
        bool | None,
        EmptyIsNone,
        Query(
            description="Only those with (true) or without (false) messages that have no answer yet.",
            examples=[True],
        ),
    ] = None,
    handler: Annotated[
        Literal["resource", "person"] | None,
        EmptyIsNone,
        Query(description="Only those that a person or the resource has.", examples=["person"]),
    ] = None,
    assignee: Annotated[
        str | None,
        EmptyIsNone,
        Query(
            max_length=limits.ASSIGNEE,
            description="Only those of this user or team.",
            examples=["team:support"],
        ),
    ] = None,
    label: Annotated[
        str | None,
        EmptyIsNone,
        Query(max_length=limits.LABEL, description="Only those with this label.", examples=["sale"]),
    ] = None,
    state: Annotated[
        Literal["open", "closed"] | None,
        EmptyIsNone,
        Query(description="Only those that are open, or closed.", examples=["open"]),
    ] = None,
) -> ConversationFilter:
    is_closed = None if state is None else state == "closed"
    return ConversationFilter(
        query,
        waiting,
        Handler(handler) if handler else None,
        assignee=assignee,
        label=label,
        is_closed=is_closed,
    )


Search = Annotated[ConversationFilter, Depends(_search)]


@router.get(
    "/api/agent/conversations",
    response_model=ConversationList,
    responses=errors(400, 403, 404),
    summary="Conversations of all instances, the latest first",
)
async def list_all_conversations(
    call: Call,
    search: Search,
    page: CursorPage,
    instances: OnlyInstances = [],  # noqa: B006 - not changed
) -> Page[ConversationView, str]:
    """The conversations of all of the caller's instances, an admin's: of everybody's, or of those that are named.
    Otherwise as the list of one instance."""
    search = replace(search, instance_ids=tuple(instances))
    return await call.services.conversations.list(call.caller, search, page.limit, page.cursor)


@router.get(
    BASE + "/{instanceId}/conversations",
    response_model=ConversationList,
    responses=errors(400, 403, 404),
    summary="Conversations, the latest first",
)
async def list_conversations(
    call: Call,
    instance: InstanceId,
    search: Search,
    page: CursorPage,
    session: Annotated[
        str | None, Query(alias="sessionId", description="That conversation alone.", examples=["4711"])
    ] = None,
) -> Page[ConversationView, str]:
    """The conversations of an instance with their latest message, and who has them. A search looks at some
    conversations for each page: a page may be short, even empty, while `next` leads on."""
    search = replace(search, instance_ids=(instance,), session_id=session)
    return await call.services.conversations.list(call.caller, search, page.limit, page.cursor)


@router.get(
    CONVERSATION + "/messages",
    response_model=MessageList,
    responses=errors(400, 403, 404),
    summary="The messages of a conversation",
)
async def list_messages(
    call: Call,
    instance: InstanceId,
    session: SessionId,
    page: CursorPage,
    latest_first: Annotated[
        bool,
        EmptyIsFalse,
        Query(
            alias="latestFirst", description="From the end of the chat to its beginning.", examples=[False]
        ),
    ] = False,
) -> Page[Message, str]:
    """What a person would see in the chat, in that order, with the state of each message. Files that we hold a copy
    of have a signed address that expires."""
    window = MessagesWanted(page.limit, page.cursor, latest_first)
    return await call.services.conversations.messages(call.caller, instance, session, window)


@owned.put(
    CONVERSATION + "/handler",
    status_code=204,
    responses=errors(400, 403, 404),
    summary="Hand a conversation over",
)
async def set_handler(call: Call, instance: InstanceId, session: SessionId, body: SetHandler) -> None:
    """Gives a conversation to a person, or back to the resource. While a person has it, messages are stored and not
    given to the resource; each message of theirs begins the time anew. When it is over, the resource gets what nobody
    has answered. A message that the resource is working on is finished."""
    handler = Handler(body.handler)
    await call.services.conversations.set_handler(call.caller, instance, session, handler, body.minutes)


@router.delete(CONVERSATION, status_code=204, responses=errors(403, 404), summary="Erase a conversation")
async def erase_conversation(call: Call, instance: InstanceId, session: SessionId) -> None:
    """Erases the texts and files of a conversation and all that is on record of it, at once and for good: messages
    in all states, notices, questions about tools, dead letters, events. What has not been sent is not sent."""
    await call.services.conversations.erase(call.caller, instance, session)


Failed = Annotated[Literal["failed"], Query(description="What was given up.", examples=["failed"])]


@router.get(
    BASE + "/{instanceId}/messages",
    response_model=MessageList,
    responses=errors(400, 403, 404),
    summary="Messages that were given up",
)
async def failed_messages(
    call: Call, instance: InstanceId, page: CursorPage, status: Failed
) -> Page[Message, str]:
    """The messages of both directions that were given up, the latest first, with the reason: messages of senders that
    could not be processed, and messages that the platform did not take."""
    return await call.services.conversations.failed(call.caller, instance, page.limit, page.cursor)


@router.post(
    BASE + "/{instanceId}/messages/{messageId}/rerun",
    status_code=202,
    response_model=bodies.Accepted,
    responses=errors(403, 404, 409),
    summary="Run a message again",
)
async def rerun_message(call: Call, instance: InstanceId, messageId: MessageId) -> bodies.Accepted:
    """Has a message processed again that was given up, with another request id, or sends its dead parts again. 409
    for one that was not given up. An apology that was sent for it stays."""
    await call.services.conversations.rerun(call.caller, instance, messageId)
    return bodies.Accepted(message="The message is run again")


router.include_router(owned)
