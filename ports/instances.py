"""Channel instances and their health."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from domain.channels.messages import Event
from domain.instances.model import (
    Activity,
    ActivityHealth,
    Instance,
    InstanceChange,
    LiveSocket,
    NewInstance,
    UnansweredPage,
)


class InstanceLookup(Protocol):
    """One instance by its id."""

    async def find(self, instance_id: int) -> Instance | None:
        """Straight from the database."""
        ...

    async def cached(self, instance_id: int) -> Instance | None:
        """The same, from memory where it is fresh; for the hot path."""
        ...


class InstanceStore(Protocol):
    """Channel instances; configurations are encrypted at rest."""

    async def find(self, instance_id: int) -> Instance | None:
        """Straight from the database."""
        ...

    async def of_ids(self, instance_ids: Sequence[int]) -> Sequence[Instance]:
        """Those of them that are there, ordered by id."""
        ...

    async def of_user(self, user_id: str) -> Sequence[Instance]: ...

    async def page_of_user(
        self, user_id: str, after: int, most_bytes: int
    ) -> tuple[Sequence[Instance], bool]:
        """The instances with ids over `after` whose stored configurations have `most_bytes` together, at least
        one; and whether there are more behind them."""
        ...

    async def of_channels(self, channel_ids: Sequence[str]) -> Sequence[Instance]: ...

    async def add(self, user_id: str, new: NewInstance, *, connects: bool = False) -> Instance:
        """`connects`: a connection is kept for it. Raises `Conflict` when the triple is taken."""
        ...

    async def change(
        self, instance_id: int, change: InstanceChange, *, connects: bool = False, ends_trust: bool = False
    ) -> Instance | None:
        """None when it is gone. `ends_trust`: it is trusted no longer. Raises `Conflict` when the new triple is
        taken."""
        ...

    async def set_trusted(self, instance_id: int, *, trusted: bool) -> None: ...

    async def remove(self, instance_id: int) -> Sequence[Event]:
        """Removes the instance and all that waits for it. The newest messages that nobody will answer now, 50 at
        most."""
        ...


@dataclass(frozen=True, slots=True)
class HealthRecord:
    """What is on record of an instance's health.

    `waiting_seconds` is the age of the oldest message that waits to be processed, `pending_seconds` of the oldest one
    that waits to be sent; `idle_seconds` for how long a conversation could have been worked on and nobody did.
    `note` is what the platform told when the configuration was tried.
    `looping`: a conversation is stopped, as it runs in a loop.
    """

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


class HealthRecorder(Protocol):
    """Notes what happens to instances."""

    async def succeeded(self, instance_id: int, activity: Activity, at: datetime | None = None) -> None:
        """Notes a success, of now or of `at`. One of many within seconds is written."""
        ...

    async def failed(self, instance_id: int, activity: Activity, reason: str) -> None: ...

    async def unproved(self, instance_id: int, wanting: str | None) -> None: ...


class ConfigFields(Protocol):
    """Fields of configurations that the service itself writes."""

    async def annotate(self, instance_id: int, field: str, value: str) -> None:
        """Writes one field; nothing else changes."""
        ...


class HealthStore(Protocol):
    async def find(self, instance_id: int) -> HealthRecord: ...

    async def records(self, instance_ids: Sequence[int]) -> Mapping[int, HealthRecord]:
        """By the ids of the instances that are there."""
        ...

    async def queue(self, instance_id: int) -> Mapping[str, int]:
        """Rows by state: 'waiting' inbound, 'pending' and 'dead' outbound."""
        ...

    async def queues(self, instance_ids: Sequence[int]) -> Mapping[int, Mapping[str, int]]:
        """The same of several instances, by their ids."""
        ...

    async def webhook(
        self, instance_id: int, registered: bool, error: str | None, note: str | None = None
    ) -> None:
        """Notes what came of the registration or the try of the configuration."""
        ...

    async def tried_in_vain(self) -> Sequence[int]:
        """The instances with an error of their webhook or of the last try of their configuration."""
        ...

    async def registration(self, instance_id: int, kept: Mapping[str, object]) -> None:
        """Notes what the platform gave when the callback was registered."""
        ...


class RefusalStore(Protocol):
    """Takes messages that are not answered."""

    async def add(self, instance_id: int, event: Event) -> bool:
        """Lists a refused event, once by its key. False where it was listed or taken in before, and where the
        instance is gone. Raises `Unavailable`."""
        ...


class UnansweredStore(RefusalStore, Protocol):
    """Messages that are not answered, such as those of mailing lists, until somebody releases them."""

    async def counts(self, instance_id: int) -> Mapping[str, int]:
        """By the reason."""
        ...

    async def list(self, instance_id: int, limit: int, offset: int) -> UnansweredPage:
        """The newest first."""
        ...

    async def release(self, instance_id: int, message_id: int) -> bool:
        """Takes a message in as if it were to be answered. False when there is no such message."""
        ...


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
