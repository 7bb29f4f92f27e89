"""What Slack is in workspace_chat.feature."""

import asyncio
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then

from adapters.outbound.channels.workspace_chat import delivery
from adapters.outbound.channels.workspace_chat.tests import samples
from domain.channels.messages import RawCall
from domain.routing.model import RunRequest, RunResult
from tests.drivers.world import PATIENCE, World
from tests.features.callbacks.conftest import Chat, Instance
from tests.support.platforms.slack import Slack

scenarios("workspace_chat.feature")

EVENTS: Mapping[str, str] = {
    "a check of the address": "url_verification",
    "a mention in a thread": "app_mention_in_thread",
    "a direct message": "message_im",
    "a message in a chat with the agent": "message_im_agent",
    "that a chat with the agent was opened": "assistant_thread_started",
    "a message in a thread of direct messages": "message_im_in_thread",
    "a message in another chat with the agent": "message_im_other_agent",
    "a button with the value c:1:approve": "block_actions",
    "a slash command": "slash_command",
    "a mention": "app_mention",
    "the message of that mention": "message_mention",
    "a message to somebody else": "message_channel",
    "a message of another bot": "message_from_bot",
    "a message of the bot itself": "message_own",
    "a change of a message": "message_changed",
    "a deleted message": "message_deleted",
    "an added reaction": "reaction_added",
    "a global shortcut": "shortcut",
    "a shortcut of a message": "message_action",
    "the bot's answer as a person's message": "own_answer_of_a_person",
}
PLACES: Mapping[str, str] = {
    "C0ROOM thread 1800000001.000100": "the thread",
    "D0ADA": "the direct chat",
    "D0ADA thread 1800000001.000100": "the chat with the agent",
    "D0ADA thread 1800000002.000100": "the other chat with the agent",
}
REPLIES: Mapping[str, Any] = {
    "its own challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P",
    'to show "Working on it…" to the sender alone': {"response_type": "ephemeral", "text": "Working on it…"},
}

OWN_ANSWER = "own_answer_of_a_person"


def posted(name: str, at: datetime) -> RawCall:
    body = samples.fixture("message_im" if name == OWN_ANSWER else name)
    if name == OWN_ANSWER:
        body["event"]["ts"] = "1800000000.000001"  # what the stand-in calls our first message
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
    events=EVENTS,
    places=PLACES,
    replies=REPLIES,
)


class Slow:
    """A resource that says how its answer begins, and ends when it is told to."""

    def __init__(self, world: World) -> None:
        self.ends = threading.Event()
        world.container.resources().router.default = self

    async def run(self, request: RunRequest) -> RunResult:
        assert request.progress
        request.progress(lambda: "Steam is")
        await asyncio.to_thread(self.ends.wait, PATIENCE)
        return RunResult("Steam is **hot**.")


@pytest.fixture
def slow(world: World, monkeypatch: pytest.MonkeyPatch) -> Slow:
    monkeypatch.setattr(delivery, "DRAFT_SECONDS", 0.02)
    return Slow(world)


@given("a bot whose resource answers piece by piece")
def piece_by_piece(instance: Instance, slow: Slow) -> None:
    body = {
        "channelId": "workspace-chat",
        "channelName": "Bot",
        "config": samples.CONFIG,
        "downStreamResourceId": "agent::slow",
    }
    instance.id = instance.rest.create("ann", body).body["instanceId"]


@then(parsers.parse('"{text}" is shown in {place}'))
def is_shown(instance: Instance, slow: Slow, text: str, place: str) -> None:
    assert instance.driver.wait_until(lambda: instance.said() == [(place, text)]), instance.said()
    slow.ends.set()


@then(parsers.parse('"{text}" takes its place'))
def takes_its_place(instance: Instance, text: str) -> None:
    assert instance.driver.wait_until(lambda: [each[1] for each in instance.said()] == [text]), (
        instance.said()
    )


@then("nothing of it was changed")
def unchanged(instance: Instance) -> None:
    platform = instance.driver.platform
    assert isinstance(platform, Slack)
    assert platform.updates == []
