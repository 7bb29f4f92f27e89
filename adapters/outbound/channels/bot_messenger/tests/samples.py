"""What the contract suite of channels needs of Telegram."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adapters.outbound.channels.bot_messenger.webhook import secret_of
from domain.channels.messages import RawCall
from tests.support.channels import call
from tests.support.platforms.telegram import TOKEN, Telegram, refusal

FIXTURES = Path(__file__).parent.parent / "fixtures"
CONFIG: dict[str, Any] = {"botToken": TOKEN}
SETTING = "BOT_MESSENGER_API_URL"
TARGET = {"chat_id": 5550001}
PLATFORM = Telegram


def fixture(name: str) -> Any:
    """A recorded update."""
    return json.loads((FIXTURES / f"{name}.json").read_text())


def update(name: str, secret: str = secret_of(TOKEN)) -> RawCall:
    """A recorded update as Telegram posts it."""
    return posted(fixture(name), secret)


def posted(body: Any, secret: str = secret_of(TOKEN)) -> RawCall:
    """Any body as Telegram posts it."""
    return call(as_json=body, headers={"X-Telegram-Bot-Api-Secret-Token": secret})


def good() -> RawCall:
    """A message as it is accepted."""
    return update("message_text")


def tampered() -> list[RawCall]:
    """Calls whose proof of origin is wrong."""
    body = fixture("message_text")
    return [
        posted(body, "0" * 64),
        posted(body, secret_of(TOKEN)[:-1]),
        posted(body, "ü"),
        call(as_json=body),
    ]


def too_often(platform: Telegram) -> float:
    """Makes the next request one too many; gives the seconds to wait."""
    reply = refusal(429, "Too Many Requests: retry after 7", retry_after=7)
    platform.next_reply(reply.status, reply.json)
    return 7.0
