"""The server as a child process: started, watched and ended."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path

from adapters.outbound.storage.embedded.accounts import Account

_GUARD = Path(__file__).with_name("guard.py")


class Child:
    """A `postgres` process that ends when this process does, even by SIGKILL (Linux)."""

    def __init__(self, process: subprocess.Popen[bytes], ended: threading.Event) -> None:
        self._process = process
        self._ended = ended

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_for_end(self, seconds: float | None = None) -> bool:
        """True once the server has ended, waiting up to `seconds` for it (None: as long as it runs)."""
        return self._ended.wait(seconds)

    def send(self, sign: signal.Signals) -> None:
        """Send a signal; nothing happens where the server has ended."""
        self._process.send_signal(sign)


def spawn(command: list[str], account: Account, log: Path, cwd: Path) -> Child:
    """Start `command` as `account`, its output appended to `log`.

    Linux ties "ended with the parent" to the thread that forked, so a thread is kept for it, which lasts
    as long as the server: callers may use any thread.
    """
    uid, gid = (account.uid, account.gid) if account.demoted else (0, 0)
    guarded = [sys.executable, "-I", "-S", str(_GUARD), str(os.getpid()), str(uid), str(gid), *command]
    started: queue.SimpleQueue[subprocess.Popen[bytes] | OSError] = queue.SimpleQueue()
    ended = threading.Event()

    def keep() -> None:
        try:
            with log.open("ab") as output:
                process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                    guarded,
                    cwd=cwd,
                    env=server_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            started.put(error)
            return
        started.put(process)
        process.wait()
        ended.set()

    threading.Thread(target=keep, name="embedded-postgres", daemon=True).start()
    first = started.get()
    if isinstance(first, OSError):
        raise first
    return Child(first, ended)


def server_environment() -> dict[str, str]:
    """What the server sees of our environment: no secret of ours, and no PG... variable that changes it."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "TZ": "UTC"}
