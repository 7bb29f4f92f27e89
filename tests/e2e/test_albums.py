"""The service is killed at each stage of an album's way, and started again: no picture is lost or answered twice."""

from __future__ import annotations

import contextlib
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from adapters.outbound.channels.bot_messenger.webhook import secret_of
from domain.routing.albums import QUIET_SECONDS
from tests.drivers.platform import PlatformDriver
from tests.support.failpoints import CALL, INBOX, OUTCOME, STORAGE, WORK, Stage
from tests.support.forked import Forked
from tests.support.platforms.telegram import TOKEN, Telegram
from tests.support.receiver import Receiver
from tests.support.waiting import until

pytestmark = pytest.mark.processes

GATHER = f"{STORAGE}.conversations:PostgresConversations.album"
POSTPONE = f"{STORAGE}.conversations:PostgresConversations.postpone"
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


@pytest.fixture
def platform() -> Iterator[tuple[Telegram, str]]:
    driver, telegram = PlatformDriver(), Telegram()
    driver.show(telegram)
    yield telegram, driver.url
    driver.close()


def picture(place: int) -> dict[str, Any]:
    file = {"file_id": f"picture-{place}", "file_unique_id": f"u{place}", "width": 9, "height": 9}
    message = {
        "message_id": 100 + place,
        "from": {"id": 5, "is_bot": False, "first_name": "Ada"},
        "chat": {"id": 5, "type": "private"},
        "date": 1780000000,
        "media_group_id": "777",
        "photo": [file],
    }
    caption = {"caption": "The album"} if place == 1 else {}
    return {"update_id": 500 + place, "message": {**message, **caption}}


@pytest.mark.parametrize("stage", [stage for _, stage in STAGES], ids=[name for name, _ in STAGES])
def test_an_album_is_answered_once_wherever_the_service_dies(
    database_url: str, open_folder: Path, platform: tuple[Telegram, str], stage: Stage
) -> None:
    telegram, url = platform
    telegram.files = {f"picture-{place}": b"%d" % place for place in range(1, PICTURES + 1)}
    with Receiver(counting) as resource:
        service = Forked(open_folder, database_url, DOWNSTREAM_URL=resource.url, BOT_MESSENGER_API_URL=url)
        with service.ready():
            service.start()
            instance_id = service.create_instance(
                channelId="bot-messenger",
                channelName="bot",
                config={"botToken": TOKEN},
                downStreamResourceId="agent::helper",
            )
            service.stop()
            service.start(stage)
            began = time.monotonic()
            deliver(service, instance_id)
            at_once = time.monotonic() - began < QUIET_SECONDS
            assert service.ended() == -signal.SIGKILL
            service.start()
            # As Telegram does with what was not acknowledged.
            until(lambda: deliver(service, instance_id) == PICTURES, "all is acknowledged")
            until(lambda: settled(database_url), "everything is answered")
            answers = [payload["text"] for payload in telegram.of("sendMessage")]
            if at_once and stage not in DIVIDED:
                assert answers == [f"heard The album with {PICTURES}"]
            else:
                assert sum(int(re.findall(r"\d+", answer)[0]) for answer in answers) == PICTURES
            assert service.stop() == 0


def counting(body: Any) -> Any:
    """The resource: it says how many pictures it saw."""
    return {"text": f"heard {body['text']} with {len(body['files'])}"}


def deliver(service: Forked, instance_id: int) -> int:
    """All pictures at about the same time, as far as the service lives; how many it acknowledged."""
    headers = {"X-Telegram-Bot-Api-Secret-Token": secret_of(TOKEN)}
    path = f"/api/agent/channels/bot-messenger/{instance_id}/webhook"
    acknowledged = 0
    with contextlib.suppress(httpx.TransportError):
        for place in range(1, PICTURES + 1):
            acknowledged += service.post(path, picture(place), **headers).status_code == 200
    return acknowledged


def settled(database_url: str) -> bool:
    with psycopg.connect(database_url) as connection:
        found = connection.execute(
            "SELECT (SELECT count(*) FROM inbox WHERE status = 0), (SELECT count(*) FROM inbox WHERE status = 1),"
            " (SELECT count(*) FROM outbox WHERE status <> 1)"
        ).fetchone()
    return found == (0, PICTURES, 0)
