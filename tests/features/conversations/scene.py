"""A bot of ann's, those who write to it, and what she sees of that."""

from collections.abc import Iterator
from itertools import count
from typing import Any
from urllib.parse import quote

import httpx

from adapters.outbound.channels.bot_messenger.tests import samples
from adapters.outbound.channels.bot_messenger.webhook import secret_of
from domain.routing.model import RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import World
from tests.support.platforms.telegram import TOKEN, Telegram
from tests.support.waiting import until

PEOPLE = {"ada": ("Ada", "Lovelace", 101), "bert": ("Bert", "", 102)}
BUSY = "SELECT count(*) FROM queue WHERE pending > 0 AND (held_until > now()) IS NOT TRUE"


class Scene:
    def __init__(self, world: World, rest: Rest, driver: PlatformDriver) -> None:
        self.world = world
        self.rest = rest
        self.platform = Telegram()
        driver.show(self.platform)
        self.fails = False
        self.resource = Resource(world, self._script)
        self.bots: dict[str, int] = {}
        self.second = 0
        self.updates = count(1)

    def _script(self, request: RunRequest) -> RunResult:
        if self.fails:
            raise DownstreamFailed("the model is away", retryable=False)
        return RunResult(f"You said: {request.text}")

    def create(self, user: str, channel_id: str = "bot-messenger", **config: Any) -> int:
        body = {
            "channelId": channel_id,
            "channelName": channel_id,
            "config": config or {"botToken": TOKEN},
            "downStreamResourceId": "agent::parrot",
        }
        self.bots[user] = int(self.rest.create(user, body).body["instanceId"])
        return self.bots[user]

    @property
    def path(self) -> str:
        return f"{INSTANCES}/{self.bots['ann']}"

    def of(self, who: str) -> str:
        """The path of a conversation: of a person, or of a session."""
        session = str(PEOPLE[who][2]) if who in PEOPLE else who
        return f"{self.path}/conversations/{quote(session, safe='')}"

    def write(self, who: str, text: str, **more: Any) -> None:
        number = next(self.updates)
        first, last, id = PEOPLE.get(who, (who, "", 1000 + number))
        message = {
            "message_id": number,
            "date": 1780000000 + number,
            "chat": {"id": id, "type": "private"},
            "from": {"id": id, "is_bot": False, "first_name": first, "last_name": last},
            "text": text,
            **more,
        }
        self.deliver({"update_id": number, "message": message})

    def deliver(self, update: dict[str, Any]) -> None:
        call = samples.posted(update, secret_of(TOKEN))
        reply = self.rest.call("bot-messenger", self.bots["ann"], call.body, call.headers, "webhook")
        assert reply.outcome == "done", reply

    def value(self, query: str) -> Any:
        return self.world.run(self.world.container.database().fetch_value(query))

    def settle(self) -> None:
        """Waits until nothing is to be done in either direction."""
        until(lambda: self.value(BUSY) == 0, "nothing is queued")

    def ask(self, method: str, path: str, user: str = "ann", **options: Any) -> httpx.Response:
        return self.rest.request(method, path, user, **options)

    def read(self, path: str, **query: Any) -> dict[str, Any]:
        response = self.ask("GET", path, params=query)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def pages(self, path: str, name: str, **query: Any) -> Iterator[list[dict[str, Any]]]:
        page = self.read(path, **query)
        yield page[name]
        while page["next"]:
            page = self.read(path, **query, cursor=page["next"])
            yield page[name]

    def conversations(self, **query: Any) -> list[dict[str, Any]]:
        pages = self.pages(f"{self.path}/conversations", "conversations", **query)
        return [conversation for page in pages for conversation in page]

    def senders(self, **query: Any) -> list[str]:
        return [found["sender"]["displayName"] for found in self.conversations(**query)]

    def messages(self, who: str, **query: Any) -> list[dict[str, Any]]:
        pages = self.pages(f"{self.of(who)}/messages", "messages", **query)
        return [message for page in pages for message in page]

    def failed(self) -> list[dict[str, Any]]:
        pages = self.pages(f"{self.path}/messages", "messages", status="failed")
        return [message for page in pages for message in page]

    def got(self, who: str) -> list[str]:
        """What the platform took for a person."""
        calls = self.platform.of("sendMessage")
        return [call["text"] for call in calls if str(call["chat_id"]) == str(PEOPLE[who][2])]

    def hand_over(self, who: str, handler: str = "person", **more: Any) -> httpx.Response:
        return self.ask("PUT", f"{self.of(who)}/handler", json={"handler": handler, **more})
