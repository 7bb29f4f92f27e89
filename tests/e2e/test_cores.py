"""A gateway before two cores, over mutual TLS: nothing is lost while one is away or certificates are replaced."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grpc
import httpx
import psycopg
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest
from grpc_health.v1.health_pb2_grpc import HealthStub

from tests.support.certificates import LOOPBACK, Issued, new_authority
from tests.support.ports import free_port
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.processes

PAUSE_S = 0.05
"""Between two calls of one thread: the load goes on while processes start, and shall leave them the machine."""
HOOK = "/api/agent/channels/http-webhook/{}/webhook"


class Cluster:
    """Two cores and a gateway."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self._folder = folder
        self.certificates = {"core": folder / "core-tls", "gateway": folder / "gateway-tls"}
        core, gateway = self.certificates["core"], self.certificates["gateway"]
        self.authority = new_authority("first")
        self.write(self.authority, self.authority.pem)
        settings = {
            **settings,
            "GRPC_TLS_CERT_FILE": str(core / "tls.crt"),
            "GRPC_TLS_KEY_FILE": str(core / "tls.key"),
            "GRPC_TLS_CLIENT_CA_FILE": str(core / "ca.crt"),
        }
        ports = [str(free_port()), str(free_port())]
        self.cores = [
            Service(folder / f"core{port}", "core", {**settings, "GRPC_PORT": port}) for port in ports
        ]
        self.gateway = Service(
            folder / "gateway",
            "gateway",
            {
                "CORE_TARGET": f"127.0.0.1:{ports[0]}, localhost:{ports[1]}",
                "CORE_TLS_CA_FILE": str(gateway / "ca.crt"),
                "CORE_TLS_CERT_FILE": str(gateway / "tls.crt"),
                "CORE_TLS_KEY_FILE": str(gateway / "tls.key"),
            },
        )
        self.gateway.key = settings["INTERNAL_SERVICE_KEY"]

    @property
    def processes(self) -> list[Service]:
        return [*self.cores, self.gateway]

    def write(self, issuer: Issued, authorities: bytes) -> None:
        """New certificates for all, signed by `issuer`; the CAs that all trust."""
        for folder in self.certificates.values():
            issuer.issue(*LOOPBACK).write(folder, authorities)

    def rotate(self, issuer: Issued, authorities: bytes) -> None:
        """Replaces the files; returns once all processes use the new ones."""
        seen = [service.output.count("was read again") for service in self.processes]
        self.write(issuer, authorities)

        def in_use() -> bool:
            counts = [service.output.count("was read again") for service in self.processes]
            return all(count > before for count, before in zip(counts, seen, strict=True))

        until(in_use, "the new files are in use")


@pytest.fixture
def cluster(open_folder: Path, external_settings: dict[str, str]) -> Iterator[Cluster]:
    with contextlib.ExitStack() as stack:
        cluster = Cluster(open_folder, external_settings)
        for service in cluster.processes:
            stack.enter_context(service)
        yield cluster


class Load:
    """Posts messages without a key, and reads, in two threads until its end."""

    def __init__(self, gateway: Service, instance: int) -> None:
        self._gateway, self._instance = gateway, instance
        self._numbers = itertools.count()
        self._ended = threading.Event()
        self.answers: Counter[str] = Counter()
        self.posted = 0
        self._threads = [threading.Thread(target=self._run) for _ in range(2)]

    def _run(self) -> None:
        with user(self._gateway) as client:
            while not self._ended.wait(PAUSE_S):
                message = {"message": f"number {next(self._numbers)}"}
                self._count(client.post(HOOK.format(self._instance), json=message))
                self.posted += 1
                self._count(client.get(f"/api/agent/channel-instances/{self._instance}"))

    def _count(self, answer: httpx.Response) -> None:
        self.answers[f"{answer.status_code}" if answer.is_success else answer.text] += 1

    def goes_on(self, calls: int = 40) -> None:
        wanted = self.answers.total() + calls
        until(lambda: self.answers.total() >= wanted, f"{calls} more calls")

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()


def user(gateway: Service) -> httpx.Client:
    """A client for a user, with the key of services."""
    client = gateway.client()
    client.headers["x-user-id"] = "ann"
    return client


def refused_without_certificate(cluster: Cluster) -> bool:
    """Whether a client that trusts the core, and has no certificate, is refused by it."""
    target = f"localhost:{cluster.cores[0].settings['GRPC_PORT']}"
    credentials = grpc.ssl_channel_credentials(cluster.authority.pem)
    with grpc.secure_channel(target, credentials) as channel:
        try:
            HealthStub(channel).Check(HealthCheckRequest(), timeout=20)
        except grpc.RpcError as error:
            return error.code() is grpc.StatusCode.UNAVAILABLE
    return False


def test_no_call_fails_while_a_core_is_killed_and_certificates_are_replaced(
    cluster: Cluster, external_settings: dict[str, str]
) -> None:
    gateway = cluster.gateway
    with user(gateway) as client:
        fields = {"channelId": "http-webhook", "channelName": "x", "downStreamResourceId": "agent::echo"}
        created = client.post("/api/agent/channel-instances", json={**fields, "config": {}}).json()
    assert refused_without_certificate(cluster)
    with Load(gateway, created["instanceId"]) as load:
        load.goes_on()
        killed = cluster.cores[0]
        killed.kill_everything()
        load.goes_on()
        killed.start()
        until(lambda: "can serve again" in gateway.output, "the core is used again")
        load.goes_on()

        first, second = cluster.authority, new_authority("second")
        for issuer, authorities in ((first, first.pem + second.pem), (second, first.pem + second.pem)):
            cluster.rotate(issuer, authorities)
            load.goes_on()
        cluster.rotate(second, second.pem)
        load.goes_on()

        second.issue(*LOOPBACK).write(cluster.certificates["gateway"], second.pem)
        (cluster.certificates["gateway"] / "tls.key").write_bytes(first.key_pem)
        until(lambda: "is not the key of the certificate" in gateway.output, "the fault is in the log")
        load.goes_on()

    assert set(load.answers) == {"200"}, load.answers
    with gateway.client() as client:
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["checks"]["certificates"]) == (200, "degraded")
        assert "switchboard_certificate_faults 1.0" in client.get("/metrics").text
    with psycopg.connect(external_settings["DATABASE_URL"]) as connection:
        row = connection.execute("SELECT count(*) FROM inbox").fetchone()
    assert row == (load.posted,)
