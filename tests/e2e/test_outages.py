"""The database and the queue go away under a running service, and come back."""

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from adapters.inbound.jobs.uploads import STEADY_SECONDS
from adapters.outbound.storage.embedded import EmbeddedPostgres
from adapters.outbound.storage.migrate import migrate
from adapters.outbound.storage.queue.statements import LEASE_SECONDS
from tests.drivers.platform import PlatformDriver
from tests.support.armed_service import ArmedService
from tests.support.folders import an_open_folder
from tests.support.platforms.odoo import DATABASE, KEY, LOGIN, Odoo
from tests.support.ports import free_port
from tests.support.receiver import Receiver
from tests.support.redis import redis_program, running_redis
from tests.support.service import STOPPED_S
from tests.support.waiting import until

pytestmark = pytest.mark.processes

AWAY = "the database is away for the moment; try again shortly"
QUEUE_AWAY = "the job queue is away for the moment; try again shortly"
QUEUE_LOST = "the job queue is away ("
DEADLINE = 20.0
"""Seconds within which a refusal comes: at most one or two, were this machine not busy with something else."""


class Server:
    """A PostgreSQL on TCP that is stopped and started."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self.start()
        migrate(self._dsn)
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute("CREATE ROLE app SUPERUSER LOGIN PASSWORD 'sesame'")
            self.url = f"postgresql://app:sesame@127.0.0.1:{self._port}/{connection.info.dbname}"

    def start(self) -> None:
        self._postgres = EmbeddedPostgres(self._folder, fast_and_unsafe=True, tcp_port=self._port)
        self._dsn = self._postgres.start()

    def stop(self) -> None:
        self._postgres.stop()

    def fetch(self, query: str) -> list[Any]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(query).fetchall()

    @contextmanager
    def away(self) -> Iterator[None]:
        self.stop()
        yield
        self.start()


@pytest.fixture
def server() -> Iterator[Server]:
    with an_open_folder() as folder:
        made = Server(folder)
        yield made
        made.stop()


class Barrier:
    """Lets calls through, or holds them up; `reached` counts those that came."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._open.set()
        self._came: list[Any] = []

    @property
    def reached(self) -> int:
        return len(self._came)

    def shut(self) -> None:
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    def passing(self, answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def held(body: Any) -> Any:
            self._came.append(body)
            assert self._open.wait(300)
            return answer(body)

        return held


@dataclass
class Scene:
    """A service with a resource and a receiver of answers, each behind a gate."""

    service: ArmedService
    resource: Receiver
    receiver: Receiver
    resource_gate: Barrier
    receiver_gate: Barrier
    instances: dict[bool, int] = field(default_factory=dict)

    def begin(self) -> None:
        for waits in (False, True):
            self.instances[waits] = self.service.create_instance(
                channelId="http-webhook",
                channelName=f"waits {waits}",
                config={"responseWebhookUrl": self.receiver.url, "syncResponse": waits},
                downStreamResourceId="agent::helper",
            )["instanceId"]

    def say(self, text: str, *, waits: bool = False) -> httpx.Response:
        path = f"/api/agent/channels/http-webhook/{self.instances[waits]}/webhook"
        return httpx.post(
            self.service.base + path,
            json={"message": text, "sessionId": text},
            headers={"Idempotency-Key": text},
            timeout=60,
            trust_env=False,
        )

    def get(self, path: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.service.key}"}
        return httpx.get(self.service.base + path, headers=headers, timeout=60, trust_env=False)

    @property
    def answers(self) -> list[str]:
        return [body["response"] for body in self.receiver.bodies]

    def answered(self, *texts: str) -> None:
        until(lambda: {f"heard {text}" for text in texts} <= set(self.answers), f"answers to {texts}")


@contextmanager
def a_scene(folder: Path, database_url: str, **settings: str) -> Iterator[Scene]:
    gates = Barrier(), Barrier()
    resource = Receiver(gates[0].passing(lambda body: {"text": f"heard {body['text']}"}))
    with (
        resource,
        Receiver(gates[1].passing(lambda _: None)) as receiver,
        ArmedService(folder, database_url, DOWNSTREAM_URL=resource.url, **settings) as service,
    ):
        scene = Scene(service, resource, receiver, *gates)
        scene.begin()
        yield scene
        began = time.monotonic()
        assert service.terminate() == 0
        assert time.monotonic() - began < STOPPED_S
        assert "Traceback" not in service.output


def test_the_database_goes_away_and_comes_back(server: Server, open_folder: Path) -> None:
    with a_scene(open_folder, server.url) as scene, ThreadPoolExecutor() as aside:
        scene.receiver_gate.shut()
        assert scene.say("reply under way").status_code == 200
        until(lambda: scene.receiver_gate.reached == 1, "the reply is under way")
        scene.resource_gate.shut()
        assert scene.say("being worked on").status_code == 200
        waiting = aside.submit(scene.say, "waiting call", waits=True)
        until(lambda: scene.resource_gate.reached == 3, "both are being worked on")

        began = time.monotonic()
        with server.away():
            scene.receiver_gate.open()
            scene.resource_gate.open()
            refused(lambda: scene.say("refused"))
            refused(lambda: scene.say("refused too", waits=True))
            refused(lambda: scene.get("/api/agent/channel-instances"))
            until(lambda: readiness(scene, "database") == (503, AWAY), "it is not ready")
            assert scene.get("/healthz").status_code == 200
            assert scene.get("/metrics").status_code == 200

        until(lambda: scene.get("/readyz").status_code == 200, "it is ready again")
        until(lambda: scene.say("afterwards").status_code == 200, "it takes messages again")
        scene.answered("reply under way", "being worked on", "afterwards")
        answer = waiting.result(60)
        assert (answer.status_code, answer.json()["response"]) == (200, "heard waiting call")
        until(lambda: settled(server), "everything is noted")
        if time.monotonic() - began < LEASE_SECONDS:  # what it did is kept for so long
            assert sorted(scene.answers) == [
                "heard afterwards",
                "heard being worked on",
                "heard reply under way",
            ]
            assert len(scene.resource.bodies) == 4, "what the outage kept from being noted is not done again"
        listening = "SELECT query FROM pg_stat_activity WHERE application_name = 'switchboard-signals'"
        until(lambda: server.fetch(listening) == [('LISTEN "switchboard"',)], "it listens for wake-ups again")
        told = re.findall(r'"the database is (away|back)"', scene.service.output)
        assert told[:2] == ["away", "back"]
        assert all(one != next_one for one, next_one in pairwise(told)), "it is told only when that changes"


def test_it_stops_in_time_while_the_database_is_away_and_a_resource_hangs(
    server: Server, open_folder: Path
) -> None:
    with ThreadPoolExecutor() as aside, contextlib.ExitStack() as after:
        with a_scene(open_folder, server.url) as scene:
            after.callback(scene.resource_gate.open)
            scene.resource_gate.shut()
            assert scene.say("being worked on").status_code == 200
            waiting = aside.submit(scene.say, "waiting call", waits=True)
            until(lambda: scene.resource_gate.reached == 2, "both are being worked on")
            server.stop()
        answer = waiting.result(60)
        assert (answer.status_code, answer.json()) == (503, {"error": "the service is stopping"})
        server.start()


def readiness(scene: Scene, needed: str) -> tuple[int, str]:
    """The status of the answer, and what it says of one of the things that are needed."""
    answer = scene.get("/readyz")
    return answer.status_code, answer.json()["checks"][needed]


def refused(call: Callable[[], httpx.Response]) -> None:
    """In an outage: a clear error in time, which asks for another try."""
    began = time.monotonic()
    answer = call()
    assert time.monotonic() - began < DEADLINE
    assert (answer.status_code, answer.json()) == (503, {"error": AWAY})
    assert int(answer.headers["retry-after"]) > 0


def settled(server: Server) -> bool:
    return server.fetch(
        "SELECT (SELECT count(*) FROM inbox WHERE status = 0), (SELECT count(*) FROM outbox WHERE status <> 1),"
        " (SELECT count(*) FROM queue WHERE owner IS NOT NULL)"
    ) == [(0, 0, 0)]


def test_the_queue_goes_away_and_comes_back_empty(database_url: str, open_folder: Path) -> None:
    program, port = redis_program(), free_port()
    if program is None:
        pytest.skip("no redis-server")
    with contextlib.ExitStack() as stack:
        queue = stack.enter_context(contextlib.ExitStack())
        url = queue.enter_context(running_redis(program, port))
        scene = stack.enter_context(a_scene(open_folder, database_url, REDIS_URL=url))
        platform = PlatformDriver()
        stack.callback(platform.close)
        platform.show(odoo := Odoo())
        config = {**ERP, "erpUrl": platform.url}
        scene.service.create_instance(channelId="erp-events", channelName="polled", config=config)
        polled(odoo, 1)
        queue.close()
        began = time.monotonic()

        until(lambda: readiness(scene, "queue") == (200, "degraded"), "it is degraded")
        until(lambda: scene.get("/readyz").json().get("reasons") == {"queue": QUEUE_AWAY}, "it says why")
        assert scene.say("without a queue").status_code == 200
        assert scene.say("at once", waits=True).json()["response"] == "heard at once"
        scene.answered("without a queue")
        until(lambda: QUEUE_LOST in scene.service.output, "its worker noticed")
        before = len(odoo.reads)

        stack.enter_context(running_redis(program, port))
        until(lambda: readiness(scene, "queue") == (200, "ok"), "the queue is back")
        polled(odoo, before + 2)
        assert scene.service.output.count(QUEUE_LOST) <= 1 + (time.monotonic() - began) / STEADY_SECONDS


ERP = {
    "database": DATABASE,
    "username": LOGIN,
    "password": KEY,
    "models": "res.partner",
    "events": "create",
    "checkInterval": 0.03,
}


def polled(odoo: Odoo, times: int) -> None:
    until(lambda: len(odoo.reads) >= times, f"{times} polls", seconds=120)
