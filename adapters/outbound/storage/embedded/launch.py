"""Starts, watches and stops the process of the embedded server, and ends one that an earlier run left behind."""

import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from adapters.outbound.storage.embedded.cluster import summary
from adapters.outbound.storage.embedded.data_paths import (
    Account,
    EmbeddedPostgresError,
    Running,
    answers,
    server_environment,
)
from adapters.outbound.storage.processes import part_of_memory

log = logging.getLogger(__name__)

_GUARD = Path(__file__).with_name("guard.py")


class Child:
    """A `postgres` process that ends when this process does, even by SIGKILL (Linux).

    Linux ties "ended with the parent" to the thread that forked, so a thread is kept for it, which lasts
    as long as the server: callers may use any thread.
    """

    def __init__(self, command: list[str], account: Account, log: Path, cwd: Path) -> None:
        """Starts `command` as `account`, its output appended to `log`."""
        uid, gid = (account.uid, account.gid) if account.demoted else (0, 0)
        preload = os.environ.get("LD_PRELOAD", "")
        ours = [str(os.getpid()), str(uid), str(gid), preload]
        guarded = [sys.executable, "-I", "-S", str(_GUARD), *ours, *command]
        self._ended = threading.Event()
        started: queue.SimpleQueue[subprocess.Popen[bytes] | OSError] = queue.SimpleQueue()
        threading.Thread(
            target=self._run, args=(guarded, log, cwd, started.put), name="embedded-postgres", daemon=True
        ).start()
        process = started.get()
        if isinstance(process, OSError):
            raise process
        self._process = process

    def _run(
        self,
        command: list[str],
        log: Path,
        cwd: Path,
        started: Callable[[subprocess.Popen[bytes] | OSError], None],
    ) -> None:
        try:
            with log.open("ab") as output:
                process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                    command,
                    cwd=cwd,
                    env=server_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            started(error)
            return
        started(process)
        process.wait()
        self._ended.set()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_for_end(self, seconds: float | None = None) -> bool:
        """True once the server has ended, waiting up to `seconds` for it (None: as long as it runs)."""
        return self._ended.wait(seconds)

    def send(self, sign: signal.Signals) -> None:
        """Does nothing where the server has ended."""
        self._process.send_signal(sign)


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
        quoted = str(self.socket_dir).replace('"', '""')
        buffers = f"{part_of_memory(_BUFFERS_PART, 128, _BUFFERS_MOST)}MB"
        settings = {
            **_SETTINGS,
            **(_UNSAFE if self.unsafe else {"shared_buffers": buffers}),
            "listen_addresses": "127.0.0.1" if self.tcp else "",
            "port": str(self.port),
            "unix_socket_directories": f'"{quoted}"',
        }
        command = [str(self.binaries / "postgres"), "-D", str(self.cluster)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        child = self._child = Child(command, self.account, self.log, self.cluster)
        running = Running(str(self.socket_dir), self.port, child.pid)
        deadline = time.monotonic() + _READY_S
        while not answers(running.dsn("postgres"), 5):
            if child.wait_for_end(0):
                said = self.log.read_text(errors="replace").rpartition("starting PostgreSQL")[2]
                reason = summary(said)
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
        resume(self.cluster)
        fast = max(0.1, seconds - _QUIT_S - _KILLED_S)
        for sign, patience in ((signal.SIGINT, fast), (signal.SIGQUIT, _QUIT_S)):
            child.send(sign)
            if child.wait_for_end(patience):
                return
        log.warning("the embedded database does not stop; its processes are killed")
        kill(self.cluster)
        child.wait_for_end(_KILLED_S)

    def abandon(self) -> None:
        """Without waiting: immediate shutdown, which the next start repairs."""
        if self._child is not None:
            resume(self.cluster)
            self._child.send(signal.SIGQUIT)


_FAST_S = 60.0
_AWAIT_KILLED_S = 5.0
_IMMEDIATE_S = 10.0
_PROC = Path("/proc")


def clear(cluster: Path) -> None:
    """End every server process of `cluster` and remove its lock files. Call with the owner lock held.

    The lock says that no living service owns such a server, so it is an orphan: shutting down already, or
    about to be told to. Raises `EmbeddedPostgresError` if one does not end.
    """
    resume(cluster)
    for sign, seconds in ((signal.SIGINT, _FAST_S), (signal.SIGQUIT, _IMMEDIATE_S), (None, _AWAIT_KILLED_S)):
        postmaster = _recorded_pid(cluster)
        if sign is None:
            kill(cluster)
        elif postmaster in _server_pids(cluster):
            _signal(postmaster, sign)
        if _wait_until_none(cluster, seconds):
            break
    else:
        pids = ", ".join(str(pid) for pid in _server_pids(cluster))
        raise EmbeddedPostgresError(f"an earlier database server on {cluster} does not end (process {pids})")
    # With no process of it left these files are stale. Their number may be some other program's by now (in a
    # container it nearly always is) or a zombie's, and then PostgreSQL would refuse to start.
    for stale in (cluster / "postmaster.pid", *cluster.glob(".s.PGSQL.*")):
        stale.unlink(missing_ok=True)


def resume(cluster: Path) -> None:
    """Let processes that were suspended run on: they could not even be told to stop."""
    for pid in _server_pids(cluster):
        _signal(pid, signal.SIGCONT)


def kill(cluster: Path) -> None:
    """The last resort, for servers that hang. All of them at once, as after a power failure: what was committed is
    recovered from the log at the next start."""
    for pid in _server_pids(cluster):
        _signal(pid, signal.SIGKILL)


def _wait_until_none(cluster: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while _server_pids(cluster):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _recorded_pid(cluster: Path) -> int:
    try:
        return int((cluster / "postmaster.pid").read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return 0


def _server_pids(cluster: Path) -> list[int]:
    """The processes of a server on `cluster`: every PostgreSQL process works in its data folder."""
    if not _PROC.is_dir():
        pid = _recorded_pid(cluster)
        if not pid:
            return []
        done = subprocess.run(  # noqa: S603
            ["/bin/ps", "-o", "command=", "-p", str(pid)], check=False, capture_output=True, text=True
        )
        return [pid] if "postgres" in done.stdout else []
    target = os.path.realpath(cluster)
    pids = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            try:
                if str((entry / "cwd").readlink()) == target:
                    pids.append(int(entry.name))
            except OSError:
                continue  # ended meanwhile, or another user's
    return pids


def _signal(pid: int, sign: signal.Signals) -> None:
    try:
        os.kill(pid, sign)
    except ProcessLookupError:
        return
