"""What Discord is in gaming_chat.feature."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pytest_bdd import scenarios

from adapters.outbound.channels.gaming_chat.tests import samples
from domain.channels.messages import RawCall
from tests.features.callbacks.conftest import Chat
from tests.support.channels import call
from tests.support.platforms.discord import Discord

THROUGH = "way"
scenarios("gaming_chat.feature")

ACKNOWLEDGEMENTS = {
    "a pong": {"type": 1},
    "thinking": {"type": 5},
    "no change": {"type": 6},
    "no suggestions": {"type": 8, "data": {"choices": []}},
}


def forged(name: str, at: datetime) -> RawCall:
    right = samples.posted(samples.fixture(name), at)
    return call(body=right.body, headers={**right.headers, "x-signature-ed25519": "00" * 64})


def said(platform: Any) -> list[tuple[str, str]]:
    return [
        *(("the place of thinking", each["content"]) for each in platform.originals),
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
)
