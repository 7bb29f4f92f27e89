"""Messages of conversations, as callers send and see them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.channels.messages import Artifact, Author, Choice, Template


class Direction(StrEnum):
    INBOUND = "in"
    OUTBOUND = "out"


class MessageState(StrEnum):
    """Where a message is. Inbound messages are queued, done or failed, outbound ones all but these two."""

    QUEUED = "queued"
    DONE = "done"
    FAILED = "failed"
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
    where neither is given to the configured default address. `subject` is for mail."""

    session_id: str | None = None
    to: str | None = None
    subject: str | None = None
    text: str = ""
    files: tuple[NewFile, ...] = ()
    choices: tuple[Choice, ...] = ()
    template: Template | None = None


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
    """One message of a conversation, in either direction. `error` says why it failed or was given up. Files of the
    sender have no address."""

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
