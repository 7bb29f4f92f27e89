"""The steps of durability.feature: several services on one database."""

import asyncio
import json
from collections.abc import Callable, Iterator

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from apps.processes.components import WorkerComponent
from domain.confirmations.model import question, unclear
from domain.routing.conversation import PROCESSING_FAILED
from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.receiver import Delivery, Receiver
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World

scenarios("durability.feature")


class Scene:
    """The first service, which accepts, and what its receiver got."""

    def __init__(self, make: Callable[..., World]) -> None:
        self.make = make
        self.first = make(worker=False)
        self.receiver = Receiver(self.first)
        self.rest = Rest(self.first)
        self.bind("agent::echo")

    def bind(self, resource: str) -> None:
        """From here on messages go to an instance that is bound to this resource."""
        body = {
            "channelId": "http-webhook",
            "channelName": resource,
            "config": {"responseWebhookUrl": self.receiver.url},
            "downStreamResourceId": resource,
        }
        self.instance_id = self.rest.create("ann", body).body["instanceId"]

    def accept(self, text: str, session: str, key: str | None = None, rest: Rest | None = None) -> None:
        body = json.dumps({"message": text, "sessionId": session}).encode()
        headers = {"Idempotency-Key": key} if key else {}
        reply = (rest or self.rest).call("http-webhook", self.instance_id, body, headers, "webhook")
        assert reply.outcome == "done"

    def start(self) -> World:
        """Another service, with a worker, on the same database and with the same keys."""
        return self.make(CONFIG_ENCRYPTION_KEY=self.first.settings.config_encryption_key)

    def got(self, count: int) -> list[Delivery]:
        return self.receiver.wait_for(count)

    def execute(self, statement: str, *parameters: object) -> None:
        self.first.run(self.first.container.database().execute(statement, parameters))


@pytest.fixture
def scene(make_world: Callable[..., World]) -> Iterator[Scene]:
    made = Scene(make_world)
    yield made
    made.receiver.close()


@given("a service without a worker")
def without_worker(scene: Scene) -> None:
    assert scene.instance_id


@given(parsers.parse("{count:d} messages are accepted"))
@when(parsers.parse("{count:d} messages are accepted"))
@when(parsers.parse("{count:d} message is accepted"))
def accepted(scene: Scene, count: int) -> None:
    for number in range(count):
        scene.accept(f"message {number}", "one")


@given(parsers.parse("{count:d} messages of {sessions:d} conversations are accepted"))
def accepted_in(scene: Scene, count: int, sessions: int) -> None:
    for number in range(count):
        scene.accept(f"message {number}", f"session {number % sessions}")


@when(parsers.parse('the message with the identity "{key}" is accepted'))
def accepted_with_key(scene: Scene, key: str) -> None:
    scene.accept("message 0", "one", key)


@when(parsers.parse('the message with the identity "{key}" is accepted there once more'))
def accepted_again(scene: Scene, second: World, key: str) -> None:
    scene.accept("message 0", "one", key, Rest(second))


@given("a worker leased their conversation and died")
def leased_and_died(scene: Scene) -> None:
    scene.execute("UPDATE queue SET owner = 4711, due_at = now() + interval '1 hour'")


@given("three workers died over the first message")
def three_died(scene: Scene) -> None:
    scene.execute("UPDATE inbox SET attempts = 3 WHERE id = (SELECT min(id) FROM inbox)")


@given(parsers.parse("the receiver refuses the first {count:d} tries"))
def refuses(scene: Scene, count: int) -> None:
    scene.receiver.script = [(503, {})] * count


@when("a service with a worker starts on the same database", target_fixture="second")
def starts(scene: Scene) -> World:
    return scene.start()


@when("two services with workers start on the same database")
def two_start(scene: Scene) -> None:
    scene.start()
    scene.start()


def _settled(scene: Scene) -> None:
    """No row is left to be worked on or sent, so nothing can come any more."""
    rows = scene.first.run(
        scene.first.container.database().fetch(
            "SELECT 1 FROM inbox WHERE status = 0 UNION ALL SELECT 1 FROM outbox WHERE status = 2"
        )
    )
    assert rows == []


@then(parsers.parse("each of the {count:d} messages is answered once"))
def answered_once(scene: Scene, count: int) -> None:
    tries = len(scene.receiver.script) + count
    answers = {each.json["response"] for each in scene.got(max(count, tries))}
    assert answers == {f"message {number}" for number in range(count)}
    _settled(scene)


@then(parsers.parse("each of the {count:d} messages is answered once, in order"))
def answered_in_order(scene: Scene, count: int) -> None:
    assert [each.json["response"] for each in scene.got(count)] == [f"message {n}" for n in range(count)]
    _settled(scene)


@then("the first message gets an apology and the second its answer")
def apology(scene: Scene) -> None:
    assert [each.json["response"] for each in scene.got(2)] == [PROCESSING_FAILED, "message 1"]


@then("each conversation is answered in order, each message once")
def conversations_in_order(scene: Scene) -> None:
    seen: dict[str, list[int]] = {}
    for each in scene.got(40):
        seen.setdefault(each.json["sessionId"], []).append(int(each.json["response"].rpartition(" ")[2]))
    assert len(scene.receiver.deliveries) == 40
    assert len(seen) == 4
    assert all(numbers == sorted(numbers) and len(numbers) == 10 for numbers in seen.values())


@then("every try carried the same idempotency key")
def same_key(scene: Scene) -> None:
    tries = scene.got(3)
    assert len({each.headers["idempotency-key"] for each in tries}) == 1


@given("a worker whose resource asks before it uses a tool", target_fixture="valve")
def asking_worker(scene: Scene) -> Resource:
    scene.bind("agent::valve")
    return Resource(scene.start(), _asks_first)


def _asks_first(request: RunRequest) -> RunResult:
    if request.approval is None:
        return RunResult("", confirmation=Confirmation("open_valve", {}))
    return RunResult("it is open")


@given("the sender approved the tool")
def approved(scene: Scene, valve: Resource) -> None:
    scene.accept("open the valve", "one")
    assert question("open_valve", {}) in scene.got(1)[0].json["response"]
    valve.hold = asyncio.Event()
    scene.accept("yes", "one")


@given("the worker hangs while the tool runs")
def hangs(valve: Resource) -> None:
    assert [request.approval is not None for request in valve.wait_for(2)] == [False, True]
    worker = next(each for each in valve.world.parts if isinstance(each, WorkerComponent))
    valve.world.run(_stop_periodic_tasks(worker))


async def _stop_periodic_tasks(worker: WorkerComponent) -> None:
    """A worker that hangs prolongs no lease."""
    assert worker.periodic_task is not None
    worker.periodic_task.cancel()
    await asyncio.wait([worker.periodic_task])


@when("its lease runs out and a second worker takes the message up", target_fixture="other_valve")
def taken_up(scene: Scene) -> Resource:
    other = Resource(scene.start(), _asks_first)
    scene.execute("UPDATE queue SET due_at = now() WHERE owner IS NOT NULL")
    return other


@then("the sender is told that it is not clear whether the tool was used")
def told_unclear(scene: Scene) -> None:
    assert scene.got(2)[1].json["response"] == unclear("open_valve")


@then("when the first worker goes on the tool ran once and nothing more is said")
def ran_once(scene: Scene, valve: Resource, other_valve: Resource) -> None:
    assert valve.hold is not None
    valve.world.run(_set(valve.hold))
    scene.accept("thanks", "two")
    texts = [each.json["response"] for each in scene.got(3)]
    assert texts[2] == question("open_valve", {}), "the answer to the other conversation"
    runs = [each for each in (*valve.requests, *other_valve.requests) if each.approval]
    assert len(runs) == 1


async def _set(event: asyncio.Event) -> None:
    event.set()
