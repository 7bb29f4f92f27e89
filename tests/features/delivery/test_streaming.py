"""The steps of streaming.feature."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.routing.model import Confirmation, RunResult
from tests.drivers.groups import GROUPS
from tests.drivers.platform import PlatformDriver
from tests.drivers.streaming import PieceByPiece, Watch, hurry
from tests.drivers.ways import Rest
from tests.drivers.world import World

scenarios("streaming.feature")

LONG = "A first sentence. " + "word " * 9000


@pytest.fixture(scope="module")
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    """One address for all platforms, one after the other."""
    driver = PlatformDriver()
    addresses = {name: driver.url + group.api for group, _ in GROUPS.values() for name in group.settings}
    request.module.SETTINGS = addresses
    yield driver
    driver.close()


class Scene:
    """A bot on a platform, and the resource behind it."""

    def __init__(self, world: World, driver: PlatformDriver) -> None:
        self.world = world
        self.driver = driver
        self.resource = PieceByPiece(world)

    def open(self, platform: str) -> None:
        group, standin = GROUPS[platform]
        self.driver.show(standin())
        self.watch = Watch(self.driver.platform)
        self.group = group(self.driver.platform)
        body = {
            "channelId": self.group.channel_id,
            "channelName": "Works",
            "config": self.group.configured(),
            "downStreamResourceId": "agent::slow",
        }
        made = Rest(self.world).create("ann", body)
        assert made.outcome == "created", made.body
        self.instance_id = made.body["instanceId"]

    def sees(self) -> list[str]:
        return list(self.driver.platform.visible().values())

    def wait_for(self, *texts: str) -> None:
        assert self.driver.wait_until(lambda: self.sees() == list(texts)), self.sees()


@pytest.fixture
def scene(world: World, platform_driver: PlatformDriver, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    hurry(monkeypatch)
    yield Scene(world, platform_driver)
    assert platform_driver.platform.faults == []


@given(parsers.parse("a bot on {platform} whose resource gives its answer in pieces"))
def streaming_bot(scene: Scene, platform: str) -> None:
    scene.open(platform)


@when(parsers.parse('"{who}" writes "{text}"'))
def writes(scene: Scene, who: str, text: str) -> None:
    call = scene.group.write(who, text, scene.world.clock.now())
    group = scene.group
    reply = Rest(scene.world).call(
        group.channel_id, scene.instance_id, call.body, call.headers, call.callback
    )
    assert reply.outcome == "done", reply


@when(parsers.parse('the resource has said "{text}"'))
def has_said(scene: Scene, text: str) -> None:
    scene.resource.say(text)


@when(parsers.parse('the resource ends with "{text}"'))
def ends_with(scene: Scene, text: str) -> None:
    scene.resource.end(RunResult(text))


@when("the resource ends with an answer of several messages")
def ends_with_much(scene: Scene) -> None:
    scene.resource.end(RunResult(LONG))


@when("the resource ends without a text")
def ends_without_text(scene: Scene) -> None:
    scene.resource.end(RunResult(""))


@when(parsers.parse('the resource asks to use the tool "{tool}"'))
def asks(scene: Scene, tool: str) -> None:
    scene.resource.end(RunResult("", confirmation=Confirmation(tool, {})))


@when("the platform asks for a pause at the next edit")
def will_ask_for_pause(scene: Scene) -> None:
    scene.watch.refusals = 1


@when("the platform has asked for the pause")
def has_asked_for_pause(scene: Scene) -> None:
    assert scene.driver.wait_until(lambda: len(scene.watch.refused) == 1)


@when("somebody deletes the message")
def is_deleted(scene: Scene) -> None:
    (number,) = scene.driver.platform.visible()
    scene.driver.platform.gone.add(number)


@then(parsers.parse('people see "{text}"'))
def people_see(scene: Scene, text: str) -> None:
    scene.wait_for(text)


@then("people see nothing")
def people_see_nothing(scene: Scene) -> None:
    scene.wait_for()


@then("the message never became shorter")
def grew(scene: Scene) -> None:
    sizes = [len(shown.text.removesuffix(" …")) for shown in scene.watch.shown]
    assert sizes == sorted(sizes)
    assert [shown.is_edit for shown in scene.watch.shown] == [False] + [True] * (len(sizes) - 1)


@then(parsers.parse('its beginning has taken the place of "{text}", and the rest follows'))
def continued(scene: Scene, text: str) -> None:
    (number,) = [number for number, shown in list(scene.driver.platform.visible().items())[:1]]
    assert scene.driver.wait_until(lambda: " ".join(scene.sees()).split() == LONG.split()), scene.sees()
    assert next(iter(scene.driver.platform.visible())) == number


@then(parsers.parse('the question about "{tool}" has taken the place of "{text}"'))
def asked(scene: Scene, tool: str, text: str) -> None:
    assert scene.driver.wait_until(lambda: len(scene.sees()) == 1 and tool in scene.sees()[0]), scene.sees()
    assert scene.group.channel_id


@then("nothing was sent during the pause")
def paused(scene: Scene) -> None:
    (asked_at,) = scene.watch.refused
    later = [shown.at - asked_at for shown in scene.watch.shown if shown.at > asked_at]
    assert later
    assert min(later) >= scene.watch.pause - 0.1
    assert all(earlier.at <= after.at for earlier, after in pairwise(scene.watch.shown))
