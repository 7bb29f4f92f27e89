"""The queue of inbound events: leases, sessions, and signals between the processes that work on it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from domain.channels.answers import Answer, OutboundMessage
from domain.channels.messages import CallOutcome, Event, Inquiry, Merge, OptOut, SessionAlias, Target
from domain.channels.rich import ConversationChange
from domain.conversations.forms import FormUpdate, OpenForm
from domain.usage.model import RunUsage
from domain.values import value

L = TypeVar("L")


@value
class QueueKey:
    """The queue of one conversation, inbound or outbound. `user_id`: whose instance it is."""

    instance_id: int
    session_key: str
    user_id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many queues a worker can take, at most so many of one instance and of one user.

    `instances` and `users`: what is left to those that hold some already, 0 for nothing.
    """

    total: int
    per_instance: int
    per_user: int
    instances: Mapping[int, int] = field(default_factory=dict)
    users: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leases(Generic[L]):
    """`more`: other queues were due too, of instances and users that have capacity left."""

    leased: Sequence[L]
    more: bool


More = Callable[[float], Awaitable[str]]
"""Gives the text that was added to an answer that is being made; empty when the answer may be on record, or after so
many seconds. Where a piece got lost no more of them come."""


class Answers(Protocol):
    """Tells a waiting HTTP call that its answer is on record."""

    async def wait(self, inbox_id: int, seconds: float) -> None:
        """Returns when the answer of that event may be there, or after `seconds`."""

    def follow(self, inbox_id: int) -> AbstractContextManager[More]: ...


@value
class Accepted:
    """An event in the inbox. `fresh` is False when it had been there already. `dropped`: it is about something that
    the instance sent, of a session that is not followed (`Event.only_followed`), or a reaction to a message that
    somebody else sent."""

    id: int
    fresh: bool
    dropped: bool = False


@value
class CallResult:
    """What a waiting HTTP call gets."""

    outcome: CallOutcome
    answer: Answer | None


@value
class StoredCall:
    """An event that an inquiry is about; its event is without session and text where it was withdrawn or erased."""

    id: int
    event: Event


class Inbox(Protocol):
    """Inbound events, durable before they are acknowledged."""

    async def add(
        self, instance_id: int, events: Sequence[Event], wait: float | None = None
    ) -> Sequence[Accepted]:
        """Stores events, each once by its key. `wait`: an HTTP call waits that long for the answer.

        An id of 0 means that the event was dropped, or that the instance is gone. Raises `Unavailable`.
        """

    async def result(self, inbox_id: int) -> CallResult | None:
        """Takes the answer for a waiting call, or returns None."""

    async def outcome(self, inbox_id: int) -> CallResult | None:
        """How an event ended, as often as it is asked; None as long as it is worked on, or where it is gone."""

    async def find_call(self, instance_id: int, inquiry: Inquiry) -> StoredCall | None:
        """The latest event that an inquiry is about."""

    async def stop_waiting(self, inbox_id: int) -> CallResult | None:
        """Nobody waits any more: a later answer is sent as messages. The answer, when it just came."""


@value
class QueuedEvent:
    """An event to be worked on.

    `attempts` counts the workers that died over it, `failures` the tries that failed while the database answered.
    `draft` names the message in which a worker showed its unfinished answer. `merged`: rows that belong to the event
    and have its outcome.
    """

    id: int
    event: Event
    attempts: int
    received_at: datetime
    draft: str = ""
    failures: int = 0
    merged: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Album:
    """The queued events of a conversation that belong to one message, or all.

    `age`: seconds since the first of them came, `quiet`: since the latest. Both count from the start of this process
    at the earliest.
    """

    rows: Sequence[QueuedEvent]
    age: float
    quiet: float


@value
class Conversation:
    """A leased conversation and its next events, in order.

    `has_open_approval`: something is on record of its tool confirmations, so each message has to be held against it.
    `offered`: the id of the latest message that offered numbered choices; others may have followed it. `form` is the
    form that is open; it may have expired. `labels` are those of the conversation.
    """

    key: QueueKey
    queued: Sequence[QueuedEvent]
    has_open_approval: bool = False
    offered: str | None = None
    form: OpenForm | None = None
    labels: Sequence[str] = ()


@value
class EventOutcome:
    """The outcome of one event: `messages` go to `target`; `error` is set when it failed.

    `answer` is what the messages were made of; it is kept for the history of the conversation.
    `result` is for the HTTP call that waits for this event: then the messages are sent only when nobody waits any
    more. `last` releases the conversation. `request_id` is the event's: the keys of its messages are made from it.
    `require_sync_commit`: the event may have another outcome when it is processed again, so this one must survive a
    crash of the database. `prompt`: a message has buttons, which a typed reply makes void. `merged`: other events of
    the conversation that have this outcome too. `event` is what was worked on: messages of an echo are not sent.
    `by_person`: a person caused it, which ends any loop. `handler_minutes`: from now on a person has the
    conversation, for so long. `numbered`: the answer offers choices that are typed. `form_update` is what becomes of
    the open form of the session. `reopens`: a closed conversation is open again, before the answer changes it.
    `usage` holds the runs for the event: they are counted, also where the outcome is not stored.
    """

    key: QueueKey
    inbox_id: int
    target: Target
    messages: Sequence[OutboundMessage] = ()
    error: str | None = None
    result: CallResult | None = None
    answer: Answer | None = None
    last: bool = False
    request_id: str = ""
    require_sync_commit: bool = False
    prompt: bool = False
    merged: tuple[int, ...] = ()
    event: Event | None = None
    by_person: bool = False
    handler_minutes: int | None = None
    numbered: bool = False
    form_update: FormUpdate | None = None
    reopens: bool = False
    usage: Sequence[RunUsage] = ()

    @property
    def change(self) -> ConversationChange | None:
        """What the answer does to its conversation."""
        return self.answer.change if self.answer else None

    @property
    def resource(self) -> str | None:
        """The resource that made the answer."""
        return self.answer.provenance.resource if self.answer and self.answer.provenance else None

    @property
    def leaves_notes(self) -> bool:
        """Return True if more than the outcome and its messages is to be stored."""
        return bool(self.numbered or self.form_update or self.reopens or self.change)


class Conversations(Protocol):
    """Leases on conversations with queued events."""

    async def lease(self, capacity: Capacity) -> Leases[Conversation]:
        """Conversations that nobody works on, those that are due longest first."""

    async def record(self, outcome: EventOutcome) -> bool:
        """Stores an outcome and its messages in one transaction.

        False: nothing was stored, as the event has an outcome or is gone, or as an earlier one of its conversation
        has none, or the event was stored and a person has the conversation. What was leased with it is out of date
        then.
        """

    async def remove(self, outcome: EventOutcome) -> bool:
        """Removes an event that takes no outcome, and stores the messages. False: it is gone already."""

    async def retry(self, key: QueueKey, inbox_id: int, error: str, delay: float) -> None:
        """Counts a failure of the work on an event; its conversation is released for after `delay` seconds."""

    async def release(self, key: QueueKey, delay: float = 0.0) -> None:
        """Releases a conversation; it may be leased again after `delay` seconds."""

    async def album(self, key: QueueKey, merge: Merge | None) -> Album:
        """The queued events of one message (None: of all), also those beyond what was leased."""

    async def drafted(self, inbox_id: int, draft: str) -> None:
        """Remembers the message in which the unfinished answer to an event is shown."""

    async def postpone(self, key: QueueKey, delay: float) -> None:
        """Releases a conversation for `delay` seconds, and wakes a worker then."""

    async def note(
        self,
        key: QueueKey,
        inbox_id: int,
        answer: Answer,
        form_update: FormUpdate | None,
        handler_minutes: int | None,
    ) -> None:
        """Stores what an answer does to its conversation that is sent apart from its event. `key` has the id of the
        session; the rest as in `EventOutcome`."""


class Sessions(Protocol):
    """The stored sessions."""

    async def rename(self, instance_id: int, previous: str, current: str) -> None:
        """The session's history, question, approvals, aliases and handler belong to another session from now on."""

    async def add_alias(self, instance_id: int, alias: SessionAlias) -> bool:
        """Return True if the alias is new, or belonged to another session until now."""

    async def of_alias(self, instance_id: int, alias: str) -> str | None:
        """The id of the session that has the alias."""

    async def record_opt_out(self, instance_id: int, opt_out: OptOut) -> None:
        """Records what a person has chosen; it outlives the conversation."""

    async def is_opted_out(self, instance_id: int, session_id: str) -> bool: ...

    async def is_queue_opted_out(self, key: QueueKey) -> bool:
        """Return True if the person of a conversation has opted out."""


@dataclass(frozen=True, slots=True)
class Round:
    """How many rounds a conversation has had lately, the counted event included; `echo` as in `Accepted`."""

    count: int
    echo: bool


class Rounds(Protocol):
    """Counts how often we and a machine answered each other. See `domain.routing.model`."""

    async def count(self, key: QueueKey, queued: QueuedEvent, most: int, window: float) -> Round:
        """Counts an event of a leased conversation that no person is known to have caused, once.

        Over `most` rounds within `window` seconds the count stays until so long a time passes without an event. Of
        an event with a correspondent the larger count holds: of the conversation, or of all with the correspondent.
        """

    async def replied(self, key: QueueKey, correspondent: str) -> None:
        """An event of a conversation with the correspondent got a reply."""
