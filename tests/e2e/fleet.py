"""Gateways, cores and workers of two versions on one database and one Redis, and a load that goes to any gateway."""

import itertools
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from tests.support.ports import free_port
from tests.support.receiver import Receiver
from tests.support.service import ROOT, Service, run_once

SENDERS = 4
PAUSE_S = 0.1
"""Between two messages of one sender: the load goes on while processes start, and shall leave them the machine."""


class Fleet:
    """Two cores at fixed ports, two gateways at fixed ports, workers. A process is of the version whose tree it runs;
    the one that takes a place runs where the former one ran."""

    def __init__(self, stack: ExitStack, folder: Path, settings: Mapping[str, str]) -> None:
        self._stack = stack
        self._folder = folder
        self._settings = settings
        self._numbers = itertools.count()
        self.core_ports = [free_port(), free_port()]
        self.gateway_ports = [free_port(), free_port()]

    def core(self, place: int, root: Path = ROOT) -> Service:
        return self._launch("core", root, GRPC_PORT=str(self.core_ports[place]))

    def gateway(self, place: int, root: Path = ROOT) -> Service:
        """It prefers the core of the other place."""
        targets = ",".join(
            f"127.0.0.1:{port}" for port in (*self.core_ports[1 - place :], *self.core_ports[: 1 - place])
        )
        own = {"HTTP_PORT": str(self.gateway_ports[place]), "CORE_TARGET": f"ipv4:{targets}"}
        return self._launch("gateway", root, shared=False, **own)

    def worker(self, root: Path = ROOT) -> Service:
        return self._launch("worker", root)

    def run(self, *arguments: str, root: Path = ROOT) -> str:
        """A command that ends; what it prints."""
        done = run_once(self._folder / "command", *arguments, settings=self._settings, root=root)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def _launch(self, command: str, root: Path, *, shared: bool = True, **own: str) -> Service:
        settings = {**(self._settings if shared else {}), **own}
        service = Service(self._folder / f"process-{next(self._numbers)}", command, settings, root)
        service.launch()
        self._stack.callback(service.kill_everything)
        return service

    @property
    def gateways(self) -> list[str]:
        return [f"http://127.0.0.1:{port}" for port in self.gateway_ports]


class FleetLoad:
    """Senders that post one message after the other, each again at the other gateway until one takes it, as behind a
    proxy. `refused` are answers other than 200, and `broken` counts connections that a gateway ended or refused."""

    def __init__(self, gateways: Sequence[str], instance_id: int) -> None:
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        self.broken = 0
        self._addresses = [
            f"{gateway}/api/agent/channels/http-webhook/{instance_id}/webhook" for gateway in gateways
        ]
        self._numbers = itertools.count()
        self._stop = threading.Event()

    def _send(self, sender: int) -> None:
        with httpx.Client(timeout=20, trust_env=False) as client:
            while not self._stop.wait(PAUSE_S):
                text = f"message {next(self._numbers)}"
                for address in itertools.islice(itertools.cycle(self._addresses), sender, None):
                    if self._taken(client, address, text, sender) or self._stop.is_set():
                        break

    def _taken(self, client: httpx.Client, address: str, text: str, sender: int) -> bool:
        try:
            answer = client.post(
                address, json={"message": text, "sessionId": f"s{sender}"}, headers={"Idempotency-Key": text}
            )
        except httpx.TransportError:
            self.broken += 1
            return False
        if answer.status_code != 200:
            self.refused.append(f"{answer.status_code} {answer.text}")
            return False
        self.acknowledged.append(text)
        return True

    @contextmanager
    def running(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._send, args=(number,)) for number in range(SENDERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()


def answers_of(receiver: Receiver, sender: int) -> list[str]:
    return [body["response"] for body in list(receiver.bodies) if body["sessionId"] == f"s{sender}"]
