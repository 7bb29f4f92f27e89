"""What the contract suite of channels needs of Discord."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from nacl.signing import SigningKey

from adapters.outbound.channels.gaming_chat.config import CONFIG as MODEL
from adapters.outbound.channels.gaming_chat.messages import read_message
from adapters.outbound.channels.gaming_chat.webhook import receive
from adapters.outbound.channels.tests.sample import Opening, Reply, Sample
from adapters.outbound.channels.tests.support import NOW, call, refusal
from domain.channels.messages import Event, RawCall
from ports.http import HttpAnswer, HttpRequest
from tests.support.platforms.discord import APPLICATION, CHANNELS, TOKEN

FIXTURES = Path(__file__).parent.parent / "fixtures"
KEY = SigningKey(b"\x07" * 32)
CONFIG: dict[str, Any] = {
    "botToken": TOKEN,
    "applicationId": APPLICATION,
    "publicKey": KEY.verify_key.encode().hex(),
}
SETTING = "GAMING_CHAT_API_URL"
TARGET = {"channel_id": CHANNELS[0]}


def fixture(name: str) -> Any:
    """A recorded interaction or message."""
    return json.loads((FIXTURES / f"{name}.json").read_text())


def interaction(name: str) -> RawCall:
    """A recorded interaction as Discord posts it."""
    return posted(fixture(name))


def posted(body: Any, at: datetime = NOW) -> RawCall:
    """Any body as Discord posts it at that moment."""
    return signed(json.dumps(body).encode(), at)


def signed(body: bytes, at: datetime = NOW) -> RawCall:
    stamp = str(int(at.timestamp()))
    signature = KEY.sign(stamp.encode() + body).signature.hex()
    headers = {"X-Signature-Ed25519": signature, "X-Signature-Timestamp": stamp}
    return call(body=body, headers=headers)


def tampered() -> list[RawCall]:
    """Calls whose proof of origin is wrong."""
    first = interaction("command_guild")
    stamp = int(first.headers["x-signature-timestamp"])
    other = SigningKey(b"\x08" * 32).sign(str(stamp).encode() + first.body).signature.hex()

    def with_headers(**changed: str) -> RawCall:
        names = {name.replace("_", "-"): value for name, value in changed.items()}
        return call(body=first.body, headers={**first.headers, **names})

    body = json.loads(first.body)
    return [
        call(body=first.body + b" ", headers=first.headers),
        call(body=first.body),
        with_headers(x_signature_ed25519=other),
        with_headers(x_signature_ed25519="00"),
        with_headers(x_signature_ed25519="not hex"),
        with_headers(x_signature_ed25519="ü"),
        with_headers(x_signature_timestamp="soon"),
        with_headers(x_signature_timestamp="٣"),
        with_headers(x_signature_timestamp=str(stamp + 1)),
        posted(body, datetime.fromtimestamp(stamp - 301, NOW.tzinfo)),
        posted(body, datetime.fromtimestamp(stamp + 301, NOW.tzinfo)),
    ]


ROOM, DIRECT = CHANNELS
PERSON = "53908232506183680"


def answer(**body: Any) -> HttpAnswer:
    return HttpAnswer(200, {}, json.dumps(body).encode())


def sends_to(channel: str) -> Callable[[HttpRequest], bool]:
    return lambda request: request.url.endswith(f"/channels/{channel}/messages")


def written() -> Event:
    """The event of a direct message."""
    event = read_message(MODEL.load(CONFIG), fixture("message_dm"), {APPLICATION})
    assert isinstance(event, Event)
    return event


def replied() -> Event:
    """The event of a reply."""
    original = {
        "id": "1",
        "content": "It is hot.",
        "author": {"id": "7", "username": "bob", "global_name": "Bob"},
    }
    event = read_message(
        MODEL.load(CONFIG),
        {**fixture("message_dm"), "referenced_message": original, "type": 19},
        {APPLICATION},
    )
    assert isinstance(event, Event)
    return event


def elsewhere() -> Event:
    """The event of a command in a channel where the bot may not answer."""
    config = MODEL.load({**CONFIG, "allowedChannels": "5"})
    return receive(config, interaction("command_guild"), {}, NOW).events[0]


def of_bot() -> Event:
    """The event of a mention by another bot."""
    event = read_message(MODEL.load(CONFIG), fixture("message_from_bot"), {APPLICATION})
    assert isinstance(event, Event)
    return event


SAMPLE = Sample(
    fields=(
        "botToken string R, applicationId string R, publicKey string, defaultChannelId string, "
        "ackReaction string, reactions boolean, identifyUsers boolean, accessMode string, "
        "mergeSeconds number, transcribe boolean, requireMention boolean, allowedChannels string, "
        "followThreads boolean, replyInThread boolean"
    ),
    reacted_to="18",
    typing_shown_seconds=10.0,
    config=CONFIG,
    genuine={
        name: interaction(name)
        for name in (
            "command_guild",
            "command_dm",
            "command_nested",
            "component_button",
            "modal_submit",
            "message_mention",
        )
    },
    forged={str(number): each for number, each in enumerate(tampered())},
    target=TARGET,
    addresses={SETTING: "https://discord.com/api/v10"},
    shown=lambda part: str(part.payload["text"]),
    openings=(
        Opening(
            ROOM, ROOM, sends_to(ROOM), asked=[answer(id=ROOM, type=0)], config={"defaultChannelId": ROOM}
        ),
        Opening(
            DIRECT,
            f"{DIRECT}:{PERSON}",
            sends_to(DIRECT),
            asked=[answer(id=DIRECT, type=1, recipients=[{"id": PERSON}])],
            answered=written,
        ),
        Opening(
            f"user:{PERSON}", f"{DIRECT}:{PERSON}", sends_to(DIRECT), [answer(id=DIRECT, type=1)], written
        ),
        Opening(
            PERSON,
            f"{DIRECT}:{PERSON}",
            sends_to(DIRECT),
            asked=[HttpAnswer(404, {}, b'{"code": 10003}'), answer(id=DIRECT, type=1)],
            answered=written,
        ),
    ),
    no_addresses=(
        "0" * 18,
        "#general",
        "<@53908232506183680>",
        "ada#1234",
        "user:ada",
        "-772908445358620702",
    ),
    replies=(Reply(replied, "It is hot.", "Bob"),),
    refused={"channel": elsewhere, "bot": of_bot},
    of_recipient=[
        refusal(status, code=code, message="no")
        for status, code in (
            (403, 50007),
            (404, 10003),
            (403, 50001),
            (403, 50278),
            (400, 50083),
            (404, 10013),
        )
    ],
)
