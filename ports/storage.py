"""What the use cases ask of the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from domain.access.model import ApiKey, Role
from domain.channels.messages import (
    Answer,
    CallOutcome,
    DeliveryStatus,
    Event,
    Merge,
    OutboundMessage,
    Target,
)
from domain.instances.model import (
    Activity,
    ActivityHealth,
    Deliveries,
    Instance,
    InstanceChange,
    LiveSocket,
    NewInstance,
)

L = TypeVar("L")


class KeyStore(Protocol):
    """API keys; only hashes of secrets come in here."""

    async def find(self, digest: bytes) -> ApiKey | None:
        """The live key with that hash."""
        ...

    async def add(self, user_id: str, role: Role, prefix: str, digest: bytes) -> ApiKey: ...

    async def list(self) -> Sequence[ApiKey]: ...

    async def revoke(self, key_id: int) -> bool:
        """False when there is no live key of that id."""
        ...


class InstanceStore(Protocol):
    """Channel instances; configurations are encrypted at rest."""

    async def find(self, instance_id: int) -> Instance | None:
        """Straight from the database."""
        ...

    async def cached(self, instance_id: int) -> Instance | None:
        """The same, from memory where it is fresh; for the hot path."""
        ...

    async def of_user(self, user_id: str) -> Sequence[Instance]: ...

    async def page_of_user(
        self, user_id: str, after: int, most_bytes: int
    ) -> tuple[Sequence[Instance], bool]:
        """The instances with ids over `after` whose stored configurations have `most_bytes` together, at least
        one; and whether there are more behind them."""
        ...

    async def of_channels(self, channel_ids: Sequence[str]) -> Sequence[Instance]: ...

    async def add(self, user_id: str, new: NewInstance) -> Instance:
        """Raises `Conflict` when the triple is taken."""
        ...

    async def change(self, instance_id: int, change: InstanceChange) -> Instance | None:
        """None when it is gone. Raises `Conflict` when the new triple is taken."""
        ...

    async def remove(self, instance_id: int) -> Sequence[Event]:
        """Removes the instance and all that waits for it. The newest messages that nobody will answer now, 50 at
        most."""
        ...


@dataclass(frozen=True, slots=True)
class HealthRecord:
    """What is on record of an instance's health.

    `waiting_seconds` is the age of the oldest message that waits; `idle_seconds` for how long a conversation could
    have been worked on and nobody did. `looping`: a conversation is stopped, as it runs in a loop.
    """

    missing_proof_field: str | None = None
    webhook_registered: bool | None = None
    webhook_error: str | None = None
    pairing_code: str | None = None
    next_run: datetime | None = None
    breaker: str = "closed"
    breaker_until: datetime | None = None
    breaker_reason: str | None = None
    registration: Mapping[str, Any] = field(default_factory=dict)
    waiting_seconds: float = 0.0
    idle_seconds: float = 0.0
    looping: bool = False
    activities: Mapping[Activity, ActivityHealth] = field(default_factory=dict)


class HealthStore(Protocol):
    async def find(self, instance_id: int) -> HealthRecord: ...

    async def queue(self, instance_id: int) -> dict[str, int]:
        """Rows by state: 'waiting' inbound, 'pending' and 'dead' outbound."""
        ...

    async def succeeded(self, instance_id: int, activity: Activity, at: datetime | None = None) -> None:
        """Notes a success, of now or of `at`. One of many within seconds is written."""
        ...

    async def failed(self, instance_id: int, activity: Activity, reason: str) -> None: ...

    async def unproved(self, instance_id: int, wanting: str | None) -> None: ...

    async def webhook(self, instance_id: int, registered: bool, error: str | None) -> None: ...

    async def tried_in_vain(self) -> Sequence[int]:
        """The instances with an error of their webhook or of the last try of their configuration."""
        ...

    async def registration(self, instance_id: int, kept: Mapping[str, Any]) -> None:
        """Notes what the platform gave when the callback was registered."""
        ...


@dataclass(frozen=True, slots=True)
class Accepted:
    """An event in the inbox. `fresh` is False when it had been there already. `echo`: it was dropped, as it is about
    something that the instance sent."""

    id: int
    fresh: bool
    echo: bool = False


@dataclass(frozen=True, slots=True)
class QueuedEvent:
    """An event to be worked on. `attempts` counts the workers that died over it; `draft` names the message
    in which one of them showed its answer. `failures` counts the tries that failed while the database answered.
    `merged` are the further rows that are part of the event: its outcome is theirs."""

    id: int
    event: Event
    attempts: int
    received_at: datetime
    draft: str = ""
    failures: int = 0
    merged: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Album:
    """The waiting events of a conversation that belong to one message.

    `age`: seconds since the first of them came, `quiet`: since the latest. Both count from the start of this process
    at the earliest.
    """

    rows: Sequence[QueuedEvent]
    age: float
    quiet: float


@dataclass(frozen=True, slots=True)
class QueueKey:
    """A leased queue of one conversation, inbound or outbound. `user_id`: whose instance it is."""

    instance_id: int
    key: str
    user_id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many lanes a worker has places for.

    No instance and no user gets more than its share of them; `instances` and `users` say what is left to
    those that hold some already, 0 for nothing.
    """

    lanes: int
    per_instance: int
    per_user: int
    instances: Mapping[int, int] = field(default_factory=dict)
    users: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leases(Generic[L]):
    """What a lease brought. `more`: others waited too, that are not of those to whom nothing is left. There was no
    room for them, or another worker was just about them."""

    lanes: Sequence[L]
    more: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """A leased conversation and its next events, in order.

    `has_open_approval`: something is on record of its tool confirmations, so each message has to be held against it.
    """

    lane: QueueKey
    waiting: Sequence[QueuedEvent]
    has_open_approval: bool = False


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a waiting HTTP call gets."""

    outcome: CallOutcome
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class EventOutcome:
    """The outcome of one event: `parts` go to `target`; `error` is on record when it failed.

    `result` is kept for the HTTP call that waits for this event, if one does: then the parts go out only
    when nobody waits any more. `last` releases the conversation. `request_id` is the event's: what the keys of
    its parts are made from. `require_sync_commit`: the event may have another outcome when it is processed again, so
    that this one must survive a crash of the database. `prompt`: one of the parts has buttons, which a typed
    reply makes void. `merged` are further events of the conversation that have this outcome too. `event` is what was
    worked on: the parts of an echo are not sent. `by_person`: a person caused it, which ends any loop.
    """

    lane: QueueKey
    inbox_id: int
    target: Target
    parts: Sequence[OutboundMessage] = ()
    error: str | None = None
    result: CallResult | None = None
    last: bool = False
    request_id: str = ""
    require_sync_commit: bool = False
    prompt: bool = False
    merged: tuple[int, ...] = ()
    event: Event | None = None
    by_person: bool = False


class Inbox(Protocol):
    """Inbound events, durable before they are acknowledged."""

    async def add(
        self, instance_id: int, events: Sequence[Event], wait: float | None = None
    ) -> Sequence[Accepted]:
        """Stores events, each once by its key. `wait`: an HTTP call waits that long for the answer.

        An id of 0 means that the event is an echo, or that the instance is gone. Raises `Unavailable`.
        """
        ...

    async def result(self, inbox_id: int) -> CallResult | None:
        """Takes the answer for a waiting call, None while there is none."""
        ...

    async def stop_waiting(self, inbox_id: int) -> CallResult | None:
        """Nobody waits any more: a later answer goes out as parts. The answer, when it just came."""
        ...


@dataclass(frozen=True, slots=True)
class Round:
    """How many rounds a conversation has had lately, with the event that was counted; `echo` as in `Accepted`."""

    count: int
    echo: bool


class Rounds(Protocol):
    """Counts how often we and a machine answered each other. See `domain.routing.rounds`."""

    async def count(self, lane: QueueKey, waiting: QueuedEvent, most: int, window: float) -> Round:
        """Counts an event of a leased conversation that no person is known to have caused, once.

        Over `most` rounds within `window` seconds the count stays until so long a time passes without an event. Of
        an event with a correspondent the larger count holds: of the conversation, or of all with the correspondent.
        """
        ...

    async def replied(self, lane: QueueKey, correspondent: str) -> None:
        """An event of a conversation with the correspondent got a reply."""
        ...


class Sessions(Protocol):
    """What is on record of sessions."""

    async def move(self, instance_id: int, previous: str, current: str) -> None:
        """The session's history, question and approvals belong to another session from now on."""
        ...


class DraftStore(Protocol):
    """Messages that show unfinished answers."""

    async def drafted(self, inbox_id: int, draft: str) -> None:
        """The answer to this event is shown in that message."""
        ...


class Conversations(Protocol):
    """Leases on conversations with waiting events."""

    async def lease(self, room: Capacity) -> Leases[Conversation]:
        """Conversations that nobody works on, those that wait longest first."""
        ...

    async def record(self, processed: EventOutcome) -> bool:
        """Stores an outcome and its reply parts in one transaction.

        False: nothing was stored, as the event has an outcome or is gone, or as an earlier one of its conversation
        has none. What was leased with it is out of date then.
        """
        ...

    async def remove(self, processed: EventOutcome) -> bool:
        """Removes an event that takes no outcome, and stores the reply parts. False: it is gone already."""
        ...

    async def retry(self, lane: QueueKey, inbox_id: int, error: str, delay: float) -> None:
        """Counts a failure of the work on an event; its conversation is released for after `delay` seconds."""
        ...

    async def release(self, lane: QueueKey, delay: float = 0.0) -> None:
        """Gives a conversation back; it may be taken again after `delay` seconds."""
        ...

    async def album(self, lane: QueueKey, merge: Merge) -> Album:
        """All waiting events of one message, also those beyond what was leased."""
        ...

    async def postpone(self, lane: QueueKey, delay: float) -> None:
        """Gives a conversation back that goes on in `delay` seconds, and has a worker look at it then."""
        ...


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A reply part on its way. `key` is its idempotency key, the same at each try.

    `apology`: it tells the sender that the message failed.
    `unreadable` says why the stored part cannot be read: it can never be sent.
    """

    id: int
    part: OutboundMessage
    target: Target
    key: str
    attempts: int
    apology: bool = False
    unreadable: str = ""


@dataclass(frozen=True, slots=True)
class QueuedMessages:
    lane: QueueKey
    parts: Sequence[QueuedMessage] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class SentPart:
    """A part that the platform took, and what the platform calls it."""

    part: OutboundMessage
    target: Target
    ref: str


class Prompts(Protocol):
    """Questions with buttons that have been asked."""

    async def asked(self, instance_id: int, inbox_id: int) -> Sequence[SentPart]:
        """The parts of the answer to an event that was such a question, the last one first."""
        ...


class Outbox(Protocol):
    """Reply parts, in order within a conversation."""

    async def lease(self, room: Capacity) -> Leases[QueuedMessages]: ...

    async def sent(self, lane: QueueKey, part: QueuedMessage, ref: str, *, last: bool) -> None:
        """The platform took the part. `last` releases the lane."""
        ...

    async def retry(self, lane: QueueKey, part: QueuedMessage, error: str, delay: float) -> None:
        """The part is tried again after `delay` seconds; the lane is released until then."""
        ...

    async def dead(self, lane: QueueKey, part: QueuedMessage, error: str, *, last: bool) -> None:
        """The part is given up, and kept as a dead letter."""
        ...

    async def release(self, lane: QueueKey, delay: float = 0.0) -> None: ...

    async def receipt(self, instance_id: int, receipt: DeliveryStatus) -> bool:
        """What the platform said later of a part it had taken, also of one whose taking is not known. Whether a
        part that counted as sent is a dead letter by it."""
        ...

    async def list(self, instance_id: int, status: str | None, limit: int, offset: int) -> Deliveries: ...

    async def replay(self, instance_id: int, part_id: int) -> bool | None:
        """Sends a dead letter again. None when there is no such part, False when it is no dead letter."""
        ...

    async def drop(self, instance_id: int, part_id: int) -> bool: ...


class Processes(Protocol):
    """The living processes of this installation."""

    async def worker_alive(self) -> bool:
        """Whether a worker has beaten its heart in the last 15 seconds."""
        ...


class SocketStore(Protocol):
    """The connections that are up, over all processes."""

    async def live(self, user_id: str | None) -> Sequence[LiveSocket]:
        """Those of one user's instances, or all (None), ordered by instance id."""
        ...
