"""Waits for a condition, with a deadline; and lets time pass, or stand still, without waiting."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def until(condition: Callable[[], bool], what: str, *, seconds: float = 60.0) -> None:
    """Return as soon as `condition()` is true; fails the test with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} seconds: {what}"
        time.sleep(0.02)


@contextmanager
def stopped_clock() -> Iterator[None]:
    """The clock of the running event loop stands still while the block runs, so that `let_pass` alone moves it;
    then it goes on from where it stands, as other tests may run in the same loop.
    """
    loop = asyncio.get_running_loop()
    clock = loop.time
    now = clock()
    loop.time = lambda: now  # type: ignore[method-assign]
    try:
        yield
    finally:
        ahead = loop.time() - clock()
        loop.time = lambda: clock() + ahead  # type: ignore[method-assign]


def let_pass(seconds: float) -> None:
    """Puts the clock of the running event loop ahead: whatever waits that long in it is due."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    loop.time = lambda: clock() + seconds  # type: ignore[method-assign]
