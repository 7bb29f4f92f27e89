"""Platforms that fail over a reply and resources that fail over a message, all at the same time.

A message says what happens to it. The platform is Telegram, which has no idempotency key, and the receiver of an
HTTP webhook, which has one; both are served by one stand-in, and so is the resource.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from aiohttp import web

from adapters.outbound.channels.bot_messenger.tests import samples
from domain.routing.conversation import APOLOGY
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.platforms.telegram import Telegram, refusal
from tests.support.ports import free_port
from tests.support.postgres import fresh_database
from tests.support.waiting import until

PATIENCE = 300
"""Seconds that a resource has, and in which everything is over on the busiest machine."""
LITTLE = 4
"""Seconds that one has that is known to fail."""
WAIT = 2
"""Seconds that the platform asks us to wait."""

TWICE = {"cuts its answer off", "loses its answer"}
"""What a platform does after it took the reply."""
REFUSED = "refuses in odd words"
FAILING = ["hang", "hang up", "fail always"]
OTHERS = ["hello", "fail once"]
TROUBLES = ["is asked too much", "has an internal error", "hangs up", *sorted(TWICE)]


class Town(Telegram):
    """`taken` are the replies that were shown to readers: where, what, idempotency key. `tries` their moments.

    `sessions` are the replies of the HTTP webhook by session.
    """

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[tuple[str, str, str | None]] = []
        self.tries: dict[tuple[str, str], list[float]] = {}
        self.sessions: dict[str, list[str]] = {}
        self.asked: list[str] = []
        self.others_were_answered = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if request.path == "/resource":
            return await self._resource(request, json.loads(body))
        if request.path == "/answers":
            reply = json.loads(body)
            self.sessions.setdefault(reply["sessionId"], []).append(reply["response"])
            if {f"resource {each}" for each in OTHERS} <= self.sessions.keys():
                self.others_were_answered.set()
            return await self._reply(request, "http-webhook", reply["response"], self._receives)
        if request.path.endswith("/sendMessage"):
            return await self._reply(request, "bot-messenger", json.loads(body)["text"], super().handle)
        return await super().handle(request)

    async def _receives(self, request: web.Request) -> web.StreamResponse:
        return web.Response()

    async def _reply(
        self,
        request: web.Request,
        platform: str,
        text: str,
        take: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        tries = self.tries.setdefault((platform, text), [])
        tries.append(time.monotonic())
        trouble = text.removeprefix("heard ") if len(tries) == 1 else ""
        if trouble == "is asked too much" and platform == "bot-messenger":
            told = refusal(429, "Too Many Requests", retry_after=WAIT)
            return web.json_response(told.json, status=429)
        if trouble == "is asked too much":
            return web.Response(status=429, headers={"Retry-After": str(WAIT)})
        if trouble == "has an internal error":
            return web.Response(status=500)
        if trouble == "hangs up":
            return _hung_up(request)
        if trouble == REFUSED:
            return web.json_response(refusal(403, "Forbidden: no\0\ud800 rest").json, status=403)
        answer = await take(request)
        self.taken.append((platform, text, request.headers.get("Idempotency-Key")))
        if trouble == "loses its answer":
            return _hung_up(request)
        if trouble == "cuts its answer off":
            cut = web.StreamResponse(headers={"Content-Length": "1000"})
            await cut.prepare(request)
            await cut.write(b'{"ok": tr')
            return _hung_up(request)
        return answer

    async def _resource(self, request: web.Request, asked: Any) -> web.StreamResponse:
        text = asked["text"]
        self.asked.append(text)
        if text == "hang":
            await asyncio.Event().wait()
        if text == "hang up":
            return _hung_up(request)
        if text == "fail always" or (text == "fail once" and self.asked.count(text) == 1):
            return web.Response(status=500, text="secret of the resource")
        if text in ODD:
            return web.Response(body=ODD[text][0], content_type="application/json")
        if text in GARBAGE:
            return web.Response(body=GARBAGE[text], content_type="application/json")
        if text == "wait for the others":
            await self.others_were_answered.wait()
        return web.json_response({"text": f"heard {text}"})


GARBAGE = {
    "not JSON": b"<html>",
    "half of it": b'{"text": "ha',
    "other types": b'{"text": {"a": 1}}',
    "nothing": b"",
    "not UTF-8": b'{"text": "\xff\xfe"}',
    "a list": b"[1, 2]",
    "a bad artifact": b'{"text": "x", "artifacts": [{"name": "a", "dataBase64": "*"}]}',
}


ODD = {
    "a NUL": (b'{"text": "a\\u0000b"}', "ab"),
    "half a pair": (b'{"text": "a\\ud83db"}', "a\N{REPLACEMENT CHARACTER}b"),
    "a NUL in a question": (
        b'{"text": "", "confirmation": {"tool": "t\\u0000", "parameters": {"a\\u0000": "b\\udc00"}}}',
        APOLOGY,
    ),
    "long": (json.dumps({"text": "word " * 100_000}).encode(), "word " * 100_000),
}
"""Answers that keep to the contract and cannot be stored as they are, or hardly; what the reader gets."""


def _hung_up(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


class Scene:
    """A world with an instance of each channel, one whose resource nobody serves and one whose fails."""

    def __init__(self, world: World, driver: PlatformDriver, town: Town) -> None:
        self.world, self.driver, self.town = world, driver, town
        self.rest = Rest(world)
        hook = {"responseWebhookUrl": f"{driver.url}/answers"}
        self.hook = self._instance("http-webhook", hook, "agent::helper")
        self.chat = self._instance("bot-messenger", samples.CONFIG, "agent::helper")
        self.dead = self._instance("http-webhook", hook, "agent::dead")
        self.failing = self._instance("http-webhook", hook, "agent::failing")

    def _instance(self, channel_id: str, config: Any, resource: str) -> int:
        fields = {"channelId": channel_id, "channelName": f"{channel_id} {resource}", "config": dict(config)}
        return int(self.rest.create("ann", {**fields, "downStreamResourceId": resource}).body["instanceId"])

    def post(self, text: str, session: str, instance: int | None = None) -> None:
        body = json.dumps({"message": text, "sessionId": session}).encode()
        reply = self.rest.call("http-webhook", instance or self.hook, body, {}, "webhook")
        assert reply.outcome == "done", reply

    def write(self, text: str, chat: int) -> None:
        who = {"id": chat, "is_bot": False, "first_name": "Ada"}
        place = {"id": chat, "type": "private", "first_name": "Ada"}
        message = {"message_id": 1, "date": 1780000000, "chat": place, "from": who, "text": text}
        call = samples.posted({"update_id": chat, "message": message})
        assert (
            self.rest.call("bot-messenger", self.chat, call.body, call.headers, "webhook").outcome == "done"
        )

    def settled(self) -> None:
        def look() -> bool:
            fetched = self.world.container.database().fetch(
                "SELECT (SELECT count(*) FROM inbox WHERE status = 0), (SELECT count(*) FROM outbox WHERE status = 0)"
            )
            return self.world.run(fetched) == [(0, 0)]

        until(look, "everything is worked off and sent", seconds=PATIENCE)

    def health(self, instance: int) -> str:
        return str(self.rest.health("ann", instance).body["lastError"])


@pytest.fixture(scope="module")
def scene(postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """All troubles at once; the tests look at what came of them."""
    driver, town, folder = PlatformDriver(), Town(), tmp_path_factory.mktemp("trouble")
    driver.show(town)
    rules = folder / "resources.toml"
    resources = {"dead": f"http://127.0.0.1:{free_port()}", "failing": f"{driver.url}/resource"}
    rules.write_text(
        "".join(
            f'[[rule]]\nmatch = "agent::{name}"\nkind = "http"\nurl = "{url}"\ntimeout = {LITTLE}\n'
            for name, url in resources.items()
        )
    )
    settings = {
        samples.SETTING: driver.url,
        "DOWNSTREAM_URL": f"{driver.url}/resource",
        "DOWNSTREAM_TIMEOUT": str(PATIENCE),
        "RESOURCES_FILE": str(rules),
    }
    with fresh_database(postgres_dsn) as dsn:
        world = World(dsn, folder, **settings)
        world.start()
        made = Scene(world, driver, town)
        for number, trouble in enumerate(TROUBLES):
            made.post(trouble, trouble)
            made.write(trouble, 5550001 + number)
        made.write(REFUSED, 5550099)
        for text in FAILING:
            made.post(text, f"resource {text}", made.failing)
        for text in (*GARBAGE, *ODD, "wait for the others", *OTHERS):
            made.post(text, f"resource {text}")
        made.post("dead", "resource dead", made.dead)
        made.settled()
        yield made
        world.stop()
    driver.close()


@pytest.mark.parametrize("platform", ["http-webhook", "bot-messenger"])
@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_reply_gets_through_a_platform_that(scene: Scene, trouble: str, platform: str) -> None:
    text = f"heard {trouble}"
    seen = [key for where, what, key in scene.town.taken if (where, what) == (platform, text)]
    assert len(seen) == (2 if trouble in TWICE else 1)
    assert len(set(seen)) == 1, "a second try bears the key of the first"
    first, second = scene.town.tries[platform, text]
    assert second - first >= (WAIT if trouble == "is asked too much" else 1) - 0.1
    assert scene.town.faults == []


@pytest.mark.parametrize("text", [*GARBAGE, *FAILING, "dead"])
def test_a_resource_that_fails_is_apologised_for(scene: Scene, text: str) -> None:
    assert scene.town.sessions[f"resource {text}"] == [APOLOGY]


@pytest.mark.parametrize(("text", "asked"), [("hello", 1), ("fail once", 2)])
def test_others_are_answered_meanwhile(scene: Scene, text: str, asked: int) -> None:
    assert scene.town.sessions[f"resource {text}"] == [f"heard {text}"]
    assert scene.town.asked.count(text) == asked


def test_nobody_waits_for_a_resource_that_takes_its_time(scene: Scene) -> None:
    text = "wait for the others"
    assert scene.town.sessions[f"resource {text}"] == [f"heard {text}"]
    assert scene.town.asked.count(text) == 1


def test_the_reason_is_on_record_and_nothing_of_the_resource_is_told(scene: Scene) -> None:
    for instance in (scene.dead, scene.failing):
        assert "the downstream resource failed" in scene.health(instance)
    # The second where the time runs out during the last try.
    reasons = ("cannot be connected to", "does not answer within")
    assert any(each in scene.health(scene.dead) for each in reasons)
    assert "secret" not in str(scene.town.sessions)


@pytest.mark.parametrize("text", ODD)
def test_an_odd_answer_is_told_as_far_as_it_can_be(scene: Scene, text: str) -> None:
    assert scene.town.sessions[f"resource {text}"] == [ODD[text][1]]
    assert scene.town.asked.count(text) == 1


def test_a_refusal_in_odd_words_is_a_dead_letter(scene: Scene) -> None:
    reply = scene.rest.deliveries("ann", scene.chat, "dead")
    (dead,) = reply.body["deliveries"]
    assert dead["attempts"] == 1
    assert "no" in dead["lastError"]
    assert len(scene.town.tries["bot-messenger", f"heard {REFUSED}"]) == 1
