"""Messages of threads: which of them reach the bot, and what is read of what was said before."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import ChannelCalls, receiver
from adapters.outbound.channels.tests.support import NOW, client, dependencies
from adapters.outbound.channels.workspace_chat import api, webhook
from adapters.outbound.channels.workspace_chat.channel import build
from adapters.outbound.channels.workspace_chat.config import CONFIG as MODEL
from domain.channels.messages import Attachment, Event, Quoted, Received, ThreadMessage
from ports.capabilities import PlatformError
from tests.support.platforms.slack import BOT, Slack

from .samples import CONFIG, SETTING, as_posted, fixture, recorded

receive = receiver(webhook, MODEL)
KNOWN = {"user_id": BOT}
ROOT = "1800000001.000100"


def received(name: str, settings: dict[str, Any] | None = None, **changed: Any) -> Received:
    body = fixture(name)
    if "event" in body:
        body["event"] |= changed
    return receive({**CONFIG, **(settings or {})}, as_posted(name, body), KNOWN)


def event(name: str, settings: dict[str, Any] | None = None, **changed: Any) -> Event:
    (found,) = received(name, settings, **changed).events
    return found


def in_thread(settings: dict[str, Any] | None = None, **changed: Any) -> Received:
    return received("message_channel", settings, thread_ts=ROOT, **changed)


def test_a_message_of_a_thread_counts_where_the_thread_is_followed() -> None:
    (found,) = in_thread(text="and ice?").events
    assert found.only_followed
    assert (found.session_id, found.text) == (f"C0ROOM:{ROOT}", "and ice?")


def test_a_mention_in_a_thread_counts_in_any_case() -> None:
    assert not event("app_mention_in_thread").only_followed
    assert not event("message_mention", thread_ts="1800000000.000100").only_followed


@pytest.mark.parametrize(
    ("settings", "changed"),
    [
        ({}, {}),
        ({"followThreads": False}, {"thread_ts": ROOT}),
        ({}, {"thread_ts": ROOT, "text": ""}),
        ({}, {"thread_ts": ROOT, "user": BOT}),
        ({}, {"thread_ts": ROOT, "bot_id": "B1"}),
    ],
)
def test_what_does_not_address_the_bot_is_ignored(settings: dict[str, Any], changed: dict[str, Any]) -> None:
    assert received("message_channel", settings, **changed).events == ()


def test_no_mention_is_needed_where_the_instance_says_so() -> None:
    found = event("message_channel", {"requireMention": False})
    assert (found.only_followed, found.session_id) == (False, "C0ROOM")


def test_an_answer_to_a_mention_goes_into_a_thread() -> None:
    asked = event("app_mention", {"replyInThread": True})
    assert (asked.session_id, asked.target["thread_ts"]) == (f"C0ROOM:{ROOT}", ROOT)
    assert (asked.quoted, asked.thread_post) == (None, "")
    direct = event("message_im", {"replyInThread": True})
    assert (direct.session_id, "thread_ts" in direct.target) == ("D0ADA", False)


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("app_mention", ["channel"]),
        ("slash_command", ["channel"]),
        ("message_action", ["channel"]),
        ("block_actions", []),
    ],
)
def test_what_is_said_in_channels_that_are_not_allowed_is_refused(name: str, refused: list[str]) -> None:
    assert received(name, {"allowedChannels": " C1, C0ROOM "}).events
    ignored = received(name, {"allowedChannels": "C1,C2"})
    assert (ignored.kind, ignored.answer.status) == ("ignored:channel", 200)
    assert [event.refused for event in ignored.events] == refused


def test_what_is_not_said_to_the_bot_in_channels_that_are_not_allowed_is_ignored() -> None:
    config = {"allowedChannels": "C1", "requireMention": False}
    found = received("message_channel", config)
    assert (found.events, found.kind) == ((), "ignored:channel")


def test_direct_messages_are_allowed_in_any_case() -> None:
    assert received("message_im", {"allowedChannels": "C1"}).events


def test_a_reply_in_a_thread_names_the_first_message() -> None:
    asked = event("app_mention_in_thread")
    assert asked.quoted == Quoted(ref=ROOT, key=f"C0ROOM:{ROOT}", session="C0ROOM")
    assert asked.thread_post == fixture("app_mention_in_thread")["event"]["ts"]
    assert asked.target["bot"] == BOT


def test_the_first_message_of_a_thread_replies_to_nothing() -> None:
    asked = event("app_mention", thread_ts=ROOT)
    assert (asked.quoted, asked.thread_post) == (None, "")


def test_a_shared_message_is_quoted() -> None:
    file = {"id": "F1", "name": "a.png", "mimetype": "image/png", "url_private": "https://files.slack.com/a"}
    shared = {"is_share": True, "text": "steam &amp; <@U1>", "author_name": "Bob", "files": [file]}
    asked = event("message_im", attachments=[{"text": "a link"}, shared])
    attachment = Attachment("a.png", "image/png", {"id": "F1", "url": "https://files.slack.com/a"}, None)
    assert asked.quoted == Quoted("steam & @U1", "Bob", (attachment,))


@pytest.mark.parametrize("shared", [{"is_share": True}, {"is_share": "x", "text": "t"}, "hostile", None])
def test_a_shared_message_without_content_is_not(shared: object) -> None:
    assert event("message_im", attachments=[shared]).quoted is None


def message(number: int, text: str = "", **more: Any) -> dict[str, Any]:
    ts = f"18000000{number:02d}.000100"
    return {"type": "message", "user": "U0ADA", "text": text or f"message {number}", "ts": ts, **more}


class Reading:
    """The channel on a Slack of the test."""

    def __init__(self, slack: Slack, channel: ChannelCalls) -> None:
        self.slack, self._channel = slack, channel
        self.target = {"channel": "C0ROOM", "thread_ts": ROOT, "bot": BOT}

    async def thread(self, before: str, most: int = 20) -> list[ThreadMessage]:
        return list(await self._channel.read_thread(CONFIG, self.target, before, most))

    async def quoted(self) -> Quoted | None:
        found: Quoted | None = await self._channel.read_quoted(CONFIG, self.target, Quoted(ref=ROOT))
        return found


@pytest.fixture
async def reading() -> AsyncIterator[Reading]:
    async with Slack.run() as slack, client() as http:
        channel = ChannelCalls(build(dependencies(http, {SETTING: f"{slack.url}/api"})))
        yield Reading(slack, channel)
        assert slack.faults == []


async def test_the_latest_messages_before_the_mention_are_read(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "PAGE", 10)
    reading.slack.threads[ROOT] = [message(number) for number in range(1, 41)]
    found = await reading.thread("1800000036.000100")
    assert [earlier.text for earlier in found] == [f"message {number}" for number in range(16, 36)]


async def test_who_wrote_when_is_told(reading: Reading) -> None:
    reading.slack.threads[ROOT] = [
        message(1, "look at &lt;this&gt;"),
        message(2, "It is hot.", user=BOT, bot_id="B1"),
        message(3, "Backup done", user="U1", bot_id="B2", bot_profile={"name": "Backup"}),
        message(4, "", files=[{"id": "F1"}]) | {"text": ""},
    ]
    at = datetime(2027, 1, 15, 8, 0, 1, 100, UTC)
    assert await reading.thread("1800000009.000100") == [
        ThreadMessage("look at <this>", "U0ADA", at),
        ThreadMessage("It is hot.", "resource", at.replace(second=2)),
        ThreadMessage("Backup done", "Backup", at.replace(second=3)),
    ]


async def test_the_first_message_of_the_thread_is_read(reading: Reading) -> None:
    reading.slack.threads[ROOT] = [message(1, "Who knows?"), message(2)]
    assert await reading.quoted() == Quoted("Who knows?", "U0ADA")


async def test_a_thread_that_is_gone_is_an_error_that_names_the_reason(reading: Reading) -> None:
    with pytest.raises(PlatformError, match="thread_not_found"):
        await reading.quoted()
    with pytest.raises(PlatformError, match="thread_not_found"):
        await reading.thread("1800000009.000100")


def test_a_recorded_message_of_a_channel_still_needs_a_mention() -> None:
    assert receive(CONFIG, recorded("message_channel", NOW), KNOWN).kind == "ignored:not-addressed"
