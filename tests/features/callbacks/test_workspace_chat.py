"""What Slack is in workspace_chat.feature."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pytest_bdd import scenarios

from adapters.outbound.channels.workspace_chat.tests import samples
from domain.channels.messages import RawCall
from tests.features.callbacks.conftest import Chat
from tests.support.platforms.slack import Slack

THROUGH = "way"
scenarios("workspace_chat.feature")


def posted(name: str, at: datetime) -> RawCall:
    body = samples.fixture(name)
    if name == "slash_command":
        address: str = globals()["SETTINGS"][samples.SETTING]  # set by the conftest
        body["response_url"] = address.removesuffix("/api") + "/commands/T1/1/abc"
    return samples.as_posted(name, body, at)


def forged(name: str, at: datetime) -> RawCall:
    call = samples.recorded(name, at)
    headers = {**call.headers, "x-slack-signature": "v0=" + "0" * 64}
    return RawCall(call.id, call.method, call.callback, call.url, headers, call.body)


def said(platform: Any) -> list[tuple[str, str]]:
    return [(_place(each), each["text"]) for each in platform.messages] + [
        ("its response address", each["text"]) for each in platform.responses
    ]


def _place(message: dict[str, Any]) -> str:
    thread = message.get("thread_ts")
    return f"{message['channel']} thread {thread}" if thread else message["channel"]


CHAT = Chat(
    channel_id="workspace-chat",
    config=samples.CONFIG,
    standin=Slack,
    setting=samples.SETTING,
    call=posted,
    forged=forged,
    said=said,
    api="/api",
)
