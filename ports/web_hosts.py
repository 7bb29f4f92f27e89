"""What is kept of web servers, for all processes: whose turn it is, and their robots.txt."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KnownRobots:
    """A robots.txt; `error`: why the newest one could not be read. `is_due`: it is to be read again."""

    text: str | None
    error: str | None
    is_due: bool


class WebHosts(Protocol):
    """`host` is scheme, name and port."""

    async def acquire(self, host: str, seconds: float) -> float:
        """Takes the host for so long, at most; 0. Where another request has it, or it rests: seconds until then."""
        ...

    async def release(self, host: str, rest: float) -> None:
        """Gives the host back, to be asked again after so many seconds."""
        ...

    async def robots(self, host: str) -> KnownRobots: ...

    async def keep_robots(self, host: str, text: str | None, error: str | None, seconds: float) -> None:
        """Stores what came of reading robots.txt, good for so long; None: the text that is there stays."""
        ...
