"""Which worker looks at once for what a notice tells of.

All of them would look, and all but one mostly in vain, at 0.5 to 2 ms of the database each. So notices have numbers,
and each is one worker's turn. The others look a little later, in case that one did not take all, or is gone; the more
of them there are, the later, so that all together look about as often.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

EACH_SECONDS = 0.02
"""For each worker, until those look whose turn it is not: 50 looks a second in all, however many there are."""
ALL = "all"
"""The value of a notice that is every worker's turn."""


class Worker(Protocol):
    def wake(self) -> None: ...

    def wake_within(self, seconds: float) -> None: ...


class Turns:
    """The rank of this worker among all that live. Where their number has just changed, a notice may be nobody's
    turn, or that of two."""

    def __init__(self) -> None:
        self._rank, self._workers = 0, 1

    def set_rank(self, rank: int, workers: int) -> None:
        """`rank`: how many of the workers have a lower id."""
        self._workers = max(1, workers)
        self._rank = min(rank, self._workers - 1)

    def wake(self, worker: Worker, value: str, may_take: Callable[[], bool]) -> bool:
        """Wakes the worker for a notice with this number, at once where it is its turn. Whether it passes its turn on
        to all, as it would not take what is due. A notice without a number comes from an older version."""
        if not value.isdecimal():
            worker.wake()
        elif int(value) % self._workers != self._rank:
            worker.wake_within(self._workers * EACH_SECONDS)
        else:
            worker.wake()
            return self._workers > 1 and not may_take()
        return False
