"""Socket Mode against a scripted Slack: acknowledged once stored, and always one connection that is open."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.common import reconnecting
from adapters.outbound.channels.tests.calls import ChannelCalls, receiver
from adapters.outbound.channels.tests.listening import Listener
from adapters.outbound.channels.tests.support import client, dependencies
from adapters.outbound.channels.workspace_chat import socket_mode, webhook
from adapters.outbound.channels.workspace_chat.channel import build
from adapters.outbound.channels.workspace_chat.config import CONFIG as MODEL
from domain.refusals import Unavailable
from ports.capabilities import PlatformError
from tests.support.platforms.slack import APP_TOKEN, BOT, Slack
from tests.support.platforms.websocket import Peer

from .samples import CONFIG, SETTING, fixture, recorded

SOCKET = {**CONFIG, "appToken": APP_TOKEN}
TYPES = {"slash_command": "slash_commands", "block_actions": "interactive"}
TYPES |= {"shortcut": "interactive", "message_action": "interactive"}


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnecting, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(reconnecting, "LONGEST_PAUSE", 0.01)


@pytest.fixture
async def server() -> AsyncIterator[Slack]:
    async with Slack.run() as platform:
        yield platform


@pytest.fixture
async def listener(server: Slack) -> AsyncIterator[Listener]:
    async with client() as http:
        made = Listener(ChannelCalls(build(dependencies(http, {SETTING: f"{server.url}/api"}))), SOCKET)
        yield made
        await made.stop()


def envelope(name: str, number: int = 1, **more: Any) -> dict[str, Any]:
    """A recorded body as Socket Mode carries it."""
    kind = TYPES.get(name, "events_api")
    return {"envelope_id": f"env-{number}", "type": kind, "payload": fixture(name), **more}


async def said(server: Slack, listener: Listener) -> Peer:
    """The first connection."""
    listener.start()
    return await server.sockets.new.get()


@pytest.mark.parametrize(
    "name", ["message_im", "app_mention", "slash_command", "block_actions", "message_action"]
)
async def test_events_are_those_of_the_webhook(server: Slack, listener: Listener, name: str) -> None:
    peer = await said(server, listener)
    peer.say(envelope(name))
    (event,) = receiver(webhook, MODEL)(SOCKET, recorded(name), {"user_id": BOT}).events
    assert await listener.events.get() == event
    assert await peer.heard.get() == {"envelope_id": "env-1"}
    assert listener.recorder.ups == [True]


async def test_a_global_shortcut_belongs_to_the_direct_messages(server: Slack, listener: Listener) -> None:
    peer = await said(server, listener)
    peer.say(envelope("shortcut"))
    event = await listener.events.get()
    assert (event.session_id, event.target["channel"]) == ("D0ADA", "D0ADA")
    assert await peer.heard.get() == {"envelope_id": "env-1"}


async def test_a_chat_that_was_opened_is_remembered(server: Slack, listener: Listener) -> None:
    peer = await said(server, listener)
    peer.say(envelope("assistant_thread_started"))
    assert await peer.heard.get() == {"envelope_id": "env-1"}
    assert [alias.session_id for alias in listener.aliases] == ["D0ADA:1800000001.000100"]


async def test_a_command_is_answered_in_its_acknowledgement(server: Slack, listener: Listener) -> None:
    peer = await said(server, listener)
    peer.say(envelope("slash_command", accepts_response_payload=True))
    answer = {"response_type": "ephemeral", "text": "Working on it…"}
    assert await peer.heard.get() == {"envelope_id": "env-1", "payload": answer}


@pytest.mark.parametrize("name", ["message_own", "reaction_added"])
async def test_what_is_no_message_is_acknowledged(server: Slack, listener: Listener, name: str) -> None:
    peer = await said(server, listener)
    peer.say(envelope(name, accepts_response_payload=True))
    assert await peer.heard.get() == {"envelope_id": "env-1"}
    assert listener.events.empty()


@pytest.mark.parametrize(
    "odd",
    [
        {"envelope_id": "env-0", "type": "events_api"},
        {"envelope_id": "env-0", "type": "events_api", "payload": []},
        {"envelope_id": "env-0", "type": "slash_commands", "payload": {"command": "/ask"}},
        {"envelope_id": "env-0", "type": "tomorrow", "payload": {}},
    ],
)
async def test_what_cannot_be_read_is_acknowledged(
    server: Slack, listener: Listener, odd: dict[str, Any]
) -> None:
    peer = await said(server, listener)
    peer.say(odd)
    assert await peer.heard.get() == {"envelope_id": "env-0"}


@pytest.mark.parametrize("odd", ["", "[]", "{", "\x00", '{"type": 5}', '{"envelope_id": {}}', "{}"])
async def test_odd_frames_are_passed_over(server: Slack, listener: Listener, odd: str) -> None:
    peer = await said(server, listener)
    peer.say(odd)
    peer.say(envelope("message_im"))
    assert await peer.heard.get() == {"envelope_id": "env-1"}


async def test_what_could_not_be_stored_is_not_acknowledged(server: Slack, listener: Listener) -> None:
    listener.broken.append(Unavailable("the database is away"))
    peer = await said(server, listener)
    peer.say(envelope("message_im"))
    assert listener.running is not None
    with pytest.raises(Unavailable):
        await listener.running
    await peer.closed.wait()
    assert peer.heard.empty()
    peer = await said(server, listener)
    peer.say(envelope("message_im"))
    assert await peer.heard.get() == {"envelope_id": "env-1"}


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_the_next_connection_is_open_before_the_last_one_closes(
    server: Slack, listener: Listener, reason: str
) -> None:
    first = await said(server, listener)
    first.say({"type": "disconnect", "reason": reason})
    second = await server.sockets.new.get()
    first.say(envelope("message_im", 1))
    assert await first.heard.get() == {"envelope_id": "env-1"}, "the last one is still read"
    second.say(envelope("app_mention", 2))
    assert await second.heard.get() == {"envelope_id": "env-2"}
    first.say(1000)
    await first.closed.wait()
    second.say(envelope("app_mention", 3))
    assert await second.heard.get() == {"envelope_id": "env-3"}
    assert listener.recorder.ups == [True, True]
    assert listener.recorder.troubles.empty()


async def test_a_replaced_connection_that_stays_is_closed(
    server: Slack, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_mode, "DRAIN_SECONDS", 0.0)
    first = await said(server, listener)
    first.say({"type": "disconnect", "reason": "warning"})
    second = await server.sockets.new.get()
    await first.closed.wait()
    second.say(envelope("app_mention"))
    assert await second.heard.get() == {"envelope_id": "env-1"}


async def test_what_a_replaced_connection_cannot_store_ends_the_listening(
    server: Slack, listener: Listener
) -> None:
    first = await said(server, listener)
    first.say({"type": "disconnect", "reason": "warning"})
    await server.sockets.new.get()
    listener.broken.append(Unavailable("the database is away"))
    first.say(envelope("message_im"))
    assert listener.running is not None
    with pytest.raises(Unavailable):
        await listener.running


async def test_a_broken_connection_is_put_on_record_and_made_again(server: Slack, listener: Listener) -> None:
    (await said(server, listener)).say(1011)
    second = await server.sockets.new.get()
    assert "broke" in await listener.recorder.troubles.get()
    second.say(envelope("message_im"))
    assert await second.heard.get() == {"envelope_id": "env-1"}
    assert listener.recorder.ups == [True, False, True]


async def test_socket_mode_that_is_turned_off_is_told(server: Slack, listener: Listener) -> None:
    (await said(server, listener)).say({"type": "disconnect", "reason": "link_disabled"})
    assert "turned off" in await listener.recorder.troubles.get()
    await server.sockets.new.get()


async def test_waits_as_slack_says(server: Slack, listener: Listener) -> None:
    server.next_reply(200, {"ok": True})
    server.next_reply(429, {"ok": False, "error": "ratelimited"}, Retry_After="77")
    with pytest.raises(PlatformError) as raised:
        await listener.channel.probe(SOCKET)
    assert reconnecting.pause_seconds(1, raised.value) == 77


async def test_a_connection_that_slack_does_not_open_is_tried_again(
    server: Slack, listener: Listener
) -> None:
    server.next_reply(200, {"ok": True, "user_id": BOT})
    server.next_reply(429, {"ok": False, "error": "ratelimited"}, Retry_After="0")
    await said(server, listener)
    assert "ratelimited" in await listener.recorder.troubles.get()


async def test_a_wrong_token_is_told_at_once(server: Slack, listener: Listener) -> None:
    await listener.channel.probe(SOCKET)
    with pytest.raises(PlatformError, match=r"not_allowed_token_type .*appToken"):
        await listener.channel.probe({**SOCKET, "appToken": "xapp-wrong"})


async def test_another_address_than_slacks_is_not_connected_to(server: Slack, listener: Listener) -> None:
    for address in ("ws://127.0.0.1:9/", "wss://slack.com.evil.example/", "file:///etc/passwd", ""):
        server.next_reply(200, {"ok": True, "user_id": BOT})
        server.next_reply(200, {"ok": True, "url": address})
        with pytest.raises(PlatformError, match="not Slack's"):
            await listener.channel.probe(SOCKET)


async def test_an_instance_without_app_token_wants_no_connection(listener: Listener) -> None:
    assert not listener.channel.wants(CONFIG, {})
    assert listener.channel.wants(SOCKET, {})
    assert "Socket Mode" in listener.channel.note(SOCKET, {})


async def test_nothing_goes_on_after_the_end(server: Slack, listener: Listener) -> None:
    first = await said(server, listener)
    first.say({"type": "disconnect", "reason": "warning"})
    second = await server.sockets.new.get()
    await listener.stop()
    await asyncio.gather(first.closed.wait(), second.closed.wait())
