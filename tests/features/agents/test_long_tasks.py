"""The steps of long_tasks.feature."""

from collections.abc import Iterator
from typing import Any

import pytest
from a2a.types import Part
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import World
from tests.support.a2a_agent import A2aAgent, Turn
from tests.support.platforms.standin import Reply, Seen, StandIn
from tests.support.waiting import let_pass, until

scenarios("long_tasks.feature")

SECONDS = 600


class Answers(StandIn):
    """Takes the answers of the instance."""

    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[dict[str, Any]] = []

    def answer(self, seen: Seen) -> Reply:
        self.bodies.append(seen.json)
        return Reply()


class Scene:
    def __init__(self, world: World, rest: Rest, driver: PlatformDriver) -> None:
        self.world, self.rest, self.driver = world, rest, driver
        self.answers, self.read = Answers(), 0
        self.failure = ""
        self.instance_id = self.agent_id = 0
        driver.show(self.answers)

    async def work(self, turn: Turn) -> None:
        if turn.text.startswith("book") or not turn.is_new:
            return await self._book(turn)
        if turn.text != "write the report":
            return await turn.reply(f"You said {turn.text}.")
        await turn.begin()
        await turn.wait()
        if self.failure:
            return await turn.task.failed(turn.says(self.failure))
        await turn.task.add_artifact([Part(raw=b"%PDF", filename="report.pdf", media_type="application/pdf")])
        return await turn.task.complete(turn.says("The report is done."))

    async def _book(self, turn: Turn) -> None:
        if not turn.is_new:
            return await turn.task.complete(turn.says(f"Booked in {turn.text}."))
        await turn.begin()
        if turn.text.endswith("later"):
            await turn.wait()
        return await turn.task.requires_input(turn.says("In which town?"))

    def execute(self, statement: str) -> None:
        self.world.run(self.world.container.database().execute(statement))

    def count(self, statement: str) -> int:
        return int(self.world.run(self.world.container.database().fetch_value(statement)))


@pytest.fixture(scope="module", autouse=True)
def driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    driver = PlatformDriver()
    request.module.SETTINGS = {"OUTBOUND_ALLOW": "127.0.0.0/8"}
    yield driver
    driver.close()


@pytest.fixture
def scene(world: World, rest: Rest, driver: PlatformDriver) -> Scene:
    return Scene(world, rest, driver)


@pytest.fixture
def agent(scene: Scene) -> Iterator[A2aAgent]:
    with A2aAgent(scene.work).serving() as agent:
        yield agent
        scene.world.run(scene.world.container.foundation().http.close())


@given("ann's bot stands before an A2A agent")
def stands(scene: Scene, agent: A2aAgent) -> None:
    settings = {"url": agent.base, "timeout": SECONDS}
    body: dict[str, Any] = {"name": "A2A", "resourceId": "agent::a2a", "kind": "a2a", "settings": settings}
    made = scene.rest.request("POST", "/api/agent/agents", "ann", json=body)
    assert made.status_code == 201, made.text
    scene.agent_id = made.json()["id"]
    body = {
        "channelId": "http-webhook",
        "channelName": "Works",
        "config": {"responseWebhookUrl": f"{scene.driver.url}/answers"},
        "downStreamResourceId": "agent::a2a",
    }
    bound = scene.rest.request("POST", INSTANCES, "ann", json=body)
    assert bound.status_code == 201, bound.text
    scene.instance_id = bound.json()["instanceId"]


@when(parsers.parse('somebody writes "{words}"'))
def writes(scene: Scene, words: str) -> None:
    path = f"/api/agent/channels/http-webhook/{scene.instance_id}/webhook"
    body = {"message": words, "sessionId": "s1"}
    assert scene.rest.request("POST", path, None, json=body).status_code == 200


@when("the time for the message passes")
def time_passes(scene: Scene) -> None:
    async def ahead() -> None:
        let_pass(SECONDS - 3)

    until(lambda: scene.count("SELECT count(*) FROM resource_state") == 1, "the task is known")
    scene.world.run(ahead())
    until(lambda: scene.count("SELECT count(*) FROM agent_task") == 1, "the task is noted")


def poll(scene: Scene) -> None:
    scene.execute("UPDATE agent_task SET next_poll_at = now()")


@when("the agent finishes the report")
@when("the agent goes on")
def finishes(scene: Scene, agent: A2aAgent) -> None:
    agent.let()
    poll(scene)


@when(parsers.parse('the agent fails with "{reason}"'))
def fails(scene: Scene, agent: A2aAgent, reason: str) -> None:
    scene.failure = reason
    finishes(scene, agent)


@when("ann changes the kind of the agent")
def changes_kind(scene: Scene) -> None:
    path = f"/api/agent/agents/{scene.agent_id}"
    changed = scene.rest.request("PUT", path, "ann", json={"kind": "http"})
    assert changed.status_code == 200, changed.text
    poll(scene)


@when("a day passes")
def day_passes(scene: Scene) -> None:
    scene.execute("UPDATE agent_task SET created_at = created_at - interval '25 hours'")
    poll(scene)


@then(parsers.re(r'somebody reads "(?P<words>[^"]*)"(?: with the file "(?P<name>[^"]*)")?'))
def reads(scene: Scene, words: str, name: str | None) -> None:
    scene.read += 1
    assert scene.driver.wait_until(lambda: len(scene.answers.bodies) >= scene.read), scene.answers.bodies
    body = scene.answers.bodies[scene.read - 1]
    assert body["response"].startswith(words)
    assert [file["name"] for file in body.get("artifacts") or ()] == ([name] if name else [])
    scene.world.settle()


@then("the agent was asked once")
def asked_once(agent: A2aAgent) -> None:
    assert len(agent.turns) == 1


@then("both messages belong to one task")
def one_task(agent: A2aAgent) -> None:
    assert len(agent.turns) == 2
    assert len({turn.task_id for turn in agent.turns}) == 1


@then(parsers.parse('the health of the bot tells "{words}"'))
def health_tells(scene: Scene, words: str) -> None:
    def is_told() -> bool:
        health = scene.rest.request("GET", f"{INSTANCES}/{scene.instance_id}/health", "ann")
        return words in health.text

    until(is_told, "the health tells it")
