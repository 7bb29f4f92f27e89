"""One server process: its settings, and the wait until it answers."""

import logging
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from adapters.outbound.storage.embedded import leftovers
from adapters.outbound.storage.embedded.accounts import Account
from adapters.outbound.storage.embedded.child import Child
from adapters.outbound.storage.embedded.cluster import summary
from adapters.outbound.storage.embedded.errors import EmbeddedPostgresError
from adapters.outbound.storage.embedded.running import Running
from adapters.outbound.storage.machine import part_of_memory

log = logging.getLogger(__name__)

# Recovery after a crash replays at most max_wal_size of log before the server answers.
_READY_S = 300.0
_STOP_S = 7.0
_QUIT_S = 0.7
_KILLED_S = 0.3
_POLL_S = 0.02

_SETTINGS = {
    "shared_buffers": "128MB",
    "max_connections": "100",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "max_parallel_maintenance_workers": "0",  # they need more of /dev/shm than a container gives
    "max_logical_replication_workers": "0",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "logging_collector": "off",
}
if sys.platform == "linux":
    # After a crash the files are synced before recovery: one call for all of them instead of one for each
    # of a thousand (about 0.5 s instead of 3 s on a slow disk).
    _SETTINGS["recovery_init_sync_method"] = "syncfs"
_UNSAFE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_BUFFERS_PART, _BUFFERS_MOST = 8, 2048
"""Buffers take up to this part of the memory, and so many megabytes; only what is used is ever taken."""


@dataclass(slots=True)
class Launch:
    """How to start the server on `cluster`, any number of times, always under the same address."""

    binaries: Path
    account: Account
    cluster: Path
    log: Path
    socket_dir: Path
    port: int
    tcp: bool
    unsafe: bool
    _child: Child | None = field(default=None, init=False)

    def start(self, stopping: threading.Event) -> Running:
        """Start it, and wait until it answers.

        Raises `EmbeddedPostgresError` if it does not, and as soon as `stopping` is set.
        """
        child = self._child = Child(self._command(), self.account, self.log, self.cluster)
        running = Running(str(self.socket_dir), self.port, child.pid)
        deadline = time.monotonic() + _READY_S
        while not _answers(running):
            if child.wait_for_end(0):
                reason = summary(_log_of_this_start(self.log))
                raise EmbeddedPostgresError(f"the database did not start: {reason} (see {self.log})")
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(
                    f"the database does not answer after {_READY_S:.0f} s (see {self.log})"
                )
            if stopping.wait(_POLL_S):
                raise EmbeddedPostgresError("the database was told to stop while it was starting")
        return running

    def wait_for_end(self) -> None:
        if self._child is not None:
            self._child.wait_for_end()

    def stop(self, seconds: float = _STOP_S) -> None:
        """End it within about `seconds`: fast shutdown, then the immediate one, then SIGKILL to all its processes.

        The next start repairs the last two. A server that is suspended runs on, so that it can be told to stop.
        """
        child = self._child
        if child is None or child.wait_for_end(0):
            return
        leftovers.resume(self.cluster)
        fast = max(0.1, seconds - _QUIT_S - _KILLED_S)
        for sign, patience in ((signal.SIGINT, fast), (signal.SIGQUIT, _QUIT_S)):
            child.send(sign)
            if child.wait_for_end(patience):
                return
        log.warning("the embedded database does not stop; its processes are killed")
        leftovers.kill(self.cluster)
        child.wait_for_end(_KILLED_S)

    def abandon(self) -> None:
        """Without waiting: immediate shutdown, which the next start repairs."""
        if self._child is not None:
            leftovers.resume(self.cluster)
            self._child.send(signal.SIGQUIT)

    def _command(self) -> list[str]:
        quoted = str(self.socket_dir).replace('"', '""')
        settings = {
            **_SETTINGS,
            **(_UNSAFE if self.unsafe else {"shared_buffers": _buffers()}),
            "listen_addresses": "127.0.0.1" if self.tcp else "",
            "port": str(self.port),
            "unix_socket_directories": f'"{quoted}"',
        }
        command = [str(self.binaries / "postgres"), "-D", str(self.cluster)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        return command


def _buffers() -> str:
    return f"{part_of_memory(_BUFFERS_PART, 128, _BUFFERS_MOST)}MB"


def _log_of_this_start(log: Path) -> str:
    return log.read_text(errors="replace").rpartition("starting PostgreSQL")[2]


def _answers(running: Running) -> bool:
    try:
        psycopg.connect(running.dsn("postgres"), connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True
