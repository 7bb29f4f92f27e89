"""The steps of fairness.feature."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from aiohttp import web
from pytest_bdd import given, parsers, scenarios, then, when

from apps.processes.components import WorkerComponent
from domain.routing.model import RunRequest, RunResult
from tests.drivers.receiver import Receiver
from tests.drivers.ways import Rest
from tests.drivers.world import PATIENCE, World
from tests.support.servers import close_runner
from tests.support.waiting import until

SETTINGS = {"WORKER_CONCURRENCY": "16"}
scenarios("fairness.feature")


class Scene:
    """Instances, what hangs, and how many were at work at a time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rest = Rest(world)
        self.receiver = Receiver(world)
        self.instances: list[int] = []
        self.hanging: set[int] = set()
        self.hanging_sessions: set[str] = set()
        self.at_work: Counter[int] = Counter()
        self.most: Counter[object] = Counter()
        self.under_way = 0
        self.answered: asyncio.Queue[str] = asyncio.Queue()
        self.release = asyncio.Event()
        world.container.resources().router.default = self
        self.stuck_url = world.run(self._stuck())

    async def _stuck(self) -> str:
        app = web.Application()
        app.router.add_post("/stuck", self._hang)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}/stuck"

    async def _hang(self, request: web.Request) -> web.Response:
        self.under_way += 1
        self.most["under way"] = max(self.most["under way"], self.under_way)
        try:
            await self.release.wait()
        finally:  # also when the service gives up, which on a slow machine it does
            self.under_way -= 1
        return web.Response()

    async def run(self, request: RunRequest) -> RunResult:
        """The resource behind every instance."""
        instance_id = request.instance_id
        self.at_work[instance_id] += 1
        self.most[instance_id] = max(self.most[instance_id], self.at_work[instance_id])
        self.most["all"] = max(self.most["all"], self._held())
        self.most["hanging"] = max(self.most["hanging"], sum(self.at_work[each] for each in self.hanging))
        try:
            if instance_id in self.hanging or request.session_id in self.hanging_sessions:
                await self.release.wait()
        finally:
            self.at_work[instance_id] -= 1
        return RunResult(request.text)

    def _held(self) -> int:
        """Conversations that the worker has leased."""
        worker = next(each for each in self.world.parts if isinstance(each, WorkerComponent))
        return len(worker.queue_workers[0].held)

    def create(self, user: str, url: str | None = None) -> int:
        body = {
            "channelId": "http-webhook",
            "channelName": f"Fair {len(self.instances)}",
            "config": {"responseWebhookUrl": url or self.receiver.url},
            "downStreamResourceId": "agent::anything",
        }
        self.instances.append(self.rest.create(user, body).body["instanceId"])
        return self.instances[-1]

    def write(self, instance_id: int, sessions: list[str]) -> None:
        for session in sessions:
            body = json.dumps({"message": session, "sessionId": session}).encode()
            assert self.rest.call("http-webhook", instance_id, body, {}, "webhook").outcome == "done"

    def close(self) -> None:
        """Nothing is let go before the servers are closed: a connection that comes in that moment is never closed."""
        self.receiver.close()
        self.world.run(self._end())

    async def _end(self) -> None:
        await close_runner(self._runner)
        self.release.set()


@pytest.fixture
def scene(world: World) -> Iterator[Scene]:
    made = Scene(world)
    yield made
    made.close()


@given("an instance of ann")
@given("another instance of ann")
def instance_of_ann(scene: Scene) -> None:
    scene.create("ann")


@given("an instance of bob")
def instance_of_bob(scene: Scene) -> None:
    scene.create("bob")


@given("an instance of ann whose resource hangs")
def hanging_resource(scene: Scene) -> None:
    scene.hanging.add(scene.create("ann"))


@given("an instance of ann whose response address hangs")
def hanging_address(scene: Scene) -> None:
    scene.create("ann", scene.stuck_url)


@given(parsers.parse("{count:d} instances of ann whose resources hang"))
def hanging_instances(scene: Scene, count: int) -> None:
    scene.hanging.update(scene.create("ann") for _ in range(count))


@given("its messages have waited for 5 minutes")
def have_waited(scene: Scene) -> None:
    scene.write(scene.instances[0], ["old"])
    database = scene.world.container.database()
    scene.world.run(database.execute("UPDATE inbox SET received_at = received_at - interval '5 minutes'", ()))


@when("1 conversation of the instance hangs in its resource")
def one_hangs(scene: Scene) -> None:
    scene.hanging_sessions.add("hangs")
    scene.write(scene.instances[0], ["hangs"])


@when(parsers.parse("{count:d} other conversations of the instance write"))
def others_write(scene: Scene, count: int) -> None:
    scene.write(scene.instances[-1], [f"healthy {number}" for number in range(count)])


@when(parsers.parse("{count:d} conversations of the instance wait, and then the worker looks"))
def flood(scene: Scene, count: int) -> None:
    """Copies of one message that was answered, each in a conversation of its own, in one transaction."""
    scene.write(scene.instances[0], ["healthy"])
    scene.receiver.wait_for(1)
    scene.world.run(_flooded(scene, count - 1))


async def _flooded(scene: Scene, count: int) -> None:
    async with scene.world.container.database().transaction() as connection:
        await connection.execute(
            "INSERT INTO inbox (instance_id, session_key, event_key, event)"
            " SELECT instance_id, 'flood ' || n, 'flood ' || n, event FROM inbox, generate_series(1, %s) n",
            (count,),
        )
        await connection.execute(
            "INSERT INTO queue (kind, instance_id, session_key, pending)"
            " SELECT 0, instance_id, session_key, 1 FROM inbox WHERE status = 0"
        )
    scene.world.container.storage().event_bus.inbound.wake()


@when(parsers.parse("{count:d} conversations write to the first instance"))
def write_to_first(scene: Scene, count: int) -> None:
    scene.write(scene.instances[0], [f"first {number}" for number in range(count)])


@when(parsers.parse("{count:d} conversations write to each instance of ann"))
def write_to_anns(scene: Scene, count: int) -> None:
    for instance_id in sorted(scene.hanging):
        scene.write(instance_id, [f"ann {instance_id} {number}" for number in range(count)])


@when(parsers.parse("{count:d} conversations write to the other"))
@when(parsers.parse("{count:d} conversations write to bob's"))
def write_to_other(scene: Scene, count: int) -> None:
    others_write(scene, count)


@then(parsers.parse("each of the {count:d} conversations is answered once"))
def answered(scene: Scene, count: int) -> None:
    answers = [each.json["response"] for each in scene.receiver.wait_for(count)]
    assert sorted(answers) == sorted(f"healthy {number}" for number in range(count))


@then("1 conversation still waits")
def still_waits(scene: Scene) -> None:
    until(lambda: scene.at_work.total() == 1, "it hangs, or is tried again")


@then("at most 4 conversations of an instance were worked on at a time")
def four_of_an_instance(scene: Scene) -> None:
    _reaches(scene, scene.instances[0], 4)
    assert scene.most[scene.instances[1]] <= 4


@then("at most 4 replies of the first instance were under way at a time")
def four_replies(scene: Scene) -> None:
    _reaches(scene, "under way", 4)


@then("at most 12 conversations of ann were worked on at a time")
def twelve_of_ann(scene: Scene) -> None:
    _reaches(scene, "hanging", 12)


def _reaches(scene: Scene, what: object, most: int) -> None:
    """As many as may be, and never more."""
    until(lambda: scene.most[what] >= most, f"{most} at a time")
    assert scene.most[what] == most


@then(parsers.parse("all {count:d} are answered"))
def all_answered(scene: Scene, count: int) -> None:
    assert len(scene.receiver.wait_for(count)) == count


@then(parsers.parse("the worker never held more than {count:d} conversations"))
def never_held(scene: Scene, count: int) -> None:
    assert 0 < scene.most["all"] <= count


def _metric(scene: Scene, name: str) -> float:
    exposition = scene.world.run(scene.world.container.metrics()())
    found = re.search(rf'^switchboard_{name}{{queue="inbound"}} (\S+)$', exposition.decode(), re.MULTILINE)
    assert found is not None
    return float(found[1])


@then(parsers.parse("the metrics say that the oldest message has waited for at least {seconds:d} seconds"))
def oldest(scene: Scene, seconds: int) -> None:
    assert seconds <= _metric(scene, "queue_oldest_seconds") < seconds + PATIENCE


@then("the metrics say that 1 conversation waits")
def one_waits(scene: Scene) -> None:
    assert _metric(scene, "queue_conversations") == 1
