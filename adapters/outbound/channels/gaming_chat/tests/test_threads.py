"""Threads of Discord: which messages reach the bot, with which session, and where answers go."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.outbound.channels.common import reconnecting
from adapters.outbound.channels.gaming_chat.channel import build
from adapters.outbound.channels.gaming_chat.config import CONFIG as MODEL
from adapters.outbound.channels.gaming_chat.gateway import INTENTS, MESSAGE_CONTENT
from adapters.outbound.channels.gaming_chat.webhook import read_interaction
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.listening import Listener
from adapters.outbound.channels.tests.support import NOW, client, dependencies
from domain.channels.answers import Answer
from domain.channels.messages import Event, Outcome, ThreadMessage
from ports.capabilities import PlatformError
from tests.support.platforms.discord import APPLICATION, CHANNELS, Discord

from .samples import CONFIG, SETTING, fixture

ROOM, THREAD = CHANNELS[0], "990000000000000001"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnecting, "FIRST_PAUSE", 0.001)


@pytest.fixture
async def server() -> AsyncIterator[Discord]:
    async with Discord.run() as platform:
        platform.threads[THREAD] = ROOM
        yield platform
        assert platform.faults == []


@pytest.fixture
async def listener(server: Discord) -> AsyncIterator[Listener]:
    async with client() as http:
        channel = ChannelCalls(build(dependencies(http, {SETTING: server.url + "/api/v10"})))
        found = Listener(channel, dict(CONFIG))
        yield found
        await found.stop()


class GatewayMessages:
    """Messages that the gateway sends, and a direct message behind them that shows that they were read."""

    def __init__(self, server: Discord, listener: Listener) -> None:
        self._server, self._listener = server, listener

    async def read(self, *messages: dict[str, Any], settings: dict[str, Any] | None = None) -> list[Event]:
        self._listener.config = {**CONFIG, **(settings or {})}
        self._listener.start()
        await self._server.gateway.heard.get()
        ready = {"session_id": "session1", "user": {"id": APPLICATION}, "v": 10}
        self._server.gateway.dispatch("READY", ready, 1)
        for number, message in enumerate((*messages, fixture("message_dm")), start=2):
            self._server.gateway.dispatch("MESSAGE_CREATE", message, number)
        events: list[Event] = []
        async with asyncio.timeout(60):
            while not events or not events[-1].is_direct:
                events.append(await self._listener.events.get())
        return events[:-1]


@pytest.fixture
def listening(server: Discord, listener: Listener) -> GatewayMessages:
    return GatewayMessages(server, listener)


def said(name: str, channel: str, **changed: Any) -> dict[str, Any]:
    return {**fixture(f"message_{name}"), "channel_id": channel, **changed}


async def test_messages_of_threads_come_in_to_be_followed(listening: GatewayMessages) -> None:
    mention, other = await listening.read(said("mention", THREAD), said("other", THREAD), said("other", ROOM))
    assert (mention.session_id, mention.only_followed, mention.thread_post) == (
        THREAD,
        False,
        fixture("message_mention")["id"],
    )
    assert (other.session_id, other.only_followed) == (THREAD, True)


async def test_a_message_without_its_content_is_nothing(listening: GatewayMessages) -> None:
    assert await listening.read(said("other", THREAD, content="")) == []


@pytest.mark.parametrize("settings", [{"followThreads": False}, {"allowedChannels": THREAD[::-1]}])
async def test_settings_keep_messages_out(listening: GatewayMessages, settings: dict[str, Any]) -> None:
    assert await listening.read(said("other", THREAD), settings=settings) == []


async def test_a_thread_is_allowed_by_its_channel(listening: GatewayMessages) -> None:
    settings = {"allowedChannels": f"1,{ROOM}"}
    found = await listening.read(
        said("mention", THREAD),
        said("mention", CHANNELS[1], id="7"),
        said("other", CHANNELS[1], id="8"),
        settings=settings,
    )
    assert [(event.target["channel_id"], event.refused) for event in found] == [
        (THREAD, ""),
        (CHANNELS[1], "channel"),
    ]


async def test_without_a_required_mention_all_messages_come_in(listening: GatewayMessages) -> None:
    (found,) = await listening.read(said("other", ROOM), settings={"requireMention": False})
    assert (found.only_followed, found.session_id) == (False, f"{ROOM}:{found.sender.external_id}")


async def test_where_discord_does_not_tell_the_place_mentions_come_in(listening: GatewayMessages) -> None:
    (found,) = await listening.read(said("mention", "5"), said("other", "5"))
    assert found.session_id == f"5:{found.sender.external_id}"


@pytest.mark.parametrize(
    ("flags", "settings", "intents"),
    [
        (0, {}, INTENTS),
        (1 << 18, {}, INTENTS | MESSAGE_CONTENT),
        (1 << 19, {"followThreads": False, "requireMention": False}, INTENTS | MESSAGE_CONTENT),
        (1 << 19, {"followThreads": False}, INTENTS),
    ],
)
async def test_contents_are_asked_for_where_they_are_needed_and_allowed(
    server: Discord, listener: Listener, flags: int, settings: dict[str, Any], intents: int
) -> None:
    server.flags = flags
    listener.config = {**CONFIG, **settings}
    listener.start()
    assert (await server.gateway.heard.get())["d"]["intents"] == intents


async def test_an_answer_begins_a_thread_below_the_mention(
    server: Discord, listener: Listener, listening: GatewayMessages
) -> None:
    (asked,) = await listening.read(said("mention", ROOM), settings={"replyInThread": True})
    assert asked.session_id == asked.message_id
    for number in range(2):
        (message,) = listener.channel.render(CONFIG, asked.target, Answer(f"Answer {number}"))
        sent = await listener.channel.send(CONFIG, asked.target, message, f"key-{number}")
        assert sent.outcome is Outcome.SENT
    assert [(each["channel"], each["content"]) for each in server.messages] == [
        (asked.message_id, "Answer 0"),
        (asked.message_id, "Answer 1"),
    ]
    assert all("message_reference" not in each for each in server.messages)


async def test_an_answer_stays_in_the_channel_where_the_bot_may_begin_no_thread(
    server: Discord, listener: Listener, listening: GatewayMessages
) -> None:
    server.may_begin_threads = False
    (asked,) = await listening.read(said("mention", ROOM), settings={"replyInThread": True})
    (message,) = listener.channel.render(CONFIG, asked.target, Answer("It is."))
    assert (await listener.channel.send(CONFIG, asked.target, message, "key")).outcome is Outcome.SENT
    assert [each["channel"] for each in server.messages] == [ROOM]


def written(number: int, **more: Any) -> dict[str, Any]:
    author = {"id": "7", "username": "ada", "global_name": "Ada"}
    at = f"2026-11-20T12:00:{number:02d}.000000+00:00"
    return {
        "id": str(number),
        "type": 0,
        "content": f"message {number}",
        "author": author,
        "timestamp": at,
        **more,
    }


async def test_the_latest_messages_before_the_mention_are_read(server: Discord, listener: Listener) -> None:
    starter = written(1, content="Who knows?")
    server.history = [
        {"id": "1", "type": 21, "content": "", "referenced_message": starter},
        written(2, author={"id": APPLICATION, "username": "agent"}),
        written(3, content="<@7> hm", mentions=[{"id": "7", "username": "ada"}]),
        written(4, content=""),
        written(5),
    ]
    target = {"channel_id": THREAD}
    at = datetime(2026, 11, 20, 12, 0, 1, tzinfo=UTC)
    assert await listener.channel.read_thread(CONFIG, target, "5", 20) == [
        ThreadMessage("Who knows?", "Ada", at),
        ThreadMessage("message 2", "resource", at.replace(second=2)),
        ThreadMessage("@ada hm", "Ada", at.replace(second=3)),
    ]


async def test_a_thread_that_cannot_be_read_is_an_error(server: Discord, listener: Listener) -> None:
    server.next_reply(403, {"code": 50001, "message": "Missing Access"})
    with pytest.raises(PlatformError, match="Missing Access"):
        await listener.channel.read_thread(CONFIG, {"channel_id": THREAD}, "5", 20)


@pytest.mark.parametrize(("name", "kind"), [("command_guild", "command"), ("component_button", "component")])
def test_interactions_of_channels(name: str, kind: str) -> None:
    body = {**fixture(name), "guild_id": "1", "channel_id": THREAD}
    body["channel"] = {"id": THREAD, "type": 11, "parent_id": ROOM}
    found = read_interaction(MODEL.load({**CONFIG, "allowedChannels": ROOM}), body, NOW)
    assert (found.kind, [event.session_id for event in found.events]) == (kind, [THREAD])
    ignored = read_interaction(MODEL.load({**CONFIG, "allowedChannels": "1"}), body, NOW)
    assert ignored.kind == "ignored:channel"
    refused = [] if kind == "component" else ["channel"]
    assert [event.refused for event in ignored.events] == refused
