"""`switchboard up` again and again in forks of one process that has paid for the imports; see `failpoints`."""

import base64
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import httpx

from tests.support.failpoints import Stage
from tests.support.ports import free_port
from tests.support.service import READY_S, ROOT, admin_key, environment, state
from tests.support.waiting import until


class Forked:
    """One service on one database, started anew as often as wanted, each time armed for another stage."""

    def __init__(self, folder: Path, database_url: str, **settings: str) -> None:
        ports = {"HTTP_PORT": str(free_port()), "GRPC_PORT": str(free_port())}
        secret = {
            "INTERNAL_SERVICE_KEY": secrets.token_urlsafe(32),
            "CONFIG_ENCRYPTION_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
        }
        shared = {"DATABASE_URL": database_url, "OUTBOUND_ALLOW": "127.0.0.0/8", "LOG_FORMAT": "json"}
        self.settings = environment(folder / "data", {**ports, **secret, **shared, **settings})
        self.base = f"http://127.0.0.1:{ports['HTTP_PORT']}"
        self.key = ""
        self._log = folder / "forked.log"
        self._pid: int | None = None

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Has the process that forks at hand while the block runs."""
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.support.failpoints"],
            env=self.settings,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: SimpleQueue[str] = SimpleQueue()
        reading = threading.Thread(target=self._read, daemon=True)
        reading.start()
        try:
            yield
        finally:
            self._kill()
            assert self._parent.stdin is not None
            self._parent.stdin.close()
            self._parent.wait(60)
            reading.join(60)

    @property
    def output(self) -> str:
        """Standard output and error of the latest start."""
        return self._log.read_text(errors="replace")

    def start(self, stage: Stage | None = None) -> None:
        """Starts it armed for a stage, or for none; returns once it is ready. One that still runs is killed."""
        self._kill()
        order = {"stage": stage and stage.line(), "settings": self.settings, "log": str(self._log)}
        self._log.write_bytes(b"")
        assert self._parent.stdin is not None
        self._parent.stdin.write(json.dumps(order) + "\n")
        self._parent.stdin.flush()
        self._pid = self._said()["pid"]
        until(lambda: "is ready" in self.output or self.gone(), "the service is ready", seconds=READY_S)
        if not (self.key or self.gone()):
            self.key = admin_key(self.base, self.settings["INTERNAL_SERVICE_KEY"])

    def gone(self) -> bool:
        """Whether it died before it could say that it is ready, which an armed one may: work waits for it."""
        assert self._pid is not None
        return state(self._pid) in ("Z", None)

    def ended(self) -> int:
        """Waits for its end; the exit status, negative for a signal."""
        status = int(self._said()["status"])
        self._pid = None
        return status

    def _kill(self) -> None:
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self.ended()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Sends it a signal; its exit status."""
        assert self._pid is not None
        os.kill(self._pid, number)
        return self.ended()

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        """Raises `httpx.TransportError` when the service dies over it."""
        return httpx.post(self.base + path, json=body, headers=headers, timeout=60, trust_env=False)

    def create_instance(self, **fields: Any) -> int:
        answer = self.post("/api/agent/channel-instances", fields, Authorization=f"Bearer {self.key}")
        assert answer.status_code == 201, answer.text
        return int(answer.json()["instanceId"])

    def _read(self) -> None:
        """Line by line, with an empty one for the end."""
        assert self._parent.stdout is not None
        with self._parent.stdout as said:
            for line in said:
                self._lines.put(line)
        self._lines.put("")

    def _said(self) -> dict[str, Any]:
        until(lambda: not self._lines.empty(), "the service starts or ends", seconds=READY_S)
        line = self._lines.get()
        assert line, "the process that forks has ended"
        return dict(json.loads(line))
