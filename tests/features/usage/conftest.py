"""The model and the bots of the scenarios on usage. Model server and program are stand-ins on the loopback
interface."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web
from pytest_bdd import given, parsers, then, when

from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import World
from tests.support.model_server import Server, text
from tests.support.servers import serving_apart

RULES = """
[[rule]]
match = "agent::[sk][mb]*"
kind = "chat-completions"
url = "{url}/v1"
model = "small"
stream = {stream}
timeout = 10

[[rule.tool]]
name = "ring"
url = "{url}/tools/ring"
confirm = false

[rule.prices]
input = 2
output = 10
currency = "EUR"

[[rule]]
match = "agent::program"
kind = "http"
url = "{url}/program"
"""


class Model(Server):
    """The model, and a program that tells its usage itself."""

    def __init__(self) -> None:
        super().__init__(tells_usage=True)
        self.breaks_off = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/program":
            return web.json_response({"text": "done", "usage": {"inputTokens": 100, "outputTokens": 20}})
        if self.breaks_off and request.path.endswith("/completions"):
            self.breaks_off -= 1
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(b'data: {"choices":[{"delta":{"content":"good d"}}]}\n\n')
            return response
        if not self.replies:
            self.replies.append(text("good day"))
        return await super().handle(request)


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    model = Model()
    with serving_apart(model.handle) as url:
        model.url = url
        yield model


@pytest.fixture(scope="module", autouse=True)
def rules_file(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model: Model
) -> Path:
    path = tmp_path_factory.mktemp("rules") / "resources.toml"
    path.write_text(RULES.format(url=model.url, stream="false"), "utf-8")
    request.module.SETTINGS = {"RESOURCES_FILE": str(path)}
    return path


class Scene:
    """Bots of users, and what stands behind them."""

    def __init__(self, world: World, rest: Rest, model: Model, rules_file: Path) -> None:
        self.world, self.rest, self.model, self.rules_file = world, rest, model, rules_file
        self.instances: dict[str, int] = {}
        self.base_id = 0
        self.reply: httpx.Response
        model.replies.clear()
        model.asked.clear()
        model.breaks_off = 0
        self.load(stream=False)

    def load(self, *, stream: bool) -> None:
        self.rules_file.write_text(RULES.format(url=self.model.url, stream=str(stream).lower()), "utf-8")

        async def load() -> None:
            self.world.container.resources().rules.reload()

        self.world.run(load())

    def open(self, user: str, resource: str, **more: Any) -> None:
        body = {
            "channelId": "http-webhook",
            "channelName": f"Bot of {user}",
            "config": {},
            "downStreamResourceId": resource,
            **more,
        }
        if user in self.instances:
            reply = self.rest.update(user, self.instances[user], body)
        else:
            reply = self.rest.create(user, body)
        assert reply.outcome in ("created", "done"), reply
        self.instances[user] = int(reply.body["instanceId"])

    def write(self, sender: str, words: str, owner: str = "ann") -> None:
        path = f"/api/agent/channels/http-webhook/{self.instances[owner]}/webhook"
        reply = self.rest.request("POST", path, json={"message": words, "sessionId": sender})
        assert reply.status_code == 200, reply.text
        self.world.settle()

    def messages(self) -> list[dict[str, Any]]:
        """What ada writes to ann's bot and reads from it."""
        path = f"{INSTANCES}/{self.instances['ann']}/conversations/ada/messages"
        return list(self.rest.request("GET", path, "ann").json()["messages"])

    def execute(self, statement: str) -> None:
        self.world.run(self.world.container.database().execute(statement))


@pytest.fixture
def scene(world: World, rest: Rest, model: Model, rules_file: Path) -> Scene:
    return Scene(world, rest, model, rules_file)


@given("ann's bot answers from a model with prices")
def has_bot(scene: Scene) -> None:
    scene.open("ann", "agent::small_3")


@when(parsers.parse('{sender} writes "{words}"'))
def writes(scene: Scene, sender: str, words: str) -> None:
    scene.write(sender, words)


@when("ann deletes her instance")
def deletes(scene: Scene) -> None:
    assert scene.rest.delete("ann", scene.instances["ann"]).outcome == "done"


@then(parsers.parse('she is told "{words}"'))
def is_told(scene: Scene, words: str) -> None:
    answer = scene.reply.json()
    assert words in (answer["error"] if "error" in answer else answer["answer"]["error"])


@then(parsers.parse('ada reads "{words}"'))
def reads(scene: Scene, words: str) -> None:
    assert words in [message["text"] for message in scene.messages()]
