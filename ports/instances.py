"""Stores of instances, their health, checks, pairing and schedules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from domain.access.sharing import Grantee, InstanceLevel, Permission
from domain.channels.messages import Event
from domain.instances.model import (
    Activity,
    ActivityHealth,
    Instance,
    InstanceChange,
    NewInstance,
    UnansweredMessage,
)
from domain.monitoring.model import InstanceName
from domain.paging import Slice
from domain.polling.model import PlannedInstance


class InstanceStore(Protocol):
    """Channel instances; configurations are encrypted at rest."""

    async def find(self, instance_id: int) -> Instance | None:
        """Straight from the database."""

    async def of_ids(self, instance_ids: Sequence[int]) -> Sequence[Instance]:
        """Those of them that are there, ordered by id."""

    async def of_user(self, user_id: str) -> Sequence[Instance]:
        """The user's own."""

    async def shared_ids(self, user_id: str) -> Sequence[int]:
        """The ids of those of others that the user may VIEW."""

    async def levels(self, user_id: str, instance_ids: Sequence[int]) -> Mapping[int, InstanceLevel]:
        """What permissions allow the user on these instances; none for those without one."""

    async def permissions(self, instance_id: int) -> Sequence[Permission]: ...

    async def grant(self, instance_id: int, grantee: Grantee, level: InstanceLevel) -> bool:
        """NONE revokes. False where the team or the instance is not there."""

    async def page_of_user(
        self, user_id: str, after: int, most_bytes: int
    ) -> tuple[Sequence[Instance], bool]:
        """The instances with ids over `after` whose stored configurations have `most_bytes` together, at least
        one; and whether there are more behind them."""

    async def following(
        self, user_id: str | None, after: int, limit: int, without: str | None = None
    ) -> Sequence[Instance]:
        """Those of a user, or of all (None), with ids over `after`, in their order."""

    async def names(self, user_id: str | None) -> Sequence[InstanceName]:
        """Those of a user, or of all (None), without their configurations."""

    async def of_channels(self, channel_ids: Sequence[str]) -> Sequence[Instance]: ...

    async def add(self, user_id: str, new: NewInstance, *, connects: bool = False) -> Instance:
        """`connects`: a connection is kept for it. Raises `Conflict` when the triple is taken."""

    async def change(
        self, instance_id: int, change: InstanceChange, *, connects: bool = False, ends_trust: bool = False
    ) -> Instance | None:
        """None when it is gone. `ends_trust`: it is trusted no longer. Raises `Conflict` when the new triple is
        taken."""

    async def set_trusted(self, instance_id: int, *, trusted: bool) -> None: ...

    async def set_connects(self, instance_id: int, connects: bool) -> None:
        """Records whether a connection is kept for an instance."""

    async def retire(self, instance_id: int) -> None:
        """The instance removes itself: it is listed no more and goes once its messages are answered."""

    async def remove(self, instance_id: int) -> Sequence[Event]:
        """Removes the instance and all that waits for it. The newest messages that nobody will answer now, 50 at
        most."""

    async def cached(self, instance_id: int) -> Instance | None:
        """The same, from memory where it is fresh; for the hot path."""

    async def annotate(self, instance_id: int, field: str, value: str) -> None:
        """Writes one field; nothing else changes."""


@dataclass(frozen=True, slots=True)
class HealthRecord:
    """The recorded health of an instance. `waiting_seconds` is the age of the oldest message that waits to be
    processed, `pending_seconds` of the oldest one that waits to be sent; `idle_seconds` is how long a conversation
    was due without being leased. `note` is the platform's answer to the last check of the configuration. `looping`:
    a conversation is stopped because it runs in a loop."""

    missing_proof_field: str | None = None
    webhook_registered: bool | None = None
    webhook_error: str | None = None
    pairing_code: str | None = None
    next_run: datetime | None = None
    breaker: str = "closed"
    breaker_until: datetime | None = None
    breaker_reason: str | None = None
    registration: Mapping[str, object] = field(default_factory=dict)
    note: str = ""
    waiting_seconds: float = 0.0
    pending_seconds: float = 0.0
    idle_seconds: float = 0.0
    looping: bool = False
    activities: Mapping[Activity, ActivityHealth] = field(default_factory=dict)


class HealthStore(Protocol):
    async def find(self, instance_id: int) -> HealthRecord: ...

    async def records(self, instance_ids: Sequence[int]) -> Mapping[int, HealthRecord]:
        """By the ids of the instances that are there."""

    async def queue(self, instance_id: int) -> Mapping[str, int]:
        """Rows by state: 'waiting' inbound, 'pending' and 'dead' outbound."""

    async def queues(self, instance_ids: Sequence[int]) -> Mapping[int, Mapping[str, int]]:
        """The same of several instances, by their ids."""

    async def webhook(
        self, instance_id: int, registered: bool, error: str | None, note: str | None = None
    ) -> None:
        """Notes what came of the registration or the try of the configuration."""

    async def tried_in_vain(self) -> Sequence[int]:
        """The instances with an error of their webhook or of the last try of their configuration."""

    async def registration(self, instance_id: int, kept: Mapping[str, object]) -> None:
        """Notes what the platform gave when the callback was registered."""

    async def succeeded(self, instance_id: int, activity: Activity, at: datetime | None = None) -> None:
        """Notes a success, of now or of `at`. One of many within seconds is written."""

    async def failed(self, instance_id: int, activity: Activity, reason: str) -> None: ...

    async def unproved(self, instance_id: int, wanting: str | None) -> None: ...


class UnansweredStore(Protocol):
    """Messages that are not answered, such as those of mailing lists, until somebody releases them."""

    async def add(self, instance_id: int, event: Event) -> bool:
        """Lists a refused event, once by its key. False where it was listed or taken in before, and where the
        instance is gone. Raises `Unavailable`."""

    async def counts(self, instance_id: int) -> Mapping[str, int]:
        """By the reason."""

    async def list(self, instance_id: int, limit: int, offset: int) -> Slice[UnansweredMessage]:
        """The newest first."""

    async def release(self, instance_id: int, message_id: int) -> bool:
        """Takes a message in as if it were to be answered. False when there is no such message."""


class Processes(Protocol):
    """The living processes of this installation."""

    async def worker_alive(self) -> bool:
        """Return True if a worker sent a heartbeat in the last 15 seconds."""


@dataclass(frozen=True, slots=True)
class Due:
    """A run of a leased schedule: `planned` is when it was to run, `cursor` what the last poll stored,
    `began` tells this run from all others of the instance."""

    instance_id: int
    planned: datetime
    cursor: Mapping[str, object] | None
    failures: int
    began: datetime


class ScheduleStore(Protocol):
    """When instances run next, and their runs: one runner at a time per instance, over any number of workers."""

    async def of_user(self, user_id: str | None, after: int, limit: int) -> Sequence[PlannedInstance]:
        """The recorded runs of the instances of all users (None), with ids over `after`, in their order."""

    async def run_now(self, instance_id: int) -> bool:
        """Runs as soon as somebody can, also where no run is planned; once more when a run is under way. False for an
        instance without a schedule."""

    async def plan(self, instance_id: int, at: datetime | None) -> None:
        """Sets when the instance runs next (None: never), freeing it from whoever is running it."""

    async def due_now(self, instance_id: int) -> None:
        """Runs as soon as somebody can, once more when a run is under way.

        Nothing happens for an instance without a schedule, or one that does not run until it is changed.
        """

    async def run_soon(self, channel_ids: Sequence[str], count: int) -> None:
        """Makes the instances of these channels that are to run soonest due now, `count` of them at most, but
        none whose last run failed."""

    async def missing(self, channel_ids: Sequence[str]) -> Sequence[int]:
        """Instances of these channels that have no row yet."""

    async def lease(self, count: int) -> Sequence[int]:
        """Instances that are due and that nobody runs, leased to this process until a run begins."""

    async def give_back(self, instance_ids: Sequence[int]) -> None:
        """Gives leases back whose run has not begun."""

    async def begin(self, instance_id: int) -> Due | None:
        """Begins the run of a leased instance, in this process whoever leased it.

        None when there is no run to begin: the instance was changed or removed, or it is running already.
        """

    async def finish(
        self,
        due: Due,
        events: Sequence[Event],
        cursor: Mapping[str, object] | None,
        at: datetime | None,
        *,
        retire: bool = False,
        unanswered: Sequence[Event] = (),
    ) -> Sequence[bool | None] | None:
        """Stores events, cursor and the next run in one transaction, with the messages that are not answered; with
        `retire` it also deactivates the instance. Returns for each event whether it is fresh, None for one that
        cannot be stored. If the lease was lost, nothing is stored and the result is None."""

    async def failed(self, due: Due, at: datetime | None) -> None:
        """A run failed: one failure more, and when to try again (None: not before the config changes)."""

    async def release(self, due: Due) -> None:
        """The run is over, however it ended."""
