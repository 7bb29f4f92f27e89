"""Whole processes of the service for tests: started as a user starts them, stopped by a signal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.waiting import until

ROOT = Path(__file__).parents[2]


@dataclass
class Running:
    """A process of `switchboard up`: its address, its first admin key, and what it wrote so far."""

    process: subprocess.Popen[bytes]
    output: Path
    errors: Path
    address: str = ""
    key: str = ""

    @property
    def log(self) -> str:
        return self.errors.read_text("utf-8", "replace")

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)


@contextmanager
def switchboard_up(**settings: str) -> Iterator[Running]:
    """`switchboard up` on a free port and a fresh DATA_DIR; stopped by SIGTERM at the end."""
    with tempfile.TemporaryDirectory(prefix="sb-e2e-") as folder:
        Path(folder).chmod(0o755)
        environment = {"HTTP_PORT": "0", "GRPC_PORT": "0", "DATA_DIR": f"{folder}/data", **settings}
        running = _start(Path(folder), environment)
        try:
            until(lambda: _ready(running), "switchboard is ready", seconds=120)
            yield running
        finally:
            _stop(running.process)


def _start(folder: Path, settings: Mapping[str, str]) -> Running:
    output, errors = folder / "output", folder / "errors"
    with output.open("wb") as written, errors.open("wb") as complained:
        process = subprocess.Popen(
            [sys.executable, "-m", "apps.cli", "up"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/proto/gen", **settings},
            stdout=written,
            stderr=complained,
        )
    return Running(process, output, errors)


def _ready(running: Running) -> bool:
    assert running.process.poll() is None, f"switchboard ended:\n{running.log}"
    text = running.output.read_text("utf-8")
    address = re.search(r"REST gateway\s+(http://\S+)", text)
    key = re.search(r"Admin API key.*\n\s+(\S+)\n", text)
    if address and key:
        running.address, running.key = address[1], key[1]
    return bool(running.key)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(60)
        raise
