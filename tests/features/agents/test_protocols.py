"""The steps of protocols.feature."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from ag_ui.core import BaseEvent
from aiohttp import web
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import World
from tests.support import ag_ui
from tests.support.ag_ui import AgUiServer, call, text, waiting
from tests.support.langgraph import LangGraphServer, Step, tools
from tests.support.platforms.standin import Reply, Seen, StandIn

scenarios("protocols.feature")


class Server(StandIn):
    """An agent of both protocols, and what takes the answers of the instance.

    `asks` is what the agent asks for, by the message at which it does: the name of a tool, or a question.
    """

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[str] = []
        self.offered: list[str] = []
        self.asks: dict[str, str | dict[str, Any]] = {}
        self.graph = LangGraphServer(self._step)
        self.screen = AgUiServer(self._events)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/graph"):
            return await self.graph.handle(request)
        if request.path.startswith("/screen"):
            return await self.screen.handle(request)
        return await super().handle(request)

    def answer(self, seen: Seen) -> Reply:
        self.answers.append(seen.json["response"])
        self.offered = [choice["label"] for choice in seen.json.get("choices") or ()]
        return Reply()

    def _step(self, said: Any) -> Step:
        asked = self.asks.get(said) if isinstance(said, str) else None
        if asked is None:
            return Step(f"Go on with {json.dumps(said)}")
        return Step("Let me see.", tools(asked, bar=12) if isinstance(asked, str) else asked)

    def _events(self, run: Any) -> Iterable[BaseEvent]:
        asked = None if run.resume else self.asks.get(ag_ui.said(run))
        if asked is None:
            entries = [(entry.status, entry.payload) for entry in run.resume or ()]
            yield from text(f"Go on with {json.dumps(entries)}", f"a-{run.run_id}", 10_000)
        elif isinstance(asked, str):
            yield from text("Let me see.")
            yield from call(asked, '{"bar": 12}')
            yield waiting(run, ag_ui.interrupt(tool_call_id="c1"))
        else:
            schema = {"type": "string", "enum": asked["options"]}
            question = {"message": asked["question"], "response_schema": schema}
            yield waiting(run, ag_ui.interrupt(reason="input_required", **question))


@pytest.fixture(scope="module", autouse=True)
def driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    driver = PlatformDriver()
    request.module.SETTINGS = {"OUTBOUND_ALLOW": "127.0.0.0/8"}
    yield driver
    driver.close()


class Scene:
    def __init__(self, world: World, rest: Rest, driver: PlatformDriver) -> None:
        self.world, self.rest, self.driver = world, rest, driver
        self.server = Server()
        self.protocol = ""
        self.written = 0
        self.tested: dict[str, Any] = {}
        driver.show(self.server)

    def set_up(self, protocol: str) -> None:
        self.protocol, url = protocol, self.driver.url
        kinds: dict[str, dict[str, Any]] = {
            "LangGraph": {"kind": "langgraph", "settings": {"url": f"{url}/graph", "assistant": "agent"}},
            "AG-UI": {"kind": "ag-ui", "settings": {"url": f"{url}/screen"}},
        }
        agent = {"name": protocol, **kinds[protocol]}
        made = self.rest.request("POST", "/api/agent/agents", "ann", json=agent)
        assert made.status_code == 201, made.text
        body = {
            "channelId": "http-webhook",
            "channelName": "Works",
            "config": {"responseWebhookUrl": f"{url}/answers"},
            "downStreamResourceId": made.json()["resourceId"],
        }
        bound = self.rest.request("POST", INSTANCES, "ann", json=body)
        assert bound.status_code == 201, bound.text
        self.instance_id, self.agent_id = bound.json()["instanceId"], made.json()["id"]

    def write(self, words: str) -> None:
        self.written += 1
        body = {"message": words, "sessionId": "s1"}
        path = f"/api/agent/channels/http-webhook/{self.instance_id}/webhook"
        assert self.rest.request("POST", path, None, json=body).status_code == 200
        assert self.driver.wait_until(lambda: len(self.server.answers) == self.written), self.server.answers
        self.world.settle()

    @property
    def went_on_with(self) -> Any:
        """How the agent was resumed: the decisions of LangGraph, or the entries of AG-UI."""
        value = json.loads(self.server.answers[-1].removeprefix("Go on with "))
        return value.get("decisions", value) if isinstance(value, dict) else value


@pytest.fixture
def scene(world: World, rest: Rest, driver: PlatformDriver) -> Scene:
    return Scene(world, rest, driver)


@given(
    parsers.parse('ann\'s agent of {protocol} wants to use the tool "{tool}" where somebody writes "{words}"')
)
def wants(scene: Scene, protocol: str, tool: str, words: str) -> None:
    scene.server.asks[words] = tool
    scene.set_up(protocol)


@given(
    parsers.parse(
        'ann\'s agent of {protocol} asks "{question}" with "{one}" and "{other}" where somebody writes "{words}"'
    )
)
def asks(scene: Scene, protocol: str, question: str, one: str, other: str, words: str) -> None:
    scene.server.asks[words] = {"question": question, "options": [one, other]}
    scene.set_up(protocol)


@given(parsers.parse("ann's agent of {protocol} repeats what it reads"))
def repeats(scene: Scene, protocol: str) -> None:
    scene.set_up(protocol)


@when(parsers.parse('somebody writes "{words}"'))
def writes(scene: Scene, words: str) -> None:
    scene.write(words)


@when(parsers.parse('ann tests the agent with "{words}"'))
def is_tested(scene: Scene, words: str) -> None:
    path = f"/api/agent/agents/{scene.agent_id}/test"
    scene.tested = scene.rest.request("POST", path, "ann", json={"text": words}).json()


@then(parsers.parse('the test\'s answer begins with "{words}", and shows what was sent to "{place}"'))
def shows(scene: Scene, words: str, place: str) -> None:
    assert scene.tested["answer"]["text"].startswith(words), scene.tested
    assert place in json.dumps(scene.tested["exchanges"]), scene.tested


@then(parsers.re("the answer holds (?P<words>.+)"))
def holds(scene: Scene, words: str) -> None:
    for word in words.strip('"').split('" and "'):
        assert word in scene.server.answers[-1]


@then(parsers.parse('it offers "{one}" and "{other}"'))
def offers(scene: Scene, one: str, other: str) -> None:
    assert scene.server.offered == [one, other]


@then(parsers.parse("the agent goes on with the tool {decision}"))
def decided(scene: Scene, decision: str) -> None:
    permits = decision == "approved"
    if scene.protocol == "LangGraph":
        (answer,) = scene.went_on_with
        assert answer["type"] == ("approve" if permits else "reject")
    else:
        assert scene.went_on_with == [["resolved", {"approved": permits}]]


@then("the agent was called twice")
def called_twice(scene: Scene) -> None:
    assert len(scene.server.graph.begun) + len(scene.server.screen.runs) == 2


@then(parsers.parse('the tool is not used, and the agent reads "{words}"'))
def undecided(scene: Scene, words: str) -> None:
    if scene.protocol == "LangGraph":
        (answer,) = scene.went_on_with
        assert answer["type"] == "reject"
        assert answer["message"].endswith(words)
    else:
        assert scene.went_on_with == [["cancelled", None]]
        assert ag_ui.said(scene.server.screen.runs[-1]) == words


@then(parsers.parse('the agent goes on with "{value}"'))
def chosen(scene: Scene, value: str) -> None:
    assert scene.went_on_with == (value if scene.protocol == "LangGraph" else [["resolved", value]])


@then("both messages came in one thread")
def one_thread(scene: Scene) -> None:
    graph, runs = scene.server.graph, scene.server.screen.runs
    assert len(graph.messages) == 1 or len({run.thread_id for run in runs}) == 1
    assert len(graph.begun) + len(runs) == 2
