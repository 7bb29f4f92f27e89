"""Work that was just committed goes straight to the worker of the same process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from ports.storage import Lane

L_contra = TypeVar("L_contra", contravariant=True)


class Desk(Protocol[L_contra]):
    """A worker in this process that takes lanes leased together with the commit of their rows."""

    def offer(self, lane: Lane) -> bool:
        """Whether there is a place for the lane; it is kept until `take` or `decline`."""
        ...

    def take(self, leased: L_contra) -> None:
        """The lane is leased to this process: work on it."""
        ...

    def decline(self, lanes: Iterable[Lane], *, doubtful: bool) -> None:
        """The places are free again. `doubtful`: the lanes may have been leased all the same."""
        ...
