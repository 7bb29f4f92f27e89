"""A Telegram bot whose messages are accepted by one service, and worked on by another on its database."""

import itertools
from collections.abc import Callable
from typing import Any

from adapters.outbound.channels.bot_messenger.tests import samples
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.platforms.telegram import Telegram
from tests.support.receiver import Receiver
from tests.support.waiting import until

EDGE_SETTING = samples.SETTING
PEOPLE = {"Ada": 5550001, "Bob": 5550002}


class Scene:
    def __init__(
        self,
        make: Callable[..., World],
        resource: Receiver,
        driver: PlatformDriver,
        config: dict[str, Any] | None = None,
        **settings: str,
    ) -> None:
        self.platform, self.resource = Telegram(), resource
        driver.show(self.platform)
        self._make = make
        self._settings = {
            EDGE_SETTING: driver.url,
            "AGENT_URL": "https://agents.example",
            "DOWNSTREAM_URL": resource.url,
            **settings,
        }
        self._first = make(worker=False, **self._settings)
        self._rest = Rest(self._first)
        self._numbers = itertools.count(1)
        self._names: dict[str, str] = {}
        self._worker: World | None = None
        self.sent: list[dict[str, Any]] = []
        body = {
            "channelId": "bot-messenger",
            "channelName": "bot",
            "config": {**samples.CONFIG, **(config or {})},
            "downStreamResourceId": "agent::helper",
        }
        self._instance_id = self._rest.create("ann", body).body["instanceId"]

    def start_worker(self) -> None:
        if self._worker is None:
            key = self._first.settings.config_encryption_key
            self._worker = self._make(**self._settings, CONFIG_ENCRYPTION_KEY=key)

    def post(self, update: dict[str, Any]) -> None:
        self.sent.append(update)
        call = samples.posted(update)
        reply = self._rest.call("bot-messenger", self._instance_id, call.body, call.headers, "webhook")
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

    def voice(self, who: str, content: bytes, caption: str = "") -> dict[str, Any]:
        file_id = f"voice-{who}"
        self.platform.files[file_id] = content
        recording = {"file_id": file_id, "file_unique_id": file_id, "duration": 3, "mime_type": "audio/ogg"}
        return self.message(who, voice=recording, **({"caption": caption} if caption else {}))

    def pressed(self, who: str, value: str) -> dict[str, Any]:
        number = next(self._numbers)
        sender = {"id": PEOPLE[who], "is_bot": False, "first_name": who}
        chat = {"id": PEOPLE[who], "type": "private"}
        query = {
            "id": str(number),
            "from": sender,
            "message": {"message_id": 1, "chat": chat, "date": 1780000015},
            "chat_instance": "1",
            "data": value,
        }
        return {"update_id": number, "callback_query": query}

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

    def wait_until_released(self) -> None:
        """Returns once a worker that is there has the conversations in hand no more: what it does next begins with a
        look at all that has come."""
        held = "SELECT count(*) FROM queue WHERE owner IS NOT NULL"
        if self._worker is not None:
            until(lambda: self._count(held) == 0, "the worker lets go of what it waits for")

    def _count(self, query: str) -> int:
        return int(self._first.run(self._first.container.database().fetch_value(query)))

    def _idle(self) -> bool:
        rows = self._first.container.database().fetch(
            "SELECT (SELECT count(*) FROM inbox WHERE status <> 1) + (SELECT count(*) FROM outbox WHERE status <> 1)"
            " + (SELECT count(*) FROM queue WHERE pending <> 0 OR owner IS NOT NULL)"
        )
        return bool(self._first.run(rows) == [(0,)])
