"""A Telegram bot of ann's with several resources behind it."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from adapters.outbound.channels.bot_messenger.tests import samples
from adapters.outbound.channels.bot_messenger.webhook import secret_of
from adapters.outbound.resources.router import Unconnected
from domain.channels.answers import Choice
from domain.routing.model import Confirmation, RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import INSTANCES, Reply, Rest
from tests.drivers.world import World
from tests.support.platforms.telegram import TOKEN, Telegram
from tests.support.waiting import until

ADA = 101
GROUP = {"id": -500, "title": "Chess club", "type": "supergroup"}
BUSY = "SELECT count(*) FROM queue WHERE pending > 0 OR owner IS NOT NULL"


class Resources:
    """Every resource answers with its own name, or as `failing` and `asks` say."""

    def __init__(self, world: World) -> None:
        self.requests: list[RunRequest] = []
        self.failing: set[str] = set()
        self.unconnected: set[str] = set()
        self.asks: RunResult | None = None
        self.fails_after_approval = False
        self.begun: dict[str, str] = {}
        self.shown = asyncio.Event()
        world.container.resources().router.default = self

    async def run(self, request: RunRequest) -> RunResult:
        self.requests.append(request)
        name = f"agent::{request.resource.id}"
        if text := self.begun.get(name):
            assert request.progress
            request.progress(lambda: text)
            await self.shown.wait()
        if name in self.failing or "all" in self.failing or (request.approval and self.fails_after_approval):
            raise DownstreamFailed("it is broken", retryable=False)
        if {name, "all"} & self.unconnected:
            return await Unconnected().run(request)
        if self.asks and len(self.requests) == 1:
            return self.asks
        return RunResult(f"{name} says hello")

    @property
    def asked(self) -> list[str]:
        return [f"agent::{request.resource.id}" for request in self.requests]


class Scene:
    def __init__(self, world: World, rest: Rest, driver: PlatformDriver) -> None:
        self.world, self.rest = world, rest
        self.platform = Telegram()
        driver.show(self.platform)
        self.resources = Resources(world)
        self.instance_id = 0
        self._numbers = count(1)

    def create(self, resource: str, **routing: Any) -> Reply:
        body = {
            "channelId": "bot-messenger",
            "channelName": "bot",
            "config": {"botToken": TOKEN, "requireMention": False},
            "downStreamResourceId": resource,
            **routing,
        }
        reply = self.rest.create("ann", body)
        if reply.outcome == "created":
            self.instance_id = int(reply.body["instanceId"])
        return reply

    def change(self, **routing: Any) -> None:
        reply = self.rest.update("ann", self.instance_id, {"config": {"botToken": TOKEN}, **routing})
        assert reply.outcome == "done", reply

    def write(
        self, text: str, *, sender: int = ADA, language: str = "en", chat: dict[str, Any] | None = None
    ) -> None:
        number = next(self._numbers)
        message = {
            "message_id": number,
            "date": 1780000000 + number,
            "chat": chat or {"id": sender, "type": "private"},
            "from": {"id": sender, "is_bot": False, "first_name": "Ada", "language_code": language},
            "text": text,
        }
        self.deliver({"update_id": number, "message": message})

    def press(self, label: str) -> None:
        rows = self.platform.of("sendMessage")[-1]["reply_markup"]["inline_keyboard"]
        [value] = [button["callback_data"] for row in rows for button in row if button["text"] == label]
        number = next(self._numbers)
        query = {
            "id": str(number),
            "from": {"id": ADA, "is_bot": False, "first_name": "Ada"},
            "message": {
                "message_id": 501,
                "chat": {"id": ADA, "type": "private"},
                "date": 1780000015,
            },
            "chat_instance": "1",
            "data": value,
        }
        self.deliver({"update_id": number, "callback_query": query})

    def deliver(self, update: dict[str, Any]) -> None:
        call = samples.posted(update, secret_of(TOKEN))
        reply = self.rest.call("bot-messenger", self.instance_id, call.body, call.headers, "webhook")
        assert reply.outcome == "done", reply

    def settle(self) -> None:
        database = self.world.container.database()
        until(lambda: self.world.run(database.fetch_value(BUSY)) == 0, "nothing is queued")

    def got(self, person: int = ADA) -> list[str]:
        return [
            call["text"] for call in self.platform.of("sendMessage") if str(call["chat_id"]) == str(person)
        ]

    def answers_by_person(self) -> dict[str, Counter[str]]:
        answers: dict[str, Counter[str]] = {}
        for call in self.platform.of("sendMessage"):
            answers.setdefault(str(call["chat_id"]), Counter())[call["text"]] += 1
        return answers

    def read(self, path: str) -> Any:
        response = self.rest.request("GET", f"{INSTANCES}/{self.instance_id}{path}", "ann")
        assert response.status_code == 200, response.text
        return response.json()

    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.read(f"/conversations/{ADA}/messages")["messages"]
        return messages

    def approved_by(self, resource: str) -> tuple[str, ...]:
        """The tools that the latest request to a resource names as approved."""
        name = resource.removeprefix("agent::")
        return [sent for sent in self.resources.requests if sent.resource.id == name][-1].approved_tools

    def asked(self, message: str) -> list[tuple[str | None, str | None, str | None]]:
        """Resource, route and reason of each step "asked" of a message's timeline."""
        steps = self.read(f"/messages/{message}/timeline")["steps"]
        return [
            (step.get("resource"), step.get("route"), step["reason"])
            for step in steps
            if step["kind"] == "asked"
        ]


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver) -> Iterator[Scene]:
    made = Scene(world, rest, platform_driver)
    yield made
    assert made.platform.faults == []


OPENS_VALVE = RunResult("", confirmation=Confirmation("open_valve", {"valve": 3}))
OFFERS = RunResult("Which size?", choices=(Choice("Small", "size-s"), Choice("Large", "size-l")))
