"""The steps of threads.feature, on Slack."""

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.workspace_chat.tests import samples
from domain.routing.model import RunRequest, RunResult
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Reply, Rest
from tests.drivers.world import World
from tests.support.platforms.slack import BOT, Slack
from tests.support.waiting import until

EDGE = samples.SETTING
scenarios("threads.feature")

PEOPLE = {"Ada": "U0ADA", "Bob": "U0BOB"}
CHANNEL = "C0ROOM"
THREAD = "1800000001.000100"


class Scene:
    """A bot of Slack in a channel, and the resource behind it."""

    def __init__(self, world: World, driver: PlatformDriver) -> None:
        self.world, self.driver = world, driver
        self.slack = Slack()
        driver.show(self.slack)
        self.resource = Resource(world, lambda request: RunResult(f"heard {request.text}"))
        self.replies: list[Reply] = []
        self._rest = Rest(world)
        self._numbers = itertools.count(10)

    def create(self, **settings: Any) -> None:
        body = {
            "channelId": "workspace-chat",
            "channelName": "Bot",
            "config": {**samples.CONFIG, **settings},
            "downStreamResourceId": "agent::helper",
        }
        self.instance_id = self._rest.create("ann", body).body["instanceId"]

    def write(self, who: str, text: str, thread: str = "", kind: str = "message", ts: str = "") -> str:
        """A message of the channel, as Slack posts it; the id that it has there."""
        ts = ts or f"18000001{next(self._numbers)}.000100"
        body = samples.fixture("message_channel")
        body["event"] |= {"type": kind, "user": PEOPLE[who], "text": text, "ts": ts}
        body["event"] |= {"thread_ts": thread} if thread else {}
        call = samples.as_posted("message_channel", body, self.world.clock.now())
        reply = self._rest.call("workspace-chat", self.instance_id, call.body, call.headers, "webhook")
        assert reply.outcome == "done", reply
        self.replies.append(reply)
        return ts

    def mention(self, who: str, text: str, thread: str = THREAD) -> str:
        self.mentioned = self.write(who, f"<@{BOT}> {text}", thread, "app_mention")
        return self.mentioned

    def wait_answered(self, count: int = 1) -> None:
        self.resource.wait_for(count)
        statement = "SELECT count(*) FROM outbox WHERE status = 1"
        until(lambda: self.rows(statement) >= count, "the answer is sent")

    def rows(self, statement: str = "SELECT count(*) FROM inbox") -> int:
        [(count,)] = self.world.run(self.world.container.database().fetch(statement))
        return int(count)

    def last_asked(self, count: int) -> RunRequest:
        return self.resource.wait_for(count)[count - 1]


@pytest.fixture
def scene(world: World, platform_driver: PlatformDriver) -> Scene:
    return Scene(world, platform_driver)


SETTINGS_OF: dict[str, dict[str, Any]] = {
    "a bot in a channel": {},
    "a bot in a channel that does not follow threads": {"followThreads": False},
    "a bot in a channel that answers in threads": {"replyInThread": True},
    "a bot that may answer in another channel alone": {"allowedChannels": "C0OTHER"},
    "a bot in a channel that needs no mention": {"requireMention": False},
}


@given(parsers.re(f"(?P<bot>{'|'.join(sorted(SETTINGS_OF, key=len, reverse=True))})$"))
def a_bot(scene: Scene, bot: str) -> None:
    scene.create(**SETTINGS_OF[bot])


@given("a bot in a channel, whose resource takes its time")
def slow_bot(scene: Scene) -> None:
    scene.create()
    scene.resource.hold = asyncio.Event()


@given(parsers.parse('a thread in which Bob wrote "{first}" and Ada "{second}"'))
def a_thread(scene: Scene, first: str, second: str) -> None:
    said = zip(("U0BOB", "U0ADA"), (first, second), (THREAD, "1800000002.000100"), strict=True)
    scene.slack.threads[THREAD] = [{"user": user, "text": text, "ts": ts} for user, text, ts in said]


@given(parsers.parse('Ada mentioned it in a thread with "{text}"'))
def mentioned(scene: Scene, text: str) -> None:
    scene.mention("Ada", text)
    scene.resource.wait_for(1)


@given(parsers.re(r'Ada mentioned (it in a|the bot in that) thread with "(?P<text>[^"]*)", and it answered'))
def mentioned_and_answered(scene: Scene, text: str) -> None:
    scene.mention("Ada", text)
    scene.wait_answered()


@given(parsers.parse('Ada mentioned it in the channel with "{text}", and it answered'))
def mentioned_in_channel(scene: Scene, text: str) -> None:
    scene.mention("Ada", text, thread="")
    scene.wait_answered()


@when(parsers.parse('Bob writes "{text}" in a thread below that answer'))
def writes_below(scene: Scene, text: str) -> None:
    scene.write("Bob", text, "1800000000.000001")  # what the stand-in calls our first message


@then(parsers.parse('the resource is asked "{text}" and told that it answered "{answer}"'))
def asked_below(scene: Scene, text: str, answer: str) -> None:
    request = scene.last_asked(2)
    assert request.text == text
    assert request.quoted is not None
    assert (request.quoted.author, request.quoted.text) == ("resource", answer)


@when(parsers.parse('Bob writes "{text}" in that thread'))
def writes_in_thread(scene: Scene, text: str) -> None:
    scene.write("Bob", text, THREAD)
    if scene.resource.hold is not None:
        scene.world.run(_end(scene.resource.hold))


async def _end(hold: asyncio.Event) -> None:
    hold.set()


@when(parsers.parse('Bob writes "{text}" in a thread of which the bot knows nothing'))
def writes_elsewhere(scene: Scene, text: str) -> None:
    scene.write("Bob", text, THREAD)


@when(parsers.parse('Bob writes "{text}" in the channel'))
def writes_in_channel(scene: Scene, text: str) -> None:
    scene.write("Bob", text)


@when("the mention arrives once more as a message of the channel")
def arrives_again(scene: Scene) -> None:
    scene.write("Ada", f"<@{BOT}> Is it hot?", THREAD, ts=scene.mentioned)


@when(
    parsers.re(
        r'Ada mentions the bot in (that thread|a thread that the platform does not show) with "(?P<text>.*)"'
    )
)
def mentions(scene: Scene, text: str) -> None:
    scene.mention("Ada", text)


@when(parsers.parse('Ada mentions it in the channel with "{text}"'))
def mentions_in_channel(scene: Scene, text: str) -> None:
    scene.mention("Ada", text, thread="")


@then(parsers.parse('the resource is asked "{text}"'))
def asked(scene: Scene, text: str) -> None:
    assert scene.last_asked(1).text == text


@then(parsers.parse('the resource is asked "{text}" in the same conversation'))
def asked_again(scene: Scene, text: str) -> None:
    request = scene.last_asked(2)
    assert (request.text, request.session_id) == (text, scene.resource.requests[0].session_id)


@then(parsers.parse('the resource is asked "{text}" without what was said before'))
def asked_alone(scene: Scene, text: str) -> None:
    request = scene.last_asked(scene.rows())
    assert (request.text, request.thread) == (text, ())


@then("nothing of it is stored")
def nothing_stored(scene: Scene) -> None:
    assert scene.rows() == 0
    assert scene.rows("SELECT count(*) FROM queue") == 0


@then("nothing more is stored")
def nothing_more(scene: Scene) -> None:
    assert scene.rows() == 1


@then("the resource was asked once")
def asked_once(scene: Scene) -> None:
    assert scene.rows() == 1
    assert len(scene.resource.requests) == 1


@then("the resource is told of the thread")
def told_of_thread(scene: Scene, datatable: Sequence[Sequence[str]]) -> None:
    told = [(message.author, message.text) for message in scene.last_asked(1).thread]
    assert told == [(PEOPLE[who], text) for who, text in datatable[1:]]


@then(parsers.parse('it is told that the thread began with "{text}" of Bob'))
def told_of_first(scene: Scene, text: str) -> None:
    quoted = scene.last_asked(1).quoted
    assert quoted is not None
    assert (quoted.author, quoted.text) == (PEOPLE["Bob"], text)


@then("the answer stands in a thread below the mention")
def in_thread(scene: Scene) -> None:
    scene.wait_answered()
    assert [message["thread_ts"] for message in scene.slack.messages] == [scene.mentioned]


@then("a message of Bob in that thread is of the same conversation")
def same_conversation(scene: Scene) -> None:
    scene.write("Bob", "And the other one?", scene.mentioned)
    asked_again(scene, "And the other one?")


@then("the platform is told that all is well")
def all_well(scene: Scene) -> None:
    assert scene.replies[-1].outcome == "done"


@then("it is counted as ignored")
def counted(scene: Scene) -> None:
    labels = {"channel": "workspace-chat", "kind": "ignored:channel"}
    registry = scene.world.container.foundation().meter.registry
    assert registry.get_sample_value("switchboard_received_total", labels) == 1
