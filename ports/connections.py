"""A connection that is kept to a platform, and what it takes: `C` is the channel's config type."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.channels.messages import Event, SessionAlias, SessionRename
from ports.capabilities import C, Registration
from ports.links import LinkRecorder


class Emit(Protocol):
    """Takes what a connection received. Raises `Unavailable` where it cannot be stored at present."""

    async def __call__(self, event: Event) -> None:
        """Returns once the event is stored."""
        ...

    async def join(self, alias: SessionAlias) -> None:
        """Remembers a further id of a session."""
        ...

    async def batch(
        self,
        events: Sequence[Event],
        cursor: Mapping[str, object],
        renames: Sequence[SessionRename] = (),
    ) -> None:
        """Renames sessions; stores events, and where the next connection goes on reading, in one transaction."""
        ...

    async def cursor(self) -> Mapping[str, object] | None:
        """What the last `batch` stored, also that of another process; None before the first."""
        ...


class Connector(Protocol[C]):
    """Keeps a connection to the platform; the supervisor calls `listen` under a lease."""

    def wants(self, config: C, registration: Registration) -> bool:
        """Whether a connection is kept for the instance. `registration` is what the last registration of its webhook
        returned, empty where there was none. Pure."""
        ...

    def note(self, config: C, registration: Registration) -> str:
        """A sentence on the connection of an instance that wants one, empty where there is nothing to say. Pure."""
        ...

    async def listen(self, instance_id: int, config: C, emit: Emit, recorder: LinkRecorder) -> None:
        """Runs until it is cancelled; raises when it cannot go on."""
        ...

    async def unlink(self, instance_id: int) -> None:
        """Unlinks the account of a removed instance and clears its stored state."""
        ...

    async def stored(self) -> Sequence[int]:
        """The instances of which there is stored state here."""
        ...

    def lacks(self) -> str | None:
        """What this installation lacks for the channel, None when nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Pairing:
    """A connected channel whose account is linked with a code, entered as `steps` says. Only the process that keeps
    the connection can send and fetch.

    The service writes the status of the link, first `initial_status`, into the config field `status_field`.
    """

    steps: str
    status_field: str
    initial_status: str
