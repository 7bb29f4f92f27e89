"""The steps of isolation.feature."""

import json
import random
import string
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.community_chat.tests import samples as mattermost
from domain.refusals import Unavailable
from domain.routing import service as routing
from domain.routing.conversation import PROCESSING_FAILED
from domain.routing.model import RunRequest, RunResult
from tests.drivers.platform import PlatformDriver
from tests.drivers.receiver import Receiver
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.platforms.standin import Reply, Seen, StandIn
from tests.support.waiting import until

scenarios("isolation.feature")


class LongIds(StandIn):
    """A Mattermost that gives its posts ids of so many characters."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length
        self.posts: list[str] = []

    def answer(self, seen: Seen) -> Reply:
        if not seen.path.endswith("/posts"):
            return Reply(json={})
        self.posts.append(seen.json["message"])
        id = "".join(
            chr(0x4E00 + (number * 7919 + len(self.posts)) % 20_000) for number in range(self.length)
        )
        return Reply(201, {"id": id})


class Scene:
    """Ann's instance and Bob's, and what each got."""

    def __init__(self, world: World, receiver: Receiver) -> None:
        self.world = world
        self.receiver = receiver
        self.rest = Rest(world)
        self.resource = Resource(world, self._script)
        self.broken: set[int] = set()
        self.written: dict[str, list[str]] = {"ann": [], "bob": []}
        self.instances: dict[str, int] = {}
        self.platform: LongIds | None = None

    def _script(self, request: RunRequest) -> RunResult:
        if request.instance_id in self.broken:
            raise Unavailable("the file store is closed")
        return RunResult(f"heard {request.text}")

    def create(self, user: str, channel_id: str = "http-webhook", **config: Any) -> int:
        body = {
            "channelId": channel_id,
            "channelName": "n",
            "config": {"responseWebhookUrl": f"{self.receiver.url}/{user}", **config},
            "downStreamResourceId": "agent::x",
        }
        created = self.rest.create(user, body)
        assert created.outcome == "created", created
        self.instances[user] = int(created.body["instanceId"])
        return self.instances[user]

    def write(self, user: str, count: int, length: int = 0) -> None:
        for number in range(count):
            session = f"{user} {number} "
            session += "".join(random.Random(number).choices(string.ascii_letters, k=length - len(session)))
            self.written[user].append(session)
            body = json.dumps({"message": session, "sessionId": session}).encode()
            call = self.rest.call("http-webhook", self.instances[user], body, {}, "webhook")
            assert call.outcome == "done", call

    def fetch(self, query: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        return self.world.run(self.world.container.database().fetch(query, parameters))

    def answers(self, user: str) -> Counter[str]:
        path = f"/answers/{user}"
        return Counter(each.json["response"] for each in self.receiver.deliveries if each.path == path)


@pytest.fixture
def scene(world: World, receiver: Receiver) -> Scene:
    return Scene(world, receiver)


@pytest.fixture
def driver() -> Iterator[PlatformDriver]:
    made = PlatformDriver()
    yield made
    made.close()


@given("a webhook of ann")
def webhook_of_ann(scene: Scene) -> None:
    scene.create("ann")


@given("a webhook of bob")
def webhook_of_bob(scene: Scene) -> None:
    scene.create("bob")


@given("a webhook of ann that serves verified users alone")
def closed_webhook(scene: Scene) -> None:
    scene.create("ann", accessMode="allowlist")


@given("a webhook of ann whose resource needs a file store that is closed")
def broken_resource(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "RETRIES", (0.1, 0.1, 0.1, 0.1))
    scene.broken.add(scene.create("ann"))


@given("a webhook of ann whose replies the database refuses")
def refused_replies(scene: Scene) -> Iterator[None]:
    yield from _refusing(scene, "outbox")


@given("a webhook of ann whose messages the database refuses")
def refused_messages(scene: Scene) -> Iterator[None]:
    yield from _refusing(scene, "inbox")


def _refusing(scene: Scene, table: str) -> Iterator[None]:
    """A webhook of ann of which the table takes no row, until the scenario ends."""
    id = scene.create("ann")
    scene.fetch(f"ALTER TABLE {table} ADD CONSTRAINT refused CHECK (instance_id <> {id}) NOT VALID")
    yield
    scene.fetch(f"ALTER TABLE {table} DROP CONSTRAINT refused")


@given(parsers.parse("a Mattermost of ann that gives its posts ids of {length:d} characters"))
def long_ids(scene: Scene, driver: PlatformDriver, length: int) -> None:
    scene.platform = LongIds(length)
    driver.show(scene.platform)
    scene.create("ann", "community-chat", **{**mattermost.SAMPLE.config, "SERVER_URL": driver.url})


@when(parsers.parse("ada writes to ann's Mattermost {count:d} times"))
def write_to_mattermost(scene: Scene, count: int) -> None:
    for number in range(count):
        text = f"message {number}"
        scene.written["ann"].append(text)
        body = {**mattermost.POST, "post_id": f"p{number}", "text": text, "trigger_word": ""}
        headers = {"content-type": "application/json"}
        call = scene.rest.call(
            "community-chat", scene.instances["ann"], json.dumps(body).encode(), headers, "webhook"
        )
        assert call.outcome == "done", call


@when(parsers.parse("20 conversations write to bob's webhook"))
def bob_is_written_to(scene: Scene) -> None:
    scene.write("bob", 20)


@when(parsers.parse("20 conversations with session ids of {length:d} characters write to ann's webhook"))
def long_sessions(scene: Scene, length: int) -> None:
    scene.write("ann", 20, length)


@when("a conversation writes to ann's webhook")
def ann_is_written_to(scene: Scene) -> None:
    scene.write("ann", 1)


@when("a call of ann's webhook cannot be stored")
def unstorable_call(scene: Scene) -> None:
    path = f"/api/agent/channels/http-webhook/{scene.instances['ann']}/webhook"
    assert scene.rest.request("POST", path, content=b'{"message": "hello"}').status_code == 500


@when("20 conversations write to ann's webhook and 20 to bob's at once")
def both_are_written_to(scene: Scene) -> None:
    scene.write("ann", 20)
    scene.write("bob", 20)


@when("a message to ann is damaged in the database before it is worked on")
def damaged_message(scene: Scene) -> None:
    id = scene.instances["ann"]
    scene.fetch(
        "INSERT INTO inbox (instance_id, session_key, event_key, event) VALUES (%s, 'damaged', 'k', '{')",
        (id,),
    )
    scene.fetch(
        "INSERT INTO queue (kind, instance_id, session_key, pending) VALUES (0, %s, 'damaged', 1)", (id,)
    )


@when("a reply of ann's is damaged in the database before it is sent")
def damaged_reply(scene: Scene) -> None:
    id = scene.instances["ann"]
    scene.fetch(
        "INSERT INTO outbox (instance_id, session_key, message, target, key) VALUES (%s, 'damaged', '{', '{}', 'k')",
        (id,),
    )
    scene.fetch(
        "INSERT INTO queue (kind, instance_id, session_key, pending) VALUES (1, %s, 'damaged', 1)", (id,)
    )


@then("each message to bob is answered once")
def bob_is_answered(scene: Scene) -> None:
    expected = Counter(f"heard {text}" for text in scene.written["bob"])
    until(lambda: scene.answers("bob") >= expected, "bob's answers")
    assert scene.answers("bob") == expected


@then("each message to ann is answered once")
def ann_is_answered(scene: Scene) -> None:
    platform = scene.platform
    assert platform is not None
    expected = sorted(f"heard {text}" for text in scene.written["ann"])
    until(lambda: len(platform.posts) >= len(expected), "ann's answers")
    nothing_waits(scene)
    assert sorted(platform.posts) == expected


@then("each conversation with ann gets the notice once")
def noticed(scene: Scene) -> None:
    until(lambda: scene.answers("ann").total() >= 20, "the notices")
    [(notice, count)] = scene.answers("ann").items()
    assert "Only verified users" in notice
    assert count == 20


@then("the conversation with ann gets an apology after 5 tries")
def apology(scene: Scene) -> None:
    until(lambda: scene.answers("ann").total() >= 1, "the apology")
    assert scene.answers("ann") == {PROCESSING_FAILED: 1}
    asked = [each for each in scene.resource.requests if each.instance_id in scene.broken]
    assert len(asked) == 5
    assert len({each.request_id for each in asked}) == 1


@then("ann has a dead letter")
def dead_letter(scene: Scene) -> None:
    def listed() -> list[str]:
        found = scene.rest.deliveries("ann", scene.instances["ann"], "dead")
        return [each["status"] for each in found.body["deliveries"]]

    until(lambda: listed() == ["dead"], "the dead letter")


@then(parsers.parse('ann\'s instance is not healthy, as "{reason}"'))
def not_healthy(scene: Scene, reason: str) -> None:
    def told() -> bool:
        health = scene.rest.health("ann", scene.instances["ann"]).body
        return not health["healthy"] and reason in json.dumps(health)

    until(told, f"the health says {reason}")


@then("nothing waits")
def nothing_waits(scene: Scene) -> None:
    waiting = (
        "SELECT (SELECT count(*) FROM inbox WHERE status = 0), (SELECT count(*) FROM outbox WHERE status = 0)"
    )
    until(lambda: scene.fetch(waiting) == [(0, 0)], "everything has an outcome")
