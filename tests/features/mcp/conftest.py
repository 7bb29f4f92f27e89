"""One service for all scenarios of MCP. Each is tried with the older and the newer protocol, on a gateway with and on
one without a database."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from mcp_types import CallToolResult
from pytest_bdd import given, parsers, then
from pytest_bdd.scenario import scenario_wrapper_template_registry

from tests.drivers.knowledge import KB, upload
from tests.drivers.knowledge import Scene as Files
from tests.drivers.knowledge import send as ask
from tests.drivers.mcp import McpClient, McpWorld
from tests.drivers.ways import Rest
from tests.support.postgres import fresh_database

MODES = {"older protocol, with a database": "legacy", "newer protocol, without a database": "auto"}
SECRET = "s3cret-0815"


@pytest.fixture(scope="package")
def served(postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpWorld]:
    with fresh_database(postgres_dsn) as dsn:
        world = McpWorld(dsn, tmp_path_factory.mktemp("mcp"), KB_READ_POLICY="strict")
        world.start()
        yield world
        world.stop()


@pytest.fixture
def world(served: McpWorld) -> McpWorld:
    """The service, with nothing in it."""
    served.empty()
    return served


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Scenarios do not name their fixtures."""
    if metafunc.function in scenario_wrapper_template_registry:
        metafunc.fixturenames.append("client")
        metafunc.parametrize("client", list(MODES), indirect=True)


@pytest.fixture
def client(request: pytest.FixtureRequest, world: McpWorld) -> McpClient:
    mode = MODES[request.param]
    return McpClient(world, world.url if mode == "legacy" else world.remote_url, mode)


@dataclass
class Scene:
    """What a scenario has done so far."""

    files: Files = field(default_factory=Files)
    bases: list[int] = field(default_factory=list)
    channel: int = 0
    answer: CallToolResult = field(default_factory=lambda: CallToolResult(content=[]))
    pages: list[list[Any]] = field(default_factory=list)
    pieces: list[dict[str, Any]] = field(default_factory=list)

    @property
    def value(self) -> dict[str, Any]:
        """What the tool answered; its text says the same."""
        assert not self.answer.is_error, self.answer
        value: dict[str, Any] = self.answer.structured_content
        assert json.loads(text_of(self.answer)) == value
        return value


def text_of(answer: CallToolResult) -> str:
    [content] = answer.content
    assert content.type == "text"
    return content.text


def answer_of(client: McpClient, user: str, tool: str, **arguments: object) -> dict[str, Any]:
    answer = client.call(user, tool, **arguments)
    assert not answer.is_error, answer
    value: dict[str, Any] = answer.structured_content
    return value


@pytest.fixture
def scene() -> Scene:
    return Scene()


@given(parsers.parse('ann has the base "{name}" about "{description}"'))
def has_base(rest: Rest, scene: Scene, name: str, description: str) -> None:
    made = ask(rest, scene.files, "POST", KB, json={"name": name, "description": description})
    scene.bases.append(made.json()["id"])
    scene.files.base = scene.bases[-1]


@given(parsers.parse("ann has {number:d} bases"))
def has_bases(rest: Rest, scene: Scene, number: int) -> None:
    for each in range(number):
        has_base(rest, scene, f"Base {each}", "")


@given(parsers.parse('ann has uploaded "{name}" saying "{text}"'))
def uploads(rest: Rest, scene: Scene, name: str, text: str) -> None:
    upload(rest, scene.files, [("file", name, text.encode())])
    assert scene.files.answer.status_code == 201, scene.files.answer.text


@given(parsers.parse('ann has a webhook named "{name}" that repeats what it hears'))
def has_webhook(rest: Rest, scene: Scene, name: str) -> None:
    create(rest, scene, name, {"syncResponse": True, "responseHeaders": json.dumps({"X-Token": SECRET})})


def create(rest: Rest, scene: Scene, name: str, config: Mapping[str, object]) -> None:
    body = {
        "channelId": "http-webhook",
        "channelName": name,
        "config": config,
        "downStreamResourceId": "agent::echo",
    }
    reply = rest.create("ann", body)
    assert reply.outcome == "created", reply
    scene.channel = int(reply.body["instanceId"])


@given(parsers.parse('"{who}" has written "{text}"'))
def writes(rest: Rest, scene: Scene, who: str, text: str) -> None:
    body = json.dumps({"message": text, "sessionId": who}).encode()
    headers = {"content-type": "application/json"}
    reply = rest.call("http-webhook", scene.channel, body, headers, "webhook")
    assert reply.outcome == "done", reply


@then(parsers.parse('the model is told that "{complaint}"'))
def is_told(scene: Scene, complaint: str) -> None:
    assert scene.answer.is_error
    assert complaint in text_of(scene.answer)
