"""A service on one database that is started again and again, each time armed to kill itself at another stage."""

import base64
import secrets
import signal
from pathlib import Path
from typing import Any

import httpx

from tests.support.failpoints import Stage
from tests.support.plain_http import plain_request
from tests.support.service import Service, admin_key
from tests.support.waiting import until


class ArmedService(Service):
    """`settings` are added to those that it needs; its log is that of the latest start."""

    def __init__(self, folder: Path, database_url: str, **settings: str) -> None:
        shared = {
            "DATABASE_URL": database_url,
            "INTERNAL_SERVICE_KEY": secrets.token_urlsafe(32),
            "CONFIG_ENCRYPTION_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
            "OUTBOUND_ALLOW": "127.0.0.0/8",
        }
        super().__init__(folder / "data", settings={**shared, **settings})

    def start(self, stage: Stage | None = None) -> None:
        """Starts it armed for a stage, or for none; returns once it is ready, or dead, which an armed one may be
        early: work waits for it. One that still runs is killed."""
        if self._process is not None:
            self.kill_everything()
        self.launch(stage)
        until(lambda: "is ready" in self.output or self.is_gone(), "the service is ready")
        if self.key is None and not self.is_gone():
            self.key = admin_key(self.base, self.settings["INTERNAL_SERVICE_KEY"])

    def is_gone(self) -> bool:
        """Return True if it has ended."""
        return self.process.poll() is not None

    def ended(self) -> int:
        """Waits for its end; the exit status, negative for a signal."""
        return self.process.wait(120)

    def terminate(self) -> int:
        """Tells it to stop; the exit status."""
        self.stop(signal.SIGTERM)
        return self.ended()

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        """Raises `httpx.TransportError` when the service dies over it."""
        return plain_request("POST", self.base + path, json=body, headers=headers)
