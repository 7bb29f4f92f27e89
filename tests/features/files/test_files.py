"""The steps of files.feature."""

import errno
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from adapters.outbound.system import blobs as incoming
from domain.routing.model import ResultArtifact, RunResult
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.platforms.telegram import Telegram

SETTINGS = {"AGENT_URL": "https://agents.example"}
EDGE = samples.SETTING
scenarios("files.feature")

BYTES = b"\x89PNG\r\n" + bytes(range(256)) * 700
DOCUMENT = samples.fixture("message_document")["message"]["document"]


@dataclass
class Scene:
    rest: Rest
    resource: Resource
    platform: Telegram
    instance_id: int = 0
    body: Any = None

    def create(self, channel_id: str, config: dict[str, Any]) -> None:
        body = {
            "channelId": channel_id,
            "channelName": "C",
            "config": config,
            "downStreamResourceId": "files",
        }
        self.instance_id = self.rest.create("ann", body).body["instanceId"]

    @property
    def address(self) -> str:
        if self.body is not None:
            return str(self.resource_artifact["url"])
        return self.resource.requests[0].files[0].url

    @property
    def resource_artifact(self) -> dict[str, Any]:
        found: dict[str, Any] = self.body["artifacts"][0]
        return found

    def fetch(self, method: str = "GET", path: str | None = None) -> Any:
        parts = urlsplit(self.address)
        assert parts.scheme == "https"
        assert parts.netloc == "agents.example"
        return self.rest.request(method, path or parts.path)


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver) -> Scene:
    platform = Telegram()
    platform_driver.show(platform)
    resource = Resource(world, lambda request: RunResult(f"heard {request.text}"))
    return Scene(rest, resource, platform)


@given("a chat bot with a resource")
def chat_bot(scene: Scene) -> None:
    scene.platform.files = dict.fromkeys((DOCUMENT["file_id"], "AgFile1"), BYTES)
    scene.create("bot-messenger", dict(samples.CONFIG))


@given("the platform has lost the document")
def lost(scene: Scene) -> None:
    scene.platform.files = {}


@given(parsers.parse('a webhook whose resource answers with the bytes of "{name}"'))
def answers_bytes(scene: Scene, name: str) -> None:
    artifact = ResultArtifact(name, "image/png", data=BYTES)
    scene.resource.script = lambda _: RunResult("here", (artifact,))
    _hook(scene)


@given("a webhook whose resource answers with a name of 5000 characters and a type of 10000")
def answers_long(scene: Scene) -> None:
    artifact = ResultArtifact("\u00e4" * 4996 + ".png", "image/" + "x" * 10_000, data=BYTES)
    scene.resource.script = lambda _: RunResult("here", (artifact,))
    _hook(scene)


@given("the disk of the service is full")
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(incoming.tempfile, "mkstemp", no_room)


@given(parsers.parse('a webhook whose resource answers with a file at "{url}"'))
def answers_address(scene: Scene, url: str) -> None:
    artifact = ResultArtifact("a.pdf", "application/pdf", url=url)
    scene.resource.script = lambda _: RunResult("here", (artifact,))
    _hook(scene)


def _hook(scene: Scene) -> None:
    scene.create("http-webhook", {"responseWebhookUrl": "http://127.0.0.1:9/none"})


@when("the platform posts a message with a document")
def posts(scene: Scene) -> None:
    call = samples.update("message_document")
    scene.rest.call("bot-messenger", scene.instance_id, call.body, call.headers, "webhook")
    scene.resource.wait_for(1)


@given("it was called")
@when("it is called")
def called(world: World, scene: Scene) -> None:
    scene.rest.call("http-webhook", scene.instance_id, b'{"message": "m", "sessionId": "s"}', {}, "webhook")
    scene.resource.wait_for(1)
    scene.body = _answer(world)


def _answer(world: World) -> Any:
    """The answer that was recorded for the response address."""
    from orjson import loads

    from tests.support.waiting import until

    fetch = world.container.database().fetch
    until(lambda: bool(world.run(fetch("SELECT 1 FROM outbox"))), "the answer is recorded")
    return loads(world.run(fetch("SELECT message FROM outbox"))[0][0])


@when(parsers.parse("{hours:d} hours pass"))
def hours_pass(world: World, hours: int) -> None:
    world.clock.advance(timedelta(hours=hours))


@then("the resource is handed a file of that name, type and size")
def handed(scene: Scene) -> None:
    file = scene.resource.requests[0].files[0]
    assert (file.name, file.mime_type) == (DOCUMENT["file_name"], DOCUMENT["mime_type"])
    assert file.size == len(BYTES)


@then("its address serves the platform's bytes as a download")
@then("its address serves those bytes as a download")
def serves(scene: Scene) -> None:
    answer = scene.fetch()
    assert answer.status_code == 200, answer.text
    assert answer.content == BYTES
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["x-content-type-options"] == "nosniff"


@then("its address tells the type and size of those bytes by HEAD")
def tells(scene: Scene) -> None:
    answer = scene.fetch("HEAD")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["content-length"] == str(len(BYTES))


@then("the resource is handed the message without a file")
def handed_none(scene: Scene) -> None:
    assert scene.resource.requests[0].files == ()


@then("the instance's health says that an attachment was not fetched")
def health_says(scene: Scene) -> None:
    assert "attachment" in str(scene.rest.health("ann", scene.instance_id).body)


@then(parsers.parse('the answer has an artifact "{name}" of type "{mime_type}" at the gateway'))
def has_artifact(scene: Scene, name: str, mime_type: str) -> None:
    artifact = scene.resource_artifact
    assert (artifact["name"], artifact["mimeType"]) == (name, mime_type)
    assert artifact["url"].startswith("https://agents.example/api/agent/files/")
    assert artifact["url"].endswith(quote(name))


@then(
    parsers.parse(
        'the answer has an artifact of {size:d} characters and of type "{mime_type}" at the gateway'
    )
)
def has_short_artifact(scene: Scene, size: int, mime_type: str) -> None:
    artifact = scene.resource_artifact
    assert (len(artifact["name"]), artifact["mimeType"]) == (size, mime_type)
    assert artifact["name"].endswith("\u00e4.png")
    assert len(artifact["url"]) < 8000


@then(parsers.parse('the artifact\'s address is "{url}"'))
def address_is(scene: Scene, url: str) -> None:
    assert scene.address == url


@then("the address serves nothing")
def serves_nothing(scene: Scene) -> None:
    assert scene.fetch().status_code == 404


@then("no change of a character of the address serves anything")
def tampered(scene: Scene) -> None:
    path = urlsplit(scene.address).path
    token = path.split("/")[4]
    for at in range(0, len(token) - 1, 7):
        other = token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]
        assert scene.fetch(path=path.replace(token, other)).status_code == 404
    for other in ("", "x", "ü", token[:-3], "." + token, token + "AAAA"):
        assert scene.fetch(path=path.replace(token, quote(other) or "x")).status_code == 404
