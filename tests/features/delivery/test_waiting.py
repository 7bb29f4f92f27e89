"""The steps of waiting.feature."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.routing.indicators import SHOWN_AFTER_SECONDS
from domain.routing.model import Confirmation, RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.drivers.groups import GROUPS, Discord, Group, Slack, Telegram
from tests.drivers.platform import PlatformDriver, take_turns
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.platforms.standin import Reply, Seen
from tests.support.waiting import let_pass

scenarios("waiting.feature")

TYPING = ("/sendChatAction", "/typing")


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
        self.resource = Resource(world, lambda _: RunResult("the answer"))
        self.signs = 0

    def open(self, platform: str, resource: str | None = "agent::slow", **config: Any) -> None:
        group, standin = GROUPS[platform]
        self.driver.show(standin())
        self.group: Group = group(self.driver.platform)
        body = {
            "channelId": self.group.channel_id,
            "channelName": "Works",
            "config": {**self.group.configured(), **config},
            "downStreamResourceId": resource,
        }
        made = Rest(self.world).create("ann", body)
        assert made.outcome == "created", made.body
        self.instance_id = made.body["instanceId"]

    def post(self, call: Any) -> None:
        reply = Rest(self.world).call(
            self.group.channel_id, self.instance_id, call.body, call.headers, call.callback
        )
        assert reply.outcome == "done", reply

    def wait(self, condition: Callable[[], bool]) -> None:
        assert self.driver.wait_until(condition), self.driver.platform.seen

    def asked_to_show(self) -> int:
        return len([each for each in self.driver.platform.seen if is_typing(each)])


def is_typing(seen: Seen) -> bool:
    """Whether a request asks a platform to show that somebody is writing."""
    words = (b'"type":"typing"', b"typing_indicator")
    return seen.path.endswith(TYPING) or any(each in seen.body.replace(b" ", b"") for each in words)


@pytest.fixture
def scene(world: World, platform_driver: PlatformDriver) -> Iterator[Scene]:
    made = Scene(world, platform_driver)
    yield made
    if made.resource.hold is not None:
        world.run(_set(made.resource.hold))
    assert platform_driver.platform.faults == []


async def _set(event: asyncio.Event) -> None:
    event.set()


@given(parsers.parse("a bot on {platform} whose resource takes its time"))
def slow_bot(scene: Scene, platform: str) -> None:
    scene.open(platform)
    scene.resource.hold = asyncio.Event()


@given(parsers.parse("a bot on {platform} whose resource answers nothing"))
def silent_bot(scene: Scene, platform: str) -> None:
    scene.open(platform)
    scene.resource.script = lambda _: RunResult("")


@given(parsers.parse('a bot on {platform} whose resource answers "{words}"'))
def answering_bot(scene: Scene, platform: str, words: str) -> None:
    scene.open(platform)
    scene.resource.script = lambda _: RunResult(words)


def broken(_: RunRequest) -> RunResult:
    raise DownstreamFailed("it is broken", retryable=False)


@given(parsers.parse("a bot on {platform} whose resource fails"))
def failing_bot(scene: Scene, platform: str) -> None:
    scene.open(platform)
    scene.resource.script = broken


@given(parsers.parse("a bot on {platform} without a resource"))
def bot_without_resource(scene: Scene, platform: str) -> None:
    scene.open(platform, None)


@given(parsers.parse("a bot on {platform} that asks before it uses a tool and then answers nothing"))
def asking_bot(scene: Scene, platform: str) -> None:
    scene.open(platform)
    scene.resource.script = lambda request: RunResult(
        "", confirmation=None if request.approval else Confirmation("open_valve", {})
    )


@given(parsers.parse('a bot on {platform} for verified users alone, of which "ada" has been told'))
def exclusive_bot(scene: Scene, platform: str) -> None:
    scene.open(platform, accessMode="allowlist", identifyUsers=True)
    scene.post(scene.group.write("ada", "may I?", scene.world.clock.now()))
    scene.wait(lambda: any(b"Only verified users" in each.body for each in scene.driver.platform.seen))
    scene.world.settle()


@given("the platform refuses to show that somebody is writing")
def refuses_typing(scene: Scene) -> None:
    platform = scene.driver.platform
    answer = platform.answer
    refusal = Reply(403, {"ok": False, "error": {"code": 10}, "description": "Forbidden", "message": "no"})
    platform.answer = lambda seen: refusal if is_typing(seen) else answer(seen)  # type: ignore[method-assign]


@given("the platform does not answer when it is asked to show that somebody is writing")
def hangs_on_typing(scene: Scene) -> None:
    platform = scene.driver.platform
    handle = platform.handle

    async def hang(request: Any) -> Any:
        body = await request.read()
        if is_typing(Seen(request.method, request.path, {}, {}, body)):
            await asyncio.sleep(30)
        return await handle(request)

    platform.handle = hang  # type: ignore[method-assign]


@given("the platform refuses the answer")
def refuses_answer(scene: Scene) -> None:
    platform = scene.driver.platform
    answer = platform.answer
    refusal = Reply(400, {"code": 50035, "message": "Invalid Form Body"})
    platform.answer = lambda seen: refusal if seen.method == "PATCH" else answer(seen)  # type: ignore[method-assign]


@when(parsers.parse('"{who}" writes "{text}"'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.post(scene.group.write(who, text, scene.world.clock.now()))
    scene.resource.wait_for(1)


@when(parsers.parse('"{who}" gives the command "{text}"'))
def commands(scene: Scene, who: str, text: str) -> None:
    assert isinstance(scene.group, (Discord, Slack))
    scene.post(scene.group.command(who, text, scene.world.clock.now()))


@when(parsers.parse('the question has arrived, "{who}" gives the command "{text}"'))
def commands_after(scene: Scene, who: str, text: str) -> None:
    scene.world.settle()
    # The stand-in knows one command at a time.
    scene.driver.platform.originals.clear()  # type: ignore[attr-defined]
    scene.driver.platform.answered.clear()  # type: ignore[attr-defined]
    commands(scene, who, text)


@when(parsers.parse('"{who}" presses a button "{value}"'))
def presses(scene: Scene, who: str, value: str) -> None:
    assert isinstance(scene.group, Telegram)
    scene.post(scene.group.press_value(who, value))


@when(parsers.parse("{seconds:d} seconds pass"))
def seconds_pass(scene: Scene, seconds: int) -> None:
    async def ahead() -> None:
        await take_turns()  # an answer that is on its way would come too late for a call's deadline
        scene.signs = scene.asked_to_show()
        let_pass(seconds)

    scene.driver.wait_answered()
    scene.world.run(ahead())


async def after(seconds: float) -> None:
    let_pass(seconds)


@when("the instance is removed")
def is_removed(scene: Scene) -> None:
    scene.resource.wait_for(1)
    assert Rest(scene.world).delete("ann", scene.instance_id).outcome == "done"


@when("the resource fails")
def fails(scene: Scene) -> None:
    scene.resource.script = broken
    answers(scene)


@when("the resource answers")
def answers(scene: Scene) -> None:
    hold, scene.resource.hold = scene.resource.hold, None
    assert hold is not None
    scene.world.run(_set(hold))
    scene.world.settle()


@then("the platform is asked to show that somebody is writing")
def shown(scene: Scene) -> None:
    if scene.resource.hold:
        scene.world.run(after(SHOWN_AFTER_SECONDS))
    shown_again(scene)


@then("the platform is asked to show that once more")
def shown_again(scene: Scene) -> None:
    scene.wait(lambda: scene.asked_to_show() > scene.signs)


@then("the platform is not asked to show that again")
def not_shown_again(scene: Scene) -> None:
    scene.world.run(asyncio.sleep(0.1))
    assert scene.asked_to_show() == scene.signs


@then("the answer arrives")
def answer_arrives(scene: Scene) -> None:
    scene.wait(lambda: any(b"the answer" in each.body for each in scene.driver.platform.seen))


@then(parsers.parse('"{words}" arrives'))
def words_arrive(scene: Scene, words: str) -> None:
    scene.wait(lambda: any(words.encode() in each.body for each in scene.driver.platform.seen))
    scene.world.settle()


@then("the bot stops thinking")
def stops_thinking(scene: Scene) -> None:
    scene.wait(lambda: scene.driver.platform.withdrawn == 1)  # type: ignore[attr-defined]
    scene.world.settle()


@then("the answer takes the place of thinking")
def replaces_thinking(scene: Scene) -> None:
    platform: Any = scene.driver.platform
    scene.wait(lambda: [each["content"] for each in platform.originals] == ["done"])
    assert platform.withdrawn == 0


@then(parsers.parse('"{who}" alone is told "{words}"'))
def told_alone(scene: Scene, who: str, words: str) -> None:
    scene.wait(lambda: words in scene.group.told(who))


@then("the press is answered once")
def press_answered(scene: Scene) -> None:
    platform: Any = scene.driver.platform
    scene.wait(lambda: bool(platform.of("answerCallbackQuery")))
    scene.world.settle()
    assert len(platform.of("answerCallbackQuery")) == 1
