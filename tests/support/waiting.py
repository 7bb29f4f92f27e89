"""Waits for a condition, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], bool], what: str, *, seconds: float = 60.0) -> None:
    """Return as soon as `condition()` is true; fails the test with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} seconds: {what}"
        time.sleep(0.02)
