"""Conversations over REST."""

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query
from pydantic import AwareDatetime, Field, WithJsonSchema

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
from domain.conversations.model import (
    ConversationCounts,
    ConversationFilter,
    ConversationState,
    ConversationUpdate,
    ConversationView,
    Handler,
    Message,
    MessagesWanted,
)
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
    state: ConversationState = Field(
        description="A closed or snoozed one is open again once the person writes.", examples=["open"]
    )
    snoozedUntil: bodies.OptionalTimestamp = Field(
        description="When a snoozed conversation is open again; null where it is not snoozed."
    )
    wantsPerson: bool = Field(
        description="Whether a person is asked for, and nobody has taken it over.", examples=[False]
    )


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


Time = Annotated[AwareDatetime, WithJsonSchema({"type": "string", "format": "date-time", "maxLength": 40})]


class ChangeConversation(bodies.StrictBody):
    assignee: bodies.Text | None = Field(
        None,
        min_length=1,
        max_length=limits.ASSIGNEE,
        description="`user:ID` (of somebody who may answer here), `team:` with an id or a name, or `me`; null for"
        " nobody.",
        examples=["team:support"],
    )
    state: ConversationState | None = Field(None, examples=["snoozed"])
    snoozedUntil: Time | None = Field(
        None,
        description="When a snoozed conversation is open again, at most a year from now; required with `snoozed`.",
        examples=[bodies.AT],
    )
    labels: list[bodies.Text] | None = Field(
        None, description="All labels from then on; at most 50.", examples=[["sale"]]
    )

    def change(self) -> ConversationUpdate:
        """Null is nobody, where it is given."""
        assignee = self.assignee or "" if "assignee" in self.model_fields_set else None
        labels = None if self.labels is None else tuple(self.labels)
        return ConversationUpdate(assignee, self.state, self.snoozedUntil, labels)


class AddNote(bodies.StrictBody):
    text: bodies.Text = Field(
        min_length=1,
        max_length=limits.MESSAGE_TEXT,
        description="`@name` names a user, by id or by name without blanks, or a team.",
        examples=["@bob: she has called before."],
    )


class Counts(bodies.Answer):
    mine: int = Field(description="Open ones that are assigned to you.", examples=[3])
    teams: int = Field(description="Open ones that are assigned to your teams.", examples=[12])
    unassigned: int = Field(description="Open ones of nobody.", examples=[8])
    open: int = Field(examples=[40])
    snoozed: int = Field(examples=[2])
    closed: int = Field(examples=[1000])
    wantsPerson: int = Field(
        description="Those for which a person is asked for, and which nobody has taken over.", examples=[4]
    )
    failed: int = Field(description="Those with a message that was given up.", examples=[0])


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
            description="Only those of this assignee: `user:ID`, `team:` with an id or a name, `me`, `teams`"
            " (each team of yours) or `none`.",
            examples=["team:support"],
        ),
    ] = None,
    label: Annotated[
        str | None,
        EmptyIsNone,
        Query(max_length=limits.LABEL, description="Only those with this label.", examples=["sale"]),
    ] = None,
    state: Annotated[
        ConversationState | None,
        EmptyIsNone,
        Query(description="Only those in this state.", examples=["open"]),
    ] = None,
    channel: Annotated[
        str | None,
        EmptyIsNone,
        Query(
            alias="channelId",
            max_length=limits.CHANNEL_ID,
            description="Only those of instances of this channel.",
            examples=["workspace-chat"],
        ),
    ] = None,
    wants_person: Annotated[
        bool,
        EmptyIsFalse,
        Query(
            alias="wantsPerson",
            description="Only those for which a person is asked for, and which nobody has taken over.",
            examples=[True],
        ),
    ] = False,
    failed: Annotated[
        bool,
        EmptyIsFalse,
        Query(description="Only those with a message that was given up.", examples=[True]),
    ] = False,
) -> ConversationFilter:
    return ConversationFilter(
        query,
        waiting,
        Handler(handler) if handler else None,
        assignee=assignee,
        label=label,
        state=state,
        channel_id=channel,
        wants_person=wants_person,
        failed=failed,
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
    "/api/agent/conversations/counts",
    response_model=Counts,
    responses=errors(400),
    summary="How many conversations each view shows",
)
async def count_conversations(call: Call) -> ConversationCounts:
    """Of the conversations that the caller sees, each view counted up to 1000."""
    return await call.services.teamwork.counts(call.caller)


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


@owned.put(
    CONVERSATION + "/state",
    status_code=204,
    responses=errors(400, 403, 404),
    summary="Assign, snooze, close, open or label a conversation",
)
async def change_conversation(
    call: Call, instance: InstanceId, session: SessionId, body: ChangeConversation
) -> None:
    """Fields that are left out stay. Who has the conversation passes it on with the assignee: another user has it
    from then on; with a team or nobody it wants a person. A snoozed or closed conversation is open again once the
    person writes."""
    await call.services.teamwork.change(call.caller, instance, session, body.change())


@owned.post(
    CONVERSATION + "/notes",
    status_code=201,
    response_model=ConversationMessage,
    responses=errors(400, 403, 404),
    summary="Add a note",
)
async def add_note(call: Call, instance: InstanceId, session: SessionId, body: AddNote) -> Message:
    """A note stands among the messages of the conversation, for those who work on it: it is sent to nobody, and the
    resource does not get it. It is erased with the conversation."""
    return await call.services.teamwork.add_note(call.caller, instance, session, body.text)


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
