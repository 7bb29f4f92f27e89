"""Connections that the service keeps to platforms, and the pairing of devices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from domain.channels.messages import Event, SessionAlias, SessionRename
from domain.instances.model import LiveSocket
from ports.capabilities import C, Registration


class LinkRecorder(Protocol):
    """Records the state of one instance's connection."""

    async def status(self) -> str | None:
        """The last status, None for a link that was never there."""

    async def set_status(self, status: str) -> None:
        """Records the status, in the instance's configuration too."""

    async def record_code(self, code: str | None) -> None:
        """Records a new pairing code and notifies the owner; None: the code is used or void."""

    async def record_pairing_failure(self, reason: str) -> None:
        """Records why a requested pairing code could not be made."""

    async def set_connected_since(self, since: datetime | None) -> None:
        """Records that the connection is up since then, or down (None)."""

    async def record_failure(self, reason: str) -> None:
        """Records in the instance's health that the connection failed."""

    async def wait_for_code_request(self) -> None:
        """Returns when somebody requests a new pairing code."""


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """How a request for a pairing code ended: with a code or with the reason for none."""

    code: str | None
    error: str


class ConnectionStore(Protocol):
    """Connections of instances, each leased by one process at a time, and requests for pairing codes."""

    async def acquire(self, channel_ids: Sequence[str]) -> Sequence[int]:
        """Takes and renews leases: the instances whose connections this process keeps from now on."""

    async def held_by_other_process(self, channel_ids: Sequence[str]) -> Sequence[int]: ...

    async def release(self, instance_id: int) -> None:
        """Gives up the lease of one instance, where this process has it."""

    async def release_all(self) -> None: ...

    async def removed(self, instance_ids: Sequence[int]) -> Sequence[int]:
        """Those of these instances that were removed. An id that this database never had is not among them: the
        state may belong to another database."""

    def recorder(self, instance_id: int, status_field: str) -> LinkRecorder:
        """`status_field` is the config field for the status, empty for none."""

    async def prepare(self, instance_id: int, status_field: str, initial_status: str) -> None:
        """Creates the link of a new instance, and writes its status into a field of the configuration."""

    async def request(self, instance_id: int) -> int | None:
        """Requests a new pairing code: the number of the request, None after too many within the hour."""

    async def answer(self, instance_id: int, number: int) -> CodeAnswer | None:
        """The answer to a request, or None."""

    async def live(self, user_id: str | None) -> Sequence[LiveSocket]:
        """Those of one user's instances, or all (None), ordered by instance id."""

    async def cursor(self, instance_id: int) -> Mapping[str, object] | None:
        """Where the connection goes on reading."""

    async def store(
        self, instance_id: int, events: Sequence[Event], cursor: Mapping[str, object]
    ) -> Sequence[bool | None] | None:
        """Stores events and cursor in one transaction. Returns for each event whether it is fresh, None for one
        that cannot be stored. If the lease was lost, nothing is stored and the result is None."""


class Notifier(Protocol):
    """Notifies the owner of an instance."""

    async def pairing_code(self, instance_id: int, code: str) -> None:
        """Sends a pairing code to the owner's verified e-mail or messenger identity, best effort."""


class Emit(Protocol):
    """Takes what a connection received. Raises `Unavailable` where it cannot be stored at present."""

    async def __call__(self, event: Event) -> None:
        """Returns once the event is stored."""

    async def join(self, alias: SessionAlias) -> None:
        """Remembers a further id of a session."""

    async def batch(
        self,
        events: Sequence[Event],
        cursor: Mapping[str, object],
        renames: Sequence[SessionRename] = (),
    ) -> None:
        """Renames sessions; stores events, and where the next connection goes on reading, in one transaction."""

    async def cursor(self) -> Mapping[str, object] | None:
        """What the last `batch` stored, also that of another process; None before the first."""


class Connector(Protocol[C]):
    """Keeps a connection to the platform; the supervisor calls `listen` under a lease."""

    def wants(self, config: C, registration: Registration) -> bool:
        """Return True if a connection is kept for the instance. `registration` is the result of the last
        registration of its webhook, empty without one. Pure."""

    def note(self, config: C, registration: Registration) -> str:
        """A sentence on the connection of an instance that wants one, empty where there is nothing to say. Pure."""

    async def listen(self, instance_id: int, config: C, emit: Emit, recorder: LinkRecorder) -> None:
        """Runs until it is cancelled; raises when it cannot go on."""

    async def unlink(self, instance_id: int) -> None:
        """Unlinks the account of a removed instance and clears its stored state."""

    async def stored(self) -> Sequence[int]:
        """The instances of which there is stored state here."""

    def lacks(self) -> str | None:
        """What this installation lacks for the channel, None when nothing."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """A connected channel whose account is linked with a code, entered as `steps` says. Only the process that keeps
    the connection can send and fetch.

    The service writes the status of the link, first `initial_status`, into the config field `status_field`.
    """

    steps: str
    status_field: str
    initial_status: str
