"""The end of a process: the first signal asks for it, the second one and the deadline force it."""

import atexit
import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

log = logging.getLogger("switchboard")

DEADLINE = 9.3
"""Seconds from the first signal to the forced end; the documentation promises ten."""
LAST_RESORT = 0.5
"""Seconds after the deadline at which the kernel ends a process in which no thread gets to run."""
INTERRUPTED = 130
"""Exit status of a process that was told to stop before it was ready."""


class Shutdown:
    """Takes SIGTERM and SIGINT of this process, and enforces the deadline of its end.

    The first signal calls what `asking` was given, or raises `KeyboardInterrupt` where nothing was given; any
    further one ends the process at once with status 128 plus its number.
    """

    def __init__(self, deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._signals = 0
        self._ends_at: float | None = None
        self._ask: Callable[[], object] | None = None
        self._last_steps: list[Callable[[], None]] = []
        self._status: int | None = None
        self.stage = "starting"

    def take_signals(self) -> None:
        """To be called by the main thread, before anything that may block."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signalled)
        atexit.register(self._skip_finalization)

    @contextmanager
    def asking(self, ask: Callable[[], object]) -> Iterator[None]:
        """While the block runs the first signal calls `ask`, in the main thread between any two instructions."""
        self._ask = ask
        try:
            yield
        finally:
            self._ask = None

    def begin(self) -> None:
        """From here on the deadline runs. May be called again."""
        if self._ends_at is not None:
            return
        self._ends_at = time.monotonic() + self._deadline
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self._deadline + LAST_RESORT)
        threading.Thread(target=self._watch, name="shutdown-deadline", daemon=True).start()

    def remaining(self) -> float | None:
        """Seconds until the forced end; None while the process does not end."""
        return None if self._ends_at is None else max(0.0, self._ends_at - time.monotonic())

    def stopped(self, status: int) -> None:
        """Everything has stopped: the process ends with this status once its threads have ended."""
        self._status = status

    @contextmanager
    def last_step(self, step: Callable[[], None]) -> Iterator[None]:
        """While the block runs a forced end calls `step` first, which must not block."""
        self._last_steps.append(step)
        try:
            yield
        finally:
            self._last_steps.remove(step)

    def _signalled(self, number: int, _: FrameType | None) -> None:
        self._signals += 1
        if self._signals > 1:
            self._end(128 + number)
        already = self._ends_at is not None
        self.begin()
        if self._ask is not None:
            self._ask()
        elif not already:
            raise KeyboardInterrupt

    def _skip_finalization(self) -> None:
        """The interpreter would destroy all objects, for seconds on a busy machine, while no thread runs that could
        end it."""
        if self._ends_at is not None and self._status is not None:
            self._leave(self._status)

    def _watch(self) -> None:
        while left := self.remaining():
            time.sleep(left)
        log.error(
            "the process did not end within %g seconds (%s); it is ended now", self._deadline, self.stage
        )
        self._leave(1)

    def _leave(self, status: int) -> NoReturn:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        self._end(status)

    def _end(self, status: int) -> NoReturn:
        for step in self._last_steps:
            with contextlib.suppress(Exception):
                step()
        os._exit(status)


PROCESS = Shutdown()
"""This process's: signals belong to the whole of it."""
