"""Work that was just committed goes straight to the worker of the same process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from ports.queue import QueueKey

L_contra = TypeVar("L_contra", contravariant=True)


class LocalWorker(Protocol[L_contra]):
    """A worker in this process that takes lanes leased together with the commit of their rows."""

    def offer(self, key: QueueKey) -> bool:
        """Whether there is a place for the lane; it is kept until `take` or `decline`."""
        ...

    def take(self, leased: L_contra) -> None:
        """The lane is leased to this process: work on it."""
        ...

    def decline(self, keys: Iterable[QueueKey], *, lease_uncertain: bool) -> None:
        """The places are free again. `lease_uncertain`: the lanes may have been leased all the same."""
        ...
