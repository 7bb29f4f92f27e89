"""The steps of events.feature."""

import contextlib
import json
import re
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.inbound.rest.errors import status_of
from adapters.outbound.core_client.connection import CoreConnection
from adapters.outbound.core_client.use_cases import RemoteAccess, RemoteEvents
from domain.access.model import Caller, Role
from domain.events import RESET, LoggedEvent
from domain.refusals import Refusal
from domain.routing.model import RunRequest, RunResult
from domain.subscriptions.service import EventStreams
from ports.resources import DownstreamFailed
from tests.drivers.receiver import Receiver
from tests.drivers.resource import Resource
from tests.drivers.ways import WORDS, Rest
from tests.drivers.world import World
from tests.support.event_log import check_stories
from tests.support.waiting import until

scenarios("events.feature")

ADMIN = Caller("root", Role.ADMIN)


class Follower:
    """Somebody who reads a stream of events."""

    def __init__(self, world: World, caller: Caller) -> None:
        self._world = world
        self._caller = caller
        self.events: list[LoggedEvent] = []
        self.cursor: int | None = None
        self._reading: Future[None] | None = None

    def follow(self, *kinds: str, instances: tuple[int, ...] = ()) -> None:
        """Returns once what happens is recorded."""
        self._world.run(self._world.container.storage().event_log.listen("watchers"))
        after, self.cursor = self.cursor, None
        self._reading = self._world.begin(self._read(after, kinds, instances))
        until(lambda: self.cursor is not None, "the stream begins")

    async def _read(self, after: int | None, kinds: tuple[str, ...], instances: tuple[int, ...]) -> None:
        events = self._world.container.use_cases().events
        async with contextlib.aclosing(await events.watch(self._caller, after, kinds, instances)) as pages:
            async for page in pages:
                self.events += page.events
                self.cursor = page.cursor

    def leave(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]


class Scene:
    def __init__(self, world: World, receiver: Receiver) -> None:
        self.world, self.receiver = world, receiver
        self.rest = Rest(world)
        self.resource = Resource(world, lambda request: RunResult(f"You said: {request.text}"))
        self.followers: dict[str, Follower] = {}
        self.instance = 0
        self.written = 0
        self.refusals: list[str] = []

    def create(self) -> None:
        config = {"responseWebhookUrl": self.receiver.url}
        body = {"channelId": "http-webhook", "channelName": "x", "config": config}
        made = self.rest.create("ann", {**body, "downStreamResourceId": "agent::parrot"})
        self.instance = made.body["instanceId"]

    def follower(self, who: str) -> Follower:
        caller = ADMIN if who == "an admin" else Caller(who)
        return self.followers.setdefault(who, Follower(self.world, caller))

    def write(self, text: str) -> None:
        self.written += 1
        body = json.dumps({"message": text, "sessionId": "kim"}).encode()
        reply = self.rest.call("http-webhook", self.instance, body, {}, "webhook")
        assert reply.outcome == "done", reply

    def answered(self) -> None:
        """All that was written is answered, and what is to be told of it is stored."""
        self.receiver.wait_for(self.written)
        database = self.world.container.database()
        waiting = "SELECT count(*) FROM outbox WHERE status = 0"
        until(lambda: self.world.run(database.fetch_value(waiting)) == 0, "nothing is under way")


@pytest.fixture
def scene(world: World, receiver: Receiver) -> Iterator[Scene]:
    scene = Scene(world, receiver)
    yield scene
    for follower in scene.followers.values():
        follower.leave()


@given("ann has an instance")
def _(scene: Scene) -> None:
    scene.create()


@given("ann has an instance and follows its events")
def _(scene: Scene) -> None:
    scene.create()
    scene.follower("ann").follow(instances=(scene.instance,))


@given("bob follows all events that are his")
def _(scene: Scene) -> None:
    scene.follower("bob").follow()


@given("an admin follows all events")
def _(scene: Scene) -> None:
    scene.follower("an admin").follow()


@given(parsers.re(r"ann follows only the events (?P<first>\S+) and (?P<second>\S+)"))
def _(scene: Scene, first: str, second: str) -> None:
    scene.follower("ann").follow(first, second)


@given("the resource is broken")
def _(scene: Scene) -> None:
    def fail(_: RunRequest) -> RunResult:
        raise DownstreamFailed("it is broken", retryable=False)

    scene.resource.script = fail


@given("the receiver of answers refuses everything")
def _(scene: Scene) -> None:
    scene.receiver.script = [(400, {})] * 10


@given(parsers.parse('kim wrote "{text}", of which ann was told'))
def _(scene: Scene, text: str) -> None:
    scene.write(text)
    until(lambda: "delivery.sent" in scene.follower("ann").kinds(), "ann is told")


@when(parsers.re(r'kim writes "(?P<text>[^"]*)"(?P<waits>, which is answered)?'))
def _(scene: Scene, text: str, waits: str | None) -> None:
    scene.write(text)
    if waits:
        scene.answered()


@when("kim writes 12 messages at once")
def _(scene: Scene) -> None:
    for number in range(12):
        scene.write(f"message {number}")


@when("ann leaves")
def _(scene: Scene) -> None:
    scene.follower("ann").leave()
    scene.follower("ann").events.clear()


@when("ann comes back")
def _(scene: Scene) -> None:
    scene.follower("ann").follow(instances=(scene.instance,))


@when("the events of that time are deleted")
def _(scene: Scene) -> None:
    storage = scene.world.container.storage()
    scene.world.run(storage.event_log.publish())
    scene.world.run(storage.database.execute("DELETE FROM event_log"))


@when(parsers.re("bob wants to follow (?P<what>.*)"))
def _(scene: Scene, what: str) -> None:
    kinds = ["message.lost"] if "kind" in what else []
    instances = {"the events of ann's instance": [scene.instance], "the events of no instance": [99]}.get(
        what, []
    )
    asked = scene.world.run(_asked(scene.world.container.use_cases().events, kinds, instances))
    token = scene.world.key_of("bob")
    core = scene.world.run(_asked_of_core(scene.world, token, kinds, instances))
    scene.refusals = [asked, core]


async def _asked(events: EventStreams, kinds: list[str], instances: list[int]) -> str:
    try:
        async with contextlib.aclosing(await events.watch(Caller("bob"), None, kinds, instances)) as pages:
            await anext(pages)
    except Refusal as refusal:
        return WORDS[status_of(refusal)]
    return "allowed"


async def _asked_of_core(world: World, token: str, kinds: list[str], instances: list[int]) -> str:
    core = CoreConnection(f"127.0.0.1:{world.grpc.port}")
    try:
        await RemoteAccess(core).authenticate(token)
        return await _asked(RemoteEvents(core), kinds, instances)
    finally:
        await core.close()


@then(parsers.re("ann is told, in this order: (?P<kinds>.*)"))
def _(scene: Scene, kinds: str) -> None:
    told = kinds.split(", ")
    follower = scene.follower("ann")
    until(lambda: len(follower.events) >= len(told), "ann is told")
    assert follower.kinds() == told


@then(parsers.parse('the message is told with the text "{text}" from kim'))
def _(scene: Scene, text: str) -> None:
    event = _told(scene, "message.received")
    assert event.data["text"] == text
    assert (event.instance_id, event.session_id) == (scene.instance, "kim")
    assert re.fullmatch(r"in-\d+", str(event.data["messageId"]))


@then(parsers.parse('the answer is told with the text "{text}", as the reply to that message'))
def _(scene: Scene, text: str) -> None:
    received, answered = _told(scene, "message.received").data, _told(scene, "message.answered").data
    assert (answered["text"], answered["inReplyTo"]) == (text, received["messageId"])
    assert _told(scene, "delivery.sent").data["messageId"] == answered["messageId"]


@then("the failure is told with its reason")
def _(scene: Scene) -> None:
    assert "it is broken" in str(_told(scene, "message.failed").data["error"])


@then("the delivery is told with its reason")
def _(scene: Scene) -> None:
    assert "400" in str(_told(scene, "delivery.dead").data["reason"])


@then("each of them is told as received, answered and sent, in the order in which they came")
def _(scene: Scene) -> None:
    follower = scene.follower("ann")
    until(lambda: follower.kinds().count("delivery.sent") == 12, "all are told as sent")
    documents = [event.document() for event in follower.events]
    check_stories(documents, [f"message {number}" for number in range(12)])


@then("ann and the admin are told of it")
def _(scene: Scene) -> None:
    for who in ("ann", "an admin"):
        until(lambda who=who: "delivery.sent" in scene.follower(who).kinds(), f"{who} is told")


@then("bob is told nothing")
def _(scene: Scene) -> None:
    assert scene.follower("bob").events == []


@then(parsers.parse('that is refused as "{refusal}", by the service and by its core'))
def _(scene: Scene, refusal: str) -> None:
    assert scene.refusals == [refusal, refusal]


@then(parsers.parse('she is told of "{text}" and not of "{other}"'))
def _(scene: Scene, text: str, other: str) -> None:
    follower = scene.follower("ann")
    until(lambda: "delivery.sent" in follower.kinds(), "ann is told")
    texts = {event.data["text"] for event in follower.events if "text" in event.data}
    assert texts == {text, f"You said: {text}"}
    assert RESET not in follower.kinds()


@then(parsers.parse('she is told that events are missing, and of "{text}"'))
def _(scene: Scene, text: str) -> None:
    follower = scene.follower("ann")
    until(lambda: "delivery.sent" in follower.kinds(), "ann is told")
    assert follower.kinds()[:2] == [RESET, "message.received"]
    assert follower.events[1].data["text"] == text


@then("no event is recorded")
def _(scene: Scene) -> None:
    database = scene.world.container.database()
    assert scene.world.run(database.fetch_value("SELECT count(*) FROM event_log")) == 0


def _told(scene: Scene, kind: str) -> LoggedEvent:
    [event] = [event for event in scene.follower("ann").events if event.kind == kind]
    return event
