"""What Discord is in gaming_chat.feature."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pytest_bdd import scenarios

from adapters.outbound.channels.gaming_chat.tests import samples
from adapters.outbound.channels.tests.support import call
from domain.channels.messages import RawCall
from tests.features.callbacks.conftest import Chat
from tests.support.platforms.discord import Discord

scenarios("gaming_chat.feature")

EVENTS: Mapping[str, str] = {
    "a ping": "ping",
    "a command": "command_guild",
    "a direct command": "command_dm",
    "a button with the value c:1:approve": "component_button",
    "two chosen options": "component_select",
    "a mention": "message_mention",
    "a direct message": "message_dm",
    "a message to somebody else": "message_other",
    "a message of another bot": "message_from_bot",
    "a message of the bot itself": "message_own",
    "a submitted form": "modal_submit",
    "a half-typed command": "autocomplete",
}
PLACES: Mapping[str, str] = {
    "772908445358620702": "the channel",
    "645027906669510667": "the direct chat",
}
REPLIES: Mapping[str, Any] = {
    "that the ping arrived": {"type": 1},
    "that the answer follows": {"type": 5},
    "that the message stays as it is": {"type": 6},
    "that there is nothing to suggest": {"type": 8, "data": {"choices": []}},
}


def forged(name: str, at: datetime) -> RawCall:
    right = samples.posted(samples.fixture(name), at)
    return call(body=right.body, headers={**right.headers, "x-signature-ed25519": "00" * 64})


def said(platform: Any) -> list[tuple[str, str]]:
    return [
        *(("the command's answer", each["content"]) for each in platform.originals),
        *(("a follow-up", each["content"]) for each in platform.follow_ups),
        *((each["channel"], _unescaped(each["content"])) for each in platform.messages),
    ]


def _unescaped(content: str) -> str:
    return content.replace("\\", "")


CHAT = Chat(
    channel_id="gaming-chat",
    config=samples.CONFIG,
    standin=Discord,
    setting=samples.SETTING,
    call=lambda name, at: samples.posted(samples.fixture(name), at),
    forged=forged,
    said=said,
    api="/api/v10",
    events=EVENTS,
    places=PLACES,
    replies=REPLIES,
)
