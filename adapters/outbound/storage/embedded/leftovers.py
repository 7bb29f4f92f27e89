"""What an earlier run that was killed left behind: a server still shutting down, or its stale pid file."""

import os
import signal
import subprocess
import time
from pathlib import Path

from adapters.outbound.storage.embedded.errors import EmbeddedPostgresError

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
        return [pid] if pid and "postgres" in _command_line(pid) else []
    target = os.path.realpath(cluster)
    found = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            try:
                if str((entry / "cwd").readlink()) == target:
                    found.append(int(entry.name))
            except OSError:
                continue  # ended meanwhile, or another user's
    return found


def _command_line(pid: int) -> str:
    done = subprocess.run(  # noqa: S603
        ["/bin/ps", "-o", "command=", "-p", str(pid)], check=False, capture_output=True, text=True
    )
    return done.stdout


def _signal(pid: int, sign: signal.Signals) -> None:
    try:
        os.kill(pid, sign)
    except ProcessLookupError:
        return
