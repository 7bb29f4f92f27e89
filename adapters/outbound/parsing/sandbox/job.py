"""One file's work in a child of the fork server, followed by a thread of the service."""

import contextlib
import logging
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from adapters.outbound.parsing.reading import Limits
from adapters.outbound.parsing.sandbox import frames
from adapters.outbound.parsing.sandbox.fork_server import ForkServer, ForkServerLost
from domain.refusals import Refusal, TooLarge, Unavailable, Unreadable, Unsupported

_log = logging.getLogger(__name__)

_EXIT_SECONDS = 60.0
"""How long the fork server may take to report an exit: it may be importing what another file needs."""
_REFUSALS: dict[str, type[Refusal]] = {
    kind.reason: kind for kind in (Unsupported, Unreadable, TooLarge, Unavailable)
}
_OUT_OF_MEMORY = ("memory allocation", "bad_alloc", "out of memory", "cannot allocate", "MemoryError")


class SandboxJob:
    """`run` blocks until the child's end; `cancel` may come from any thread."""

    def __init__(self, server: ForkServer, request: dict[str, Any], limits: Limits) -> None:
        self._server = server
        self._request = {**request, "limits": asdict(limits)}
        self._limits = limits
        self._name: str = request["name"]
        self._done = False
        self._cancelled = False
        self._status, self._far_status = socket.socketpair()
        self._out, self._far_out = socket.socketpair()

    def run(self, take: Callable[[str, Any], None]) -> None:
        """Gives every frame to `take` until the child has ended well.

        Raises the child's refusal, or what its exit means; `ForkServerLost` when nothing is known of it.
        """
        with self._status, self._out:
            with self._far_status, self._far_out:
                frames.send(self._status, "request", self._request)
                pid = self._server.submit(self._far_status, self._far_out)
            lost = False
            try:
                refused = self._receive_all(take)
                end = self._exit()
                lost = end is None and not self._cancelled
            finally:
                self._server.finished(pid, lost=lost)
            if refused is not None:
                raise refused
            if not self._done:
                raise ForkServerLost if end is None else self._meaning(int(end["code"]), str(end["stderr"]))

    def cancel(self) -> None:
        """Hangs up: the fork server kills the child, and `run` ends."""
        self._cancelled = True
        for end in (self._status, self._out):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes the sockets of a job that was never run."""
        for end in (self._status, self._far_status, self._out, self._far_out):
            end.close()

    def _receive_all(self, take: Callable[[str, Any], None]) -> Refusal | None:
        """Takes frames until the child closes its end; gives back its refusal, or ours of its slowness."""
        deadline = time.monotonic() + self._limits.total_seconds
        try:
            while True:
                left = min(self._limits.quiet_seconds, deadline - time.monotonic())
                if left <= 0:
                    raise TimeoutError
                self._out.settimeout(left)
                frame = frames.receive(self._out)
                if frame is None:
                    return None
                kind, payload = frame
                if kind == frames.REFUSED:
                    return self._refusal(*payload)
                self._done = kind in (frames.DONE, frames.FILE_TYPE, frames.WEB_PAGE)
                take(kind, payload)
        except (ValueError, TypeError, KeyError):
            self._status.shutdown(socket.SHUT_WR)
            return Unreadable(f"{self._name} cannot be read: its content made the reader send invalid data")
        except TimeoutError:
            self._status.shutdown(socket.SHUT_WR)  # the fork server kills the child and reports its exit
            return self._too_large("reading it takes longer than a file may take")

    def _refusal(self, reason: str, message: str, logged: str) -> Refusal:
        if logged:
            _log.warning("%s could not be read: %s", self._name, logged)
        return _REFUSALS[reason](message)

    def _exit(self) -> dict[str, Any] | None:
        """How the child ended, once its scratch folder is gone; None when it is not reported, or never began."""
        self._status.settimeout(_EXIT_SECONDS)
        try:
            frame = frames.receive(self._status)
        except TimeoutError:
            return None
        end: dict[str, Any] | None = frame and frame[1]
        if end is not None and end["code"] is None:
            _log.warning("no reader of %s could be started: %s", self._name, end["stderr"])
            return None
        return end

    def _meaning(self, code: int, stderr: str) -> Refusal:
        _log.warning("the reader of %s ended with %s: %s", self._name, code, stderr)
        if -code in (signal.SIGXCPU, signal.SIGKILL, signal.SIGXFSZ):
            return self._too_large("reading it takes more time or memory than a file may take")
        if any(sign in stderr for sign in _OUT_OF_MEMORY):
            return self._too_large("reading it needs more memory than a file may take")
        end = signal.Signals(-code).name if code < 0 else f"exit {code}"
        return Unreadable(f"{self._name} cannot be read: its content made the reader crash ({end})")

    def _too_large(self, reason: str) -> TooLarge:
        return TooLarge(f"{self._name} is too large: {reason}")
