"""Starts `switchboard` in forks of one process that has imported it: an import takes three seconds of the processor,
a fork none. What is forked has a session, an environment and a log of its own, as a process of its own would.

The process that forks reads one line of JSON for each start (arguments, settings, output, errors, stage), and writes
one with the id of the new process, and one with the id and the status of each that ends.
"""

import atexit
import functools
import importlib
import json
import os
import pkgutil
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import apps
from tests.support.failpoints import Stage, arm

ROOT = Path(__file__).parents[2]
IMPORTED_LATE = ("fakeredis.aioredis", "uvicorn.protocols.http.httptools_impl")


class Forked:
    """A process that was forked; its methods are those of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = threading.Event()

    def end(self, status: int) -> None:
        self.returncode = status
        self._ended.set()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, negative for a signal. Raises `subprocess.TimeoutExpired`."""
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired("switchboard", timeout or 0)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Does nothing where the process has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Launcher:
    """The process that forks, seen from the tests; it ends with the process of the tests."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.support.launcher"],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'proto/gen'}"},
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        self._starting = threading.Lock()
        self._started: SimpleQueue[Forked | None] = SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        atexit.register(self._parent.kill)

    def start(
        self,
        arguments: Sequence[str],
        settings: Mapping[str, str],
        output: Path,
        errors: Path | None = None,
        stage: Stage | None = None,
    ) -> Forked:
        """Runs `switchboard` with some arguments. `output`: the file for its standard output, and for its errors
        where they have none of their own. `stage`: where it kills itself."""
        order = {
            "arguments": list(arguments),
            "settings": dict(settings),
            "output": str(output),
            "errors": str(errors or output),
            "stage": stage and stage.line(),
        }
        assert self._parent.stdin is not None
        with self._starting:
            self._parent.stdin.write(json.dumps(order) + "\n")
            self._parent.stdin.flush()
            process = self._started.get()
        if process is None:
            raise RuntimeError("the process that forks has ended; its traceback is above")
        return process

    def _read(self) -> None:
        assert self._parent.stdout is not None
        running: dict[int, Forked] = {}
        for line in self._parent.stdout:
            told = json.loads(line)
            if "status" in told:
                running.pop(told["pid"]).end(told["status"])
            else:
                running[told["pid"]] = process = Forked(told["pid"])
                self._started.put(process)
        self._started.put(None)


@functools.cache
def launcher() -> Launcher:
    """That of this process of the tests."""
    return Launcher()


def main() -> None:
    for name in (*IMPORTED_LATE, *(module.name for module in pkgutil.walk_packages(apps.__path__, "apps."))):
        importlib.import_module(name)
    waiting = selectors.DefaultSelector()
    waiting.register(sys.stdin, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            if key.fileobj is sys.stdin:
                line = sys.stdin.readline()
                if not line:
                    return
                order = json.loads(line)
                pid = os.fork()
                if not pid:
                    waiting.close()
                    sys.exit(_run(order))
                print(json.dumps({"pid": pid}), flush=True)
                waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, pid)
            else:
                _, status = os.waitpid(key.data, 0)
                waiting.unregister(key.fd)
                os.close(key.fd)
                ended = {"pid": key.data, "status": os.waitstatus_to_exitcode(status)}
                print(json.dumps(ended), flush=True)


def _run(order: Mapping[str, Any]) -> int:
    from apps.cli import main as switchboard

    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name, number in (("output", 1), ("errors", 2)):
        file = os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(file, number)
        os.close(file)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(order["settings"])
    if order["stage"]:
        arm(Stage(**order["stage"]))
    return switchboard(order["arguments"])


if __name__ == "__main__":
    main()
