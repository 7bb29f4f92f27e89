"""Conversations, their messages and message ids."""

import re
from collections.abc import Sequence
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


class Direction(StrEnum):
    INBOUND = "in"
    OUTBOUND = "out"


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
    conversation, a person answers from now on in place of the resource."""

    session_id: str | None = None
    to: str | None = None
    subject: str | None = None
    text: str = ""
    files: tuple[NewFile, ...] = ()
    choices: tuple[Choice, ...] = ()
    template: Template | None = None
    take_over: bool = True


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
    platform tells it; `resource` and `route` of answers: which resource made it, and why that one was asked."""

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

    @property
    def is_given_up(self) -> bool:
        return self.status in (MessageState.FAILED, MessageState.DEAD)


@dataclass(frozen=True, slots=True)
class MessagesWanted:
    """Which messages of a conversation: `limit` of them after the page of `cursor`, in the order of the chat or the
    latest first."""

    limit: int
    cursor: str | None = None
    latest_first: bool = False


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
    responsible for it: "user:ID" or "team:ID". `is_closed`: until the person writes again."""

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

    @property
    def state(self) -> str:
        return "closed" if self.is_closed else "open"

    @property
    def handler(self) -> Handler:
        return Handler.RESOURCE if self.held_until is None else Handler.PERSON


@dataclass(frozen=True, slots=True)
class ConversationFilter:
    """`query` is looked for in the name and the id of the sender and in the texts; empty for all. `waiting`: only
    conversations with or without messages that wait for an answer, None for both. `handler`: only those that a person
    or the resource has. `instance_ids`: those of these instances, empty for all of the caller's. `session_id`: that
    conversation alone, in each of the instances. `assignee`, `label` and `is_closed`: only those that have them."""

    query: str = ""
    waiting: bool | None = None
    handler: Handler | None = None
    instance_ids: tuple[int, ...] = ()
    session_id: str | None = None
    assignee: str | None = None
    label: str | None = None
    is_closed: bool | None = None


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
    several into which the channel split it. `reason`: why it failed, or the last try did. `tool`, `decision` and
    `decider` are of questions about tools; `platform_id` is what the platform calls the message; `resource`: which
    one was asked, `route`: why that one, None for the instance's own; `change`: what an answer did to its
    conversation, in words."""

    kind: StepKind
    at: datetime | None = None
    part: int | None = None
    attempts: int | None = None
    reason: str | None = None
    tool: str | None = None
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
    """A message of a sender, the answer to one, or a message that was sent first."""

    INBOUND = "in"
    ANSWER = "out"
    SENT_FIRST = "send"


@dataclass(frozen=True, slots=True)
class MessageId:
    """`row` is the id of the stored event, for its answer as well, or that of the message that was sent first."""

    kind: MessageKind
    row: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.row}"


def answer_to(inbox_id: int) -> MessageId:
    return MessageId(MessageKind.ANSWER, inbox_id)


def parse_message_id(text: str) -> MessageId | None:
    """None if the text is no message id."""
    match = _ID.fullmatch(text)
    return MessageId(MessageKind(match[1]), int(match[2])) if match else None
