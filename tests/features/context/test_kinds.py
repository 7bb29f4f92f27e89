"""The steps of kinds.feature."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.routing.model import RunRequest, RunResult
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.features.context.kinds import PLATFORMS, SLACK, Kinds, Post

scenarios("kinds.feature")

ORDERS = {
    "without the file first": ("a mention", "a mention with a file"),
    "with the file first": ("a mention with a file", "a mention"),
}


class Scene:
    """A bot on a platform, and the resource behind it."""

    def __init__(self, world: World, kinds: Kinds) -> None:
        self.world, self.kinds = world, kinds
        self.resource = Resource(world, lambda request: RunResult(f"heard {request.text}"))
        self._rest = Rest(world)
        body = {
            "channelId": kinds.channel_id,
            "channelName": "Bot",
            "config": kinds.config,
            "downStreamResourceId": "agent::helper",
        }
        self._instance_id = self._rest.create("ann", body).body["instanceId"]

    def post(self, post: Post) -> None:
        call = post(self.world.clock.now())
        reply = self._rest.call(self.kinds.channel_id, self._instance_id, call.body, call.headers, "webhook")
        assert reply.outcome == "done", reply

    @property
    def asked(self) -> RunRequest:
        """What the resource was asked, once nothing is left to do."""
        self.resource.wait_for(1)
        self.world.settle()
        (request,) = self.resource.requests
        return request

    def fetch(self, query: str) -> list[Any]:
        return list(self.world.run(self.world.container.database().fetch(query)))


@pytest.fixture(scope="module")
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    """One address for all platforms, one after the other."""
    driver = PlatformDriver()
    addresses = {kinds.setting: driver.url + kinds.api for kinds in PLATFORMS.values()}
    request.module.SETTINGS = {**addresses, "AGENT_URL": "https://agents.example"}
    yield driver
    driver.close()


@pytest.fixture
def on(platform_driver: PlatformDriver, world: World) -> Callable[[str], Scene]:
    def scene(name: str) -> Scene:
        platform_driver.show(PLATFORMS[name].standin())
        return Scene(world, PLATFORMS[name])

    return scene


@given(parsers.re(r"somebody talks to a bot on (?P<platform>.+)"), target_fixture="scene")
def a_bot(on: Callable[[str], Scene], platform: str) -> Scene:
    return on(platform)


@when(parsers.re(r"a mention with a file arrives twice, (?P<order>.+)"))
def mention_twice(scene: Scene, order: str) -> None:
    for name in ORDERS[order]:
        scene.post(SLACK[name])


@when("a mention without a file arrives twice")
def mention_without_file(scene: Scene) -> None:
    scene.post(SLACK["a mention"])
    scene.post(SLACK["a mention again"])


@when(
    parsers.re(
        r"(?P<what>.+ (arrives( (in|around) .+)?|is forwarded|is mentioned in reply to a message|asks"
        r' "help" in a group))$'
    )
)
def arrives(scene: Scene, what: str) -> None:
    scene.post(scene.kinds.posts[what])


@then(parsers.re(r'the resource gets "(?P<text>[^"]*)"$'))
def gets(scene: Scene, text: str) -> None:
    assert scene.asked.text == text.replace(" ; ", "\n")


@then(parsers.re(r'the resource gets "(?P<text>[^"]*)" with the quoted message "(?P<quoted>[^"]*)"'))
def gets_quoted(scene: Scene, text: str, quoted: str) -> None:
    assert scene.asked.text == text
    assert scene.asked.quoted is not None
    assert scene.asked.quoted.text == quoted.replace(" ; ", "\n")


@then(parsers.parse('it is told that "{author}" wrote what was forwarded'))
def told_author(scene: Scene, author: str) -> None:
    told = scene.asked.context.get("forwarded", {})
    assert isinstance(told, dict)
    assert told.get("author", "nobody") == author


@then(parsers.re(r"it is told the (?P<key>\w+)$"))
def told(scene: Scene, key: str) -> None:
    assert scene.asked.context[key]


@then(parsers.re(r'the resource gets "(?P<text>\w+)" once, (with the file "(?P<file>.+)"|without a file)'))
def gets_once(scene: Scene, text: str, file: str | None) -> None:
    assert (scene.asked.text, [got.name for got in scene.asked.files]) == (text, [file] if file else [])


@then(parsers.parse('nobody is asked, and the person is told "{notice}"'))
def told_notice(scene: Scene, notice: str) -> None:
    scene.world.settle()
    [(message,)] = scene.fetch("SELECT message FROM outbox")
    assert notice in message
    assert scene.resource.requests == []


@then("nobody is asked or told anything")
def nobody(scene: Scene) -> None:
    scene.world.settle()
    assert scene.fetch("SELECT id FROM inbox UNION SELECT id FROM outbox") == []


@then(parsers.parse('it comes from "{sender}", without an identity'))
def comes_from(scene: Scene, sender: str) -> None:
    assert scene.asked.sender.display_name == sender
    [(event,)] = scene.fetch("SELECT event FROM inbox")
    assert '"identities"' not in event
