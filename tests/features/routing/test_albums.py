"""The steps of albums.feature: pictures are accepted by one service, and worked on by another on its database."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from domain.routing import albums
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import UseCases
from tests.drivers.world import World
from tests.support.platforms.telegram import Telegram
from tests.support.receiver import Receiver
from tests.support.waiting import until

EDGE = samples.SETTING
scenarios("albums.feature")

PEOPLE = {"Ada": 5550001, "Bob": 5550002}
GROUP = -100777
LONG = 3600.0
"""Seconds that lie between no two pictures that are sent at once, however busy this machine is."""


class Scene:
    def __init__(
        self,
        make: Callable[..., World],
        resource: Receiver,
        platform: Telegram,
        settings: dict[str, str],
        quiet: Callable[[float], None],
    ) -> None:
        self.quiet = quiet
        self.platform, self.resource = platform, resource
        self._make = make
        self._settings = {**settings, "DOWNSTREAM_URL": resource.url}
        self._first = make(worker=False, **self._settings)
        self._way = UseCases(self._first)
        self._numbers = itertools.count(1)
        self._names: dict[str, str] = {}
        self._worker: World | None = None
        self.sent: list[dict[str, Any]] = []
        body = {
            "channelId": "bot-messenger",
            "channelName": "bot",
            "config": dict(samples.CONFIG),
            "downStreamResourceId": "agent::helper",
        }
        self._instance_id = self._way.create("ann", body).body["instanceId"]

    def start_worker(self) -> None:
        if self._worker is None:
            key = self._first.settings.config_encryption_key
            self._worker = self._make(**self._settings, CONFIG_ENCRYPTION_KEY=key)

    def post(self, update: dict[str, Any]) -> None:
        self.sent.append(update)
        call = samples.posted(update)
        reply = self._way.call("bot-messenger", self._instance_id, call.body, call.headers, "webhook")
        assert reply.outcome == "done"

    def message(self, who: str, chat: int | None = None, **content: Any) -> dict[str, Any]:
        number = next(self._numbers)
        return {
            "update_id": number,
            "message": {
                "message_id": content.pop("id", 1000 + number),
                "from": {"id": PEOPLE[who], "is_bot": False, "first_name": who},
                "chat": {"id": chat or PEOPLE[who], "type": "supergroup" if chat else "private"},
                "date": 1780000015,
                **content,
            },
        }

    def picture(
        self, who: str, album: str, place: int, caption: str = "", chat: int | None = None
    ) -> dict[str, Any]:
        file_id = f"{album}-{place}"
        self.platform.files[file_id] = b"\x89PNG " + file_id.encode()
        content: dict[str, Any] = {"caption": caption} if caption else {}
        photo = [{"file_id": file_id, "file_unique_id": file_id, "width": 9, "height": 9}]
        number = sum(map(ord, album)) * 100 + place
        return self.message(who, chat, id=number, media_group_id=album, photo=photo, **content)

    def execute(self, statement: str) -> None:
        self._first.run(self._first.container.database().execute(statement))

    def places(self, request: dict[str, Any]) -> list[str]:
        """Which pictures of its album a request has, told by the bytes that its addresses lead to."""
        shared = self._first.container.files().shared

        async def content(url: str) -> bytes:
            return b"".join([piece async for piece in (await shared.open(url.split("/")[-2])).content])

        found = [self._first.run(content(file["url"])) for file in request["files"]]
        return [each.decode("latin-1").rpartition("-")[2] for each in found]

    def has_worked_off(self, count: int) -> bool:
        """Whether the resource was asked so often, and nothing is left to do. What waits for an album looks again."""
        self.execute("UPDATE queue SET due_at = now() WHERE kind = 0 AND pending > 0 AND owner IS NULL")
        return len(self.resource.bodies) >= count and self._idle()

    def _idle(self) -> bool:
        rows = self._first.container.database().fetch(
            "SELECT (SELECT count(*) FROM inbox WHERE status <> 1) + (SELECT count(*) FROM outbox WHERE status <> 1)"
            " + (SELECT count(*) FROM queue WHERE pending <> 0 OR owner IS NOT NULL)"
        )
        return bool(self._first.run(rows) == [(0,)])


@pytest.fixture
def scene(
    make_world: Callable[..., World], platform_driver: PlatformDriver, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Scene]:
    platform = Telegram()
    platform_driver.show(platform)
    settings = {EDGE: platform_driver.url, "AGENT_URL": "https://agents.example"}

    def quiet(seconds: float) -> None:
        monkeypatch.setattr(albums, "QUIET_SECONDS", seconds)
        monkeypatch.setattr(albums, "LONGEST_SECONDS", seconds)

    with Receiver(lambda body: {"text": f"answer to {body['text'] or 'pictures'}"}) as resource:
        yield Scene(make_world, resource, platform, settings, quiet)


@given("a worker is at work")
def at_work(scene: Scene) -> None:
    scene.quiet(LONG)
    scene.start_worker()


@when(parsers.parse('{who} sends an album of {count:d} pictures with the caption "{caption}"'))
def sends(scene: Scene, who: str, count: int, caption: str) -> None:
    for place in range(1, count + 1):
        scene.post(scene.picture(who, f"{who} {caption}", place, caption if place == 1 else ""))


@when(parsers.re(r"(?P<who>\w+) sends the pictures (?P<places>[\d, ]+) of (an|that) album"))
def sends_some(scene: Scene, who: str, places: str) -> None:
    for place in places.split(", "):
        scene.post(scene.picture(who, f"{who} album", int(place)))


@when("the messenger delivers the first picture again")
def delivers_again(scene: Scene) -> None:
    scene.post(scene.sent[0])


@when(parsers.parse('she edits the caption to "{caption}"'))
def edits(scene: Scene, caption: str) -> None:
    edited = scene.message("Ada") | {"edited_message": {**scene.sent[0]["message"], "caption": caption}}
    del edited["message"]
    scene.post(edited)


@when(parsers.parse('{who} writes "{text}"'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.post(scene.message(who, text=text))


@when("the album has been answered")
def answered(scene: Scene) -> None:
    scene.start_worker()
    until(lambda: scene.has_worked_off(1), "the album is answered")


@when(parsers.parse("Ada and Bob each send an album of {count:d} pictures to their group at the same time"))
def both_send(scene: Scene, count: int) -> None:
    for place in range(1, count + 1):
        for who in PEOPLE:
            scene.post(scene.picture(who, f"{who} at once", place, who if place == 1 else "", GROUP))


@when("a worker leased the conversation and died")
def leased_and_died(scene: Scene) -> None:
    scene.execute("UPDATE queue SET owner = 4711, due_at = now() + interval '1 hour'")


@then("the resource is asked in this order")
def asked(scene: Scene, datatable: Sequence[Sequence[str]]) -> None:
    scene.quiet(0.0)
    scene.start_worker()
    until(lambda: scene.has_worked_off(len(datatable) - 1), "everything is answered")
    found = [
        [body["sender"]["displayName"], body["text"], ", ".join(scene.places(body))]
        for body in scene.resource.bodies
    ]
    assert found == [list(row) for row in datatable[1:]]


@then("each of them is answered once")
def each_answered(scene: Scene) -> None:
    texts = [payload["text"] for payload in scene.platform.of("sendMessage")]
    assert texts == [f"answer to {body['text'] or 'pictures'}" for body in scene.resource.bodies]
