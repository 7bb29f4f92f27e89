"""Gateway, core and worker as processes of their own."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tests.support.ports import free_port
from tests.support.service import Service, run_once


class Apart:
    """The three processes; `gateway` is the one that callers see."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        ports = {"HTTP_PORT": str(free_port()), "GRPC_PORT": str(free_port())}
        common = {**settings, **ports}
        seen_by_gateway = {name: common[name] for name in ports}
        self.core = Service(folder / "core", "core", common)
        self.worker = Service(folder / "worker", "worker", common)
        self.gateway = Service(folder / "gateway", "gateway", seen_by_gateway)
        made = run_once(folder / "core", "keys", "create", "--user", "ann", settings=common)
        assert made.returncode == 0, made.stderr
        self.gateway.key = made.stdout.strip()

    def __enter__(self) -> Apart:
        with contextlib.ExitStack() as stack:
            for service in (self.core, self.worker, self.gateway):
                stack.enter_context(service)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
