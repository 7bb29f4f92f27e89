"""Gateway, core and worker as processes of their own."""

from __future__ import annotations

import contextlib
from pathlib import Path

import httpx

from tests.support.ports import free_port
from tests.support.service import ROOT, Service, run_once

LIBRARIES_OF_GATEWAYS = ROOT / "tests/support/gateway_libraries"


class Apart:
    """The three processes; `gateway` is the one that callers see, with the libraries of its image alone."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        ports = {"HTTP_PORT": str(free_port()), "GRPC_PORT": str(free_port())}
        common = {**settings, **ports}
        path = f"{LIBRARIES_OF_GATEWAYS}:{ROOT}:{ROOT / 'proto/gen'}"
        seen_by_gateway = {**{name: common[name] for name in ports}, "PYTHONPATH": path}
        self.metrics = {"core": free_port(), "worker": free_port()}
        """Where the processes without a REST gateway answer operators."""
        self.core = Service(folder / "core", "core", self._with_metrics(common, "core"))
        self.worker = Service(folder / "worker", "worker", self._with_metrics(common, "worker"))
        self.gateway = Service(folder / "gateway", "gateway", seen_by_gateway)
        made = run_once(folder / "core", "keys", "create", "--user", "ann", settings=common)
        assert made.returncode == 0, made.stderr
        self.gateway.key = made.stdout.strip()

    def _with_metrics(self, settings: dict[str, str], command: str) -> dict[str, str]:
        return {**settings, "METRICS_PORT": str(self.metrics[command])}

    def asked(self, command: str, path: str) -> httpx.Response:
        """What the core or the worker answers an operator."""
        return httpx.get(f"http://127.0.0.1:{self.metrics[command]}{path}", timeout=60)

    def __enter__(self) -> Apart:
        with contextlib.ExitStack() as stack:
            for service in (self.core, self.worker, self.gateway):
                stack.enter_context(service)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
