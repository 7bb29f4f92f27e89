"""What the contract suite of channels needs of Telegram."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adapters.outbound.channels.bot_messenger import webhook
from adapters.outbound.channels.bot_messenger.config import CONFIG as MODEL
from adapters.outbound.channels.bot_messenger.webhook import secret_of
from adapters.outbound.channels.common.bodies import at
from adapters.outbound.channels.tests.sample import Opening, Reply, Sample
from adapters.outbound.channels.tests.support import NOW, call, refusal
from domain.channels.messages import Attachment, Event, RawCall
from ports.http import HttpAnswer, HttpRequest
from tests.support.platforms.telegram import TOKEN, USERNAME

FIXTURES = Path(__file__).parent.parent / "fixtures"
CONFIG: dict[str, Any] = {"botToken": TOKEN}
SETTING = "BOT_MESSENGER_API_URL"
TARGET = {"chat_id": 5550001}


def fixture(name: str) -> Any:
    """A recorded update."""
    return json.loads((FIXTURES / f"{name}.json").read_text())


def update(name: str, secret: str = secret_of(TOKEN)) -> RawCall:
    """A recorded update as Telegram posts it."""
    return posted(fixture(name), secret)


def posted(body: Any, secret: str = secret_of(TOKEN)) -> RawCall:
    """Any body as Telegram posts it."""
    return call(as_json=body, headers={"X-Telegram-Bot-Api-Secret-Token": secret})


def tampered() -> list[RawCall]:
    """Calls whose proof of origin is wrong."""
    body = fixture("message_text")
    return [
        posted(body, "0" * 64),
        posted(body, secret_of(TOKEN)[:-1]),
        posted(body, "ü"),
        call(as_json=body),
    ]


CHAT = HttpAnswer(200, {}, b'{"ok": true, "result": {"id": -1001234567890, "type": "supergroup"}}')


def event(name: str) -> Event:
    """The event of a recorded update."""
    return webhook.receive(MODEL.load(CONFIG), update(name), {}, NOW).events[0]


def sends_to(chat: int, topic: int | None = None) -> Callable[[HttpRequest], bool]:
    """Whether a request sends to a chat, and to a topic of it."""
    return lambda request: (
        (at(request.json, "chat_id"), at(request.json, "message_thread_id")) == (chat, topic)
    )


def replied() -> Event:
    """The event of a reply."""
    body = fixture("message_text")
    original = {"from": {"id": 7, "first_name": "Bob"}, "text": "It is hot."}
    body["message"] |= {"text": "Is it?", "reply_to_message": original}
    return webhook.receive(MODEL.load(CONFIG), posted(body), {}, NOW).events[0]


def refused(name: str, config: Any = CONFIG, **content: object) -> Event:
    """The event of a message of a group that is refused."""
    body = fixture(name)
    body["message"] |= content
    return webhook.receive(MODEL.load(config), posted(body), {"username": USERNAME}, NOW).events[0]


SAMPLE = Sample(
    fields=(
        "botToken string R, parseMode string, connection string, disableWebPagePreview boolean, "
        "ackReaction string, identifyUsers boolean, accessMode string, "
        "mergeSeconds number, transcribe boolean, requireMention boolean, allowedChannels string"
    ),
    reacted_to="17",
    typing_shown_seconds=5.0,
    attachment=Attachment("a.png", "image/png", {"file_id": "f1"}),
    config=CONFIG,
    genuine={
        name: update(name)
        for name in (
            "message_text",
            "message_start",
            "message_start_link",
            "message_web_app",
            "message_photo",
            "message_topic",
            "edited_message",
            "callback_query",
        )
    },
    forged={str(number): each for number, each in enumerate(tampered())},
    target=TARGET,
    addresses={SETTING: "https://api.telegram.org"},
    shown=lambda part: str(part.payload["plain"]),
    openings=(
        Opening("5550001", "5550001", sends_to(5550001), answered=lambda: event("message_text")),
        Opening(
            "-1002000300040:7",
            "-1002000300040:7",
            sends_to(-1002000300040, 7),
            answered=lambda: event("message_topic"),
        ),
        Opening("@our_team", "-1001234567890", sends_to(-1001234567890), asked=[CHAT]),
    ),
    no_addresses=("0", "--5", "5550001:0", "@ab", "@our team", "+4915112345678", "ann@example.com"),
    replies=(Reply(replied, "It is hot.", "Bob"),),
    refused={
        "channel": lambda: refused("message_topic", {**CONFIG, "allowedChannels": "-1"}),
        "bot": lambda: refused("message_from_bot", text=f"@{USERNAME} how hot?"),
    },
    of_recipient=[
        refusal(403, ok=False, error_code=403, description=f"Forbidden: {words}")
        for words in (
            "bot was blocked by the user",
            "user is deactivated",
            "bot was kicked from the supergroup chat",
            "bot is not a member of the channel chat",
            "bot can't initiate conversation with a user",
        )
    ]
    + [
        refusal(400, ok=False, error_code=400, description=f"Bad Request: {words}")
        for words in (
            "chat not found",
            "not enough rights to send text messages to the chat",
            "TOPIC_CLOSED",
            "PEER_ID_INVALID",
            "CHAT_WRITE_FORBIDDEN",
        )
    ],
)
