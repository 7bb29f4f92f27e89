"""What the service says of its readiness, and how often it looks."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import httpx
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from adapters.inbound.grpc.server import Health
from adapters.inbound.rest import ops
from apps.processes import readiness
from apps.processes.readiness import SharedCheck

AMPLE = 600.0
"""Seconds that no test takes."""


class Looked:
    """A check that counts, waits for `open`, and then raises `error` if there is one."""

    def __init__(self, error: str = "") -> None:
        self.error = error
        self.times = 0
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self) -> None:
        self.times += 1
        await self.open.wait()
        if self.error:
            raise RuntimeError(self.error)


async def ready(checks: Mapping[str, Callable[[], Awaitable[None]]]) -> httpx.Response:
    async def metrics() -> bytes:
        return b""

    transport: Any = httpx.ASGITransport(cast(Any, ops.build(ops.Operations(checks, metrics))))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        return await client.get("/readyz")


@pytest.mark.parametrize("name", ["queue", "workers", "certificates"])
async def test_it_is_ready_and_degraded_while_only_what_nothing_durable_needs_is_away(name: str) -> None:
    answer = await ready({"database": Looked(), name: Looked("it is away"), "migrations": Looked()})
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "checks": {"database": "ok", name: "degraded", "migrations": "ok"},
        "reasons": {name: "it is away"},
    }


@pytest.mark.parametrize("name", ["database", "migrations", "core"])
async def test_it_is_not_ready_without_anything_else(name: str) -> None:
    answer = await ready({name: Looked("it is away"), "queue": Looked("no queue")})
    assert answer.status_code == 503
    assert answer.json()["error"] == f"{name}: it is away"
    assert answer.json()["checks"] == {name: "it is away", "queue": "no queue"}


async def test_it_answers_in_time_while_a_check_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(readiness, "LOOK_SECONDS", AMPLE)
    hanging = Looked()
    hanging.open.clear()
    shared = SharedCheck(hanging)
    for _ in range(2):
        answer = await asyncio.wait_for(ready({"database": shared}), 60)
        assert (answer.status_code, answer.json()["error"]) == (
            503,
            "database: no answer within 0.05 seconds",
        )
    assert hanging.times == 1
    monkeypatch.setattr(ops, "CHECK_SECONDS", AMPLE)
    hanging.open.set()
    await shared()
    assert (await ready({"database": shared})).status_code == 200


async def test_a_look_that_hangs_is_given_up_and_the_next_one_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "LOOK_SECONDS", 0.05)
    hanging = Looked()
    hanging.open.clear()
    shared = SharedCheck(hanging)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(shared(), 60)
    hanging.open.set()
    monkeypatch.setattr(readiness, "LOOK_SECONDS", AMPLE)
    monkeypatch.setattr(readiness, "FRESH_SECONDS", 0.0)
    await shared()
    assert hanging.times == 2


async def test_many_that_ask_at_once_cause_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "FRESH_SECONDS", AMPLE)
    looked = Looked()
    shared = SharedCheck(looked)
    await asyncio.gather(*(shared() for _ in range(100)))
    await shared()
    assert looked.times == 1
    monkeypatch.setattr(readiness, "FRESH_SECONDS", 0.0)
    await shared()
    assert looked.times == 2


async def test_what_is_wrong_is_told_to_all_and_looked_at_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Looked("full")
    shared = SharedCheck(looked)
    found = await asyncio.gather(*(shared() for _ in range(3)), return_exceptions=True)
    assert [str(each) for each in found] == ["full"] * 3
    monkeypatch.setattr(readiness, "FRESH_SECONDS", 0.0)
    looked.error = ""
    await shared()


@pytest.mark.parametrize(("queue", "database", "states"), [("away", "", "NY"), ("", "full", "YN")])
async def test_the_core_serves_without_the_queue_and_not_without_the_database(
    queue: str, database: str, states: str
) -> None:
    health = Health({"queue": Looked(queue), "database": Looked(database)}, needed=["database"])
    await health.look()
    expected = {"queue": states[0] == "Y", "database": states[1] == "Y", "": states[1] == "Y"}
    for name, serving in expected.items():
        answer = await health.servicer.Check(HealthCheckRequest(service=name), None)
        assert (answer.status == HealthCheckResponse.SERVING) is serving, name
