"""Time, ids, random numbers, metrics, traces, the memory service and the job queue. Labels of metrics are few and
bounded: channel ids and outcomes, never users.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, aware, in UTC."""


class Ids(Protocol):
    def request_id(self) -> str:
        """A new UUID (version 4) in its canonical form."""

    def token(self, nbytes: int = 32) -> str:
        """A new URL-safe secret of `nbytes` random bytes, from a cryptographic source."""

    def digits(self, count: int) -> str:
        """`count` random decimal digits, from a cryptographic source."""

    def chance(self) -> float:
        """A random number in [0, 1), for jitter."""


class Meter(Protocol):
    def received(self, channel_id: str, kind: str) -> None:
        """A call of a platform was taken; `kind` says what it was."""

    def refused(self, channel_id: str, reason: str) -> None:
        """A call was refused: failed proof of origin, bad body."""

    def accepted(self, channel_id: str, fresh: bool) -> None:
        """An event is in the inbox; not fresh: a redelivery that was dropped."""

    def processed(self, channel_id: str, outcome: str, waited: float) -> None:
        """A conversation step ended; `waited` is the seconds from the arrival of its event to the start of work."""

    def downstream(self, kind: str, outcome: str, seconds: float) -> None:
        """A downstream resource answered or failed."""

    def throttled(self, channel_id: str, reason: str) -> None:
        """A message had to wait: 'breaker', 'account' or 'conversation' (a cooldown), 'quota' or 'concurrency'."""

    def delivered(self, channel_id: str, outcome: str, seconds: float) -> None:
        """A part was sent, or not; `seconds` is the time of the try."""


class Span(Protocol):
    """Opens a span by its name; keyword arguments are its attributes."""

    def __call__(
        self, name: str, /, traceparent: str = "", **attributes: object
    ) -> AbstractContextManager[object]:
        """`traceparent` names the span that this one belongs to; empty: the present one."""


def no_span(name: str, /, traceparent: str = "", **attributes: object) -> AbstractContextManager[object]:
    return nullcontext()


class MemoryRefused(Exception):
    """The memory service did not acknowledge; the message says why and holds no secret."""


class MemoryNodes(Protocol):
    async def delete(self, base_id: int) -> None:
        """Deletes the nodes of a knowledge base. Raises `MemoryRefused` unless that is acknowledged."""


@dataclass(frozen=True, slots=True)
class MemoryTask:
    """Nodes to delete; `attempts` counts the tries so far."""

    base_id: int
    attempts: int


class JobQueue(Protocol):
    async def enqueue(self, kind: str, subject: int = 0, *, alone: bool = True) -> bool:
        """Asks for a job; False when the same job is waiting or running already, as the two would be one.

        `alone` False: it is asked for even so, because the job itself sees to it that it runs once.

        Raises `Unavailable` when the queue is away.
        """
