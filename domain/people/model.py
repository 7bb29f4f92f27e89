"""People: who writes in the conversations of an owner's instances, over all channels."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.channels.messages import Identity, Sender


@dataclass(frozen=True, slots=True)
class StoredSender:
    """The sender of a stored event, not read yet. `session_key` finds the conversation, `owner` is that of the
    instance."""

    inbox_id: int
    instance_id: int
    session_key: str
    channel_id: str
    owner: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SeenSender:
    """What an event says of its sender. `user_id`: the platform user that one of the identities is verified for."""

    stored: StoredSender
    session_id: str
    sender: Sender
    language: str | None
    user_id: str | None


@dataclass(frozen=True, slots=True)
class PersonConversation:
    """A conversation that the person has written in, and who they are there: id and name at the platform."""

    instance_id: int
    channel_id: str
    channel_name: str
    session_id: str
    sender_id: str
    sender_name: str
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Person:
    """A person as the owner of the instances sees them. `name` and `language`: set by hand, or what the platforms
    tell. `identities` are proved. `user_ids`: the platform users that they are verified for. `conversations`: the
    latest ones, of `conversation_count`."""

    id: int
    owner: str
    name: str
    language: str | None
    labels: tuple[str, ...]
    identities: tuple[Identity, ...]
    user_ids: tuple[str, ...]
    conversations: Sequence[PersonConversation]
    conversation_count: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class PersonChange:
    """The fields that are set by hand; None leaves one as it is. Empty name or language: as the platforms tell."""

    name: str | None = None
    language: str | None = None
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SessionName:
    """A conversation."""

    instance_id: int
    session_id: str


@dataclass(frozen=True, slots=True)
class Split:
    """The part that becomes a person: these conversations, and those in which one of the identities was proved."""

    conversations: tuple[SessionName, ...] = ()
    identities: tuple[Identity, ...] = ()


@dataclass(frozen=True, slots=True)
class PeopleScope:
    """Whose people a caller sees: those of an owner, None for all owners; and of others, by what they have in the
    instances that are shared with the caller."""

    owner: str | None
    shared: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PeopleFilter:
    """`query` is looked for in names, in ids at the platforms and in identities; empty for all. `label`: only those
    who have it."""

    query: str = ""
    label: str | None = None


class RequestKind(StrEnum):
    EXPORT = "export"
    ERASE = "erase"


class RequestState(StrEnum):
    """Failed: given up after several tries; it may be requested again."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PrivacyRequest:
    """An export or an erasure of a person. `done` of `total` conversations. `run`: how often a process began with it.
    `error`: why the last try failed. `url`: where the file of an export is, of `size` bytes, until `expires_at`."""

    id: int
    owner: str
    person_id: int
    kind: RequestKind
    state: RequestState
    requested_by: str
    done: int
    total: int
    run: int
    failures: int
    error: str | None
    blob_key: str | None
    size: int | None
    created_at: datetime
    finished_at: datetime | None
    expires_at: datetime | None
    url: str | None = None
