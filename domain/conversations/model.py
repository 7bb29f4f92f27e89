"""Conversations, their messages and message ids."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.channels.answers import Artifact, Author, Choice, Template
from domain.channels.messages import Identity
from domain.channels.model import Proof


class Handler(StrEnum):
    """Who answers in a conversation."""

    RESOURCE = "resource"
    PERSON = "person"


class ConversationState(StrEnum):
    """A snoozed conversation is open again at its time; a message of the person opens a snoozed or closed one."""

    OPEN = "open"
    SNOOZED = "snoozed"
    CLOSED = "closed"


class Direction(StrEnum):
    """A note is read by those who work on the conversation alone."""

    INBOUND = "in"
    OUTBOUND = "out"
    NOTE = "note"


class MessageState(StrEnum):
    """Where a message is. Inbound: it waits for an answer, is done (answered, or there is nothing to answer), or has
    failed. The others are of outbound messages, and of the part that has come least far; one dead part is enough."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    QUEUED = "queued"
    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to be sent, given by its address or by its bytes."""

    name: str
    mime_type: str = ""
    url: str | None = None
    data: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message that answers none. It goes to the conversation `session_id`, to the platform's own address `to`, or
    where neither is given to the configured default address. `subject` is for mail. `take_over`: in a known
    conversation, the user answers from now on in place of the resource, also where another user has it (True), unless
    another user has it (None), or whoever has it stays (False). `snippet_id`: the snippet whose text is sent."""

    session_id: str | None = None
    to: str | None = None
    subject: str | None = None
    text: str = ""
    files: tuple[NewFile, ...] = ()
    choices: tuple[Choice, ...] = ()
    template: Template | None = None
    take_over: bool | None = None
    snippet_id: int | None = None


@dataclass(frozen=True, slots=True)
class Destination:
    """Another instance through which answers go out: to a session id or to an address of its platform, by default to
    its default address. Without an instance it is incomplete."""

    instance_id: int | None
    to: str = ""


@dataclass(frozen=True, slots=True)
class QueuedSend:
    """A message that was taken in to be sent."""

    message_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, in either direction. `error` says why it failed or was given up. A file of
    the sender has an address once it was fetched from the platform. `sender_name` is of inbound messages, where the
    platform tells it; `resource` and `route` of answers: which resource made it, and why that one was asked;
    `user_id` and `mentions` of notes: who wrote it, and whom it names, as "user:ID" or "team:ID"."""

    id: str
    session_id: str
    direction: Direction
    text: str
    files: Sequence[Artifact]
    author: Author
    status: MessageState
    error: str | None
    request_id: str
    at: datetime
    sender_name: str = ""
    resource: str | None = None
    route: str | None = None
    user_id: str | None = None
    mentions: tuple[str, ...] = ()

    @property
    def is_given_up(self) -> bool:
        return self.status in (MessageState.FAILED, MessageState.DEAD)


@dataclass(frozen=True, slots=True)
class MessagesWanted:
    """Which messages of a conversation: `limit` of them after the page of `cursor`, in the order of the chat or the
    latest first. `notes`: with the notes of those who work on it."""

    limit: int
    cursor: str | None = None
    latest_first: bool = False
    notes: bool = True


@dataclass(frozen=True, slots=True)
class ConversationSender:
    """Who wrote last, with the proved identities and who proves them; empty where nobody has written yet. `user_id`:
    the platform user that one of them is verified for."""

    external_id: str = ""
    display_name: str = ""
    user_id: str | None = None
    identities: tuple[Identity, ...] = ()
    proof: Proof = Proof.OWNER


@dataclass(frozen=True, slots=True)
class ConversationView:
    """A conversation in a list. `last_text` is the beginning of the latest message, `messages` their number up to a
    bound. `waiting`: inbound messages have no answer yet. `held_until`: how long a person has it, None for the
    resource; `held_by`: the user who took it over, None where the resource asked for a person. `assignee` is
    responsible for it: "user:ID" or "team:ID". `is_closed`: until the person writes again. `snoozed_until`: when it
    comes back, None if it is not snoozed."""

    instance_id: int
    channel_id: str
    channel_name: str
    session_id: str
    sender: ConversationSender
    last_text: str
    last_at: datetime
    messages: int
    waiting: bool
    held_until: datetime | None
    held_by: str | None
    pending_confirmation: bool
    assignee: str | None = None
    labels: tuple[str, ...] = ()
    is_closed: bool = False
    snoozed_until: datetime | None = None

    @property
    def state(self) -> ConversationState:
        if self.is_closed:
            return ConversationState.CLOSED
        return ConversationState.SNOOZED if self.snoozed_until else ConversationState.OPEN

    @property
    def wants_person(self) -> bool:
        """Return True if a person is asked for, and nobody has taken the conversation over."""
        return self.held_until is not None and self.held_by is None

    @property
    def handler(self) -> Handler:
        return Handler.RESOURCE if self.held_until is None else Handler.PERSON


@dataclass(frozen=True, slots=True)
class ConversationFilter:
    """`query` is looked for in the name and the id of the sender and in the texts; empty for all. `waiting`: only
    conversations with or without messages that wait for an answer, None for both. `handler`: only those that a person
    or the resource has. `instance_ids`: those of these instances, empty for all of the caller's. `session_id`: that
    conversation alone, in each of the instances. `assignee`: "user:ID", "team:" with an id or a name, "me",
    "teams" (each team of the caller) or "none"; `assignees`: the same as conversations have it, "" for nobody, None
    for any. `label`, `is_closed` and `state`: only those that have them. `channel_id`: those of instances of this
    channel. `wants_person`: only those for which a person is asked for. `failed`: only those with a message that was
    given up."""

    query: str = ""
    waiting: bool | None = None
    handler: Handler | None = None
    instance_ids: tuple[int, ...] = ()
    session_id: str | None = None
    assignee: str | None = None
    label: str | None = None
    is_closed: bool | None = None
    assignees: tuple[str, ...] | None = field(default=None, compare=False)
    state: ConversationState | None = None
    channel_id: str | None = None
    wants_person: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ConversationUpdate:
    """None leaves a field as it is. `assignee`: "" for nobody. `labels` replace those before."""

    assignee: str | None = None
    state: ConversationState | None = None
    snoozed_until: datetime | None = None
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ConversationCounts:
    """How many conversations the views of an inbox show, each up to a bound. `mine`, `teams` and `unassigned` are
    open ones: of the caller, of a team of the caller, of nobody."""

    mine: int
    teams: int
    unassigned: int
    open: int
    snoozed: int
    closed: int
    wants_person: int
    failed: int


@dataclass(frozen=True, slots=True)
class NewNote:
    """`mentions`: whom it names, as "user:ID" or "team:ID"."""

    user_id: str
    text: str
    mentions: tuple[str, ...]


_NAME_OF_PERSON = re.compile(r"\{\{\s{0,9}name\s{0,9}\}\}")


@dataclass(frozen=True, slots=True)
class Snippet:
    """Of a user, of a team, or of all, where both are None. `{{name}}` in the text stands for the name of the person
    who gets it."""

    id: int
    name: str
    text: str
    user_id: str | None
    team_id: int | None
    created_at: datetime
    updated_at: datetime

    def text_for(self, name: str) -> str:
        return _NAME_OF_PERSON.sub(lambda _: name, self.text)


@dataclass(frozen=True, slots=True)
class SnippetOwners:
    """Whose snippets a caller sees, beside those of all."""

    user_id: str
    team_ids: tuple[int, ...]

    def include(self, snippet: Snippet) -> bool:
        if snippet.team_id is not None:
            return snippet.team_id in self.team_ids
        return snippet.user_id in (None, self.user_id)


class StepKind(StrEnum):
    """What happened to a message."""

    RECEIVED = "received"
    """The event was stored and acknowledged."""
    WRITTEN = "written"
    """An outbound message: by the resource, the service or a person."""
    ASKED = "asked"
    """The resource was asked; `attempts`: how often."""
    TOOL_ASKED = "tool_asked"
    TOOL_DECIDED = "tool_decided"
    ANSWERED = "answered"
    DONE = "done"
    """There is no answer to it: a person answered, or there was nothing to answer."""
    FAILED = "failed"
    CHANGED = "changed"
    """The answer assigned, labelled or closed the conversation; `change`: what it did."""
    QUEUED = "queued"
    """An outbound message waits to be sent: for the first time, or again at `next_attempt_at`."""
    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a message. `at` is None where no time is on record. `part`: the number of the outbound message, of
    several into which the channel split it. `reason`: why it failed, or the last try did, or why an approver decided
    so. `tool`, `parameters`, `decision` and `decider`, who decided or is asked to, are of questions about tools;
    `platform_id` is what the platform calls the message; `resource`: which one was asked, `route`: why that one, None
    for the instance's own; `change`: what an answer did to its conversation, in words."""

    kind: StepKind
    at: datetime | None = None
    part: int | None = None
    attempts: int | None = None
    reason: str | None = None
    tool: str | None = None
    parameters: Mapping[str, object] | None = None
    decision: str | None = None
    decider: str | None = None
    next_attempt_at: datetime | None = None
    platform_id: str | None = None
    resource: str | None = None
    route: str | None = None
    change: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """What happened to a message, in the order of time."""

    message_id: str
    steps: Sequence[Step]


_ID = re.compile(r"(in|out|send)-([1-9][0-9]{0,17})", re.ASCII)


class MessageKind(StrEnum):
    """A message of a sender, the answer to one, a message that was sent first, or a note. Notes have ids to tell them
    apart; nothing is done with them by their ids."""

    INBOUND = "in"
    ANSWER = "out"
    SENT_FIRST = "send"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class MessageId:
    """`row` is the id of the stored event, for its answer as well, or that of the message that was sent first."""

    kind: MessageKind
    row: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.row}"


def message_subject(instance_id: int, inbox_id: int) -> str:
    """A received message as the audit log names it."""
    return f"instance:{instance_id}/message:{MessageId(MessageKind.INBOUND, inbox_id)}"


def answer_to(inbox_id: int) -> MessageId:
    return MessageId(MessageKind.ANSWER, inbox_id)


def parse_message_id(text: str) -> MessageId | None:
    """None if the text is no message id."""
    match = _ID.fullmatch(text)
    return MessageId(MessageKind(match[1]), int(match[2])) if match else None
