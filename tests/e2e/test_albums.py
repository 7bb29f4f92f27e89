"""The service is killed at each stage of an album's way, and started again: no picture is lost or answered twice."""

import contextlib
import itertools
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg
import pytest

from adapters.outbound.channels.bot_messenger.webhook import secret_of
from domain.routing.bursts import QUIET_SECONDS
from tests.drivers.platform import PlatformDriver
from tests.support.armed_service import ArmedService
from tests.support.failpoints import CALL, INBOX, OUTCOME, STORAGE, WORK, Stage
from tests.support.folders import an_open_folder
from tests.support.platforms.telegram import TOKEN, Telegram
from tests.support.postgres import fresh_database
from tests.support.receiver import Receiver
from tests.support.waiting import until

pytestmark = pytest.mark.processes

GATHER = f"{STORAGE}.queue.conversations:PostgresConversations.album"
POSTPONE = f"{STORAGE}.queue.conversations:PostgresConversations.postpone"
PICTURES = 10
STAGES = [
    ("between two pictures", Stage(INBOX, after=True, about="picture-5")),
    ("before the album is whole", Stage(POSTPONE, after=True, about="")),
    ("when it is taken up", Stage(WORK, after=False, about="picture-1")),
    ("once its pictures are gathered", Stage(GATHER, after=True, about=f"picture-{PICTURES}")),
    ("after the resource answered", Stage(CALL, after=True, about="The album")),
    ("before the outcome is committed", Stage(OUTCOME, after=False, about="heard The album")),
    ("after the outcome is committed", Stage(OUTCOME, after=True, about="heard The album")),
]

DIVIDED = [stage for _, stage in STAGES[:3]]
"""What arrives long after the rest is a message of its own: here the start of the service lies between."""


@dataclass
class Sending:
    """A service with a bot, and the platform that sends it albums, each to a chat of its own."""

    service: ArmedService
    telegram: Telegram
    database_url: str
    instance_id: int = 0
    chats: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def deliver(self, chat: int) -> int:
        """All pictures at about the same time, as far as the service lives; how many it acknowledged."""
        headers = {"X-Telegram-Bot-Api-Secret-Token": secret_of(TOKEN)}
        path = f"/api/agent/channels/bot-messenger/{self.instance_id}/webhook"
        acknowledged = 0
        with contextlib.suppress(httpx.TransportError):
            for place in range(1, PICTURES + 1):
                answer = self.service.post(path, picture(chat, place), **headers)
                acknowledged += answer.status_code == 200
        return acknowledged

    def settled(self, chat: int) -> bool:
        with psycopg.connect(self.database_url) as connection:
            found = connection.execute(
                "SELECT (SELECT count(*) FROM inbox WHERE status = 0),"
                " (SELECT count(*) FROM inbox WHERE status = 1 AND session_key = %s),"
                " (SELECT count(*) FROM outbox WHERE status <> 1)",
                (str(chat),),
            ).fetchone()
        return found == (0, PICTURES, 0)

    def answers(self, chat: int) -> list[str]:
        return [each["text"] for each in self.telegram.of("sendMessage") if str(each["chat_id"]) == str(chat)]


@pytest.fixture(scope="module")
def sending(postgres_dsn: str) -> Iterator[Sending]:
    driver, telegram = PlatformDriver(), Telegram()
    driver.show(telegram)
    telegram.files = {f"picture-{place}": b"%d" % place for place in range(1, PICTURES + 1)}
    with (
        an_open_folder() as folder,
        Receiver(counting) as resource,
        fresh_database(postgres_dsn) as url,
        ArmedService(folder, url, DOWNSTREAM_URL=resource.url, BOT_MESSENGER_API_URL=driver.url) as service,
    ):
        made = Sending(service, telegram, url)
        made.instance_id = service.create_instance(
            channelId="bot-messenger",
            channelName="bot",
            config={"botToken": TOKEN},
            downStreamResourceId="agent::helper",
        )["instanceId"]
        service.terminate()
        yield made
    driver.close()


def counting(body: Any) -> Any:
    """The resource: it says how many pictures it saw."""
    return {"text": f"heard {body['text']} with {len(body['files'])}"}


def picture(chat: int, place: int) -> dict[str, Any]:
    file = {"file_id": f"picture-{place}", "file_unique_id": f"u{place}", "width": 9, "height": 9}
    message = {
        "message_id": 100 + place,
        "from": {"id": chat, "is_bot": False, "first_name": "Ada"},
        "chat": {"id": chat, "type": "private"},
        "date": 1780000000,
        "media_group_id": "777",
        "photo": [file],
    }
    caption = {"caption": "The album"} if place == 1 else {}
    return {"update_id": 100 * chat + place, "message": {**message, **caption}}


@pytest.mark.parametrize("stage", [stage for _, stage in STAGES], ids=[name for name, _ in STAGES])
def test_an_album_is_answered_once_wherever_the_service_dies(sending: Sending, stage: Stage) -> None:
    service, chat = sending.service, next(sending.chats)
    service.start(stage)
    began = time.monotonic()
    sending.deliver(chat)
    at_once = time.monotonic() - began < QUIET_SECONDS
    assert service.ended() == -signal.SIGKILL
    service.start()
    # As Telegram does with what was not acknowledged.
    until(lambda: sending.deliver(chat) == PICTURES, "all is acknowledged")
    until(lambda: sending.settled(chat), "everything is answered")
    answers = sending.answers(chat)
    if at_once and stage not in DIVIDED:
        assert answers == [f"heard The album with {PICTURES}"]
    else:
        assert sum(int(re.findall(r"\d+", answer)[0]) for answer in answers) == PICTURES
    assert service.terminate() == 0
