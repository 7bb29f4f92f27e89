"""The server as a child process: started, watched and ended."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from adapters.outbound.storage.embedded.accounts import Account

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


KEPT = re.compile(r"PATH|LD_LIBRARY_PATH|FAKETIME(?!_SHARED)(_[A-Z_]+)?")


def server_environment() -> dict[str, str]:
    """What the server sees of our environment: no secret of ours, and no PG... variable that changes it. What
    libfaketime is told is for both, but for the memory of our own user that it shares."""
    kept = {name: os.environ[name] for name in os.environ if KEPT.fullmatch(name)}
    return {**kept, "TZ": "UTC"}
