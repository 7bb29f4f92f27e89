"""The gateway connection against a scripted gateway: enter, listen, beat, go on where it broke off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.gaming_chat.channel import GamingChat, build
from adapters.outbound.channels.gaming_chat.gateway import INTENTS
from domain.channels.messages import Event
from ports.channels import PlatformError
from tests.support.channels import client, kit
from tests.support.platforms.discord import APPLICATION, TOKEN, Discord

from .samples import CONFIG, SETTING, fixture

READY = {"session_id": "session1", "user": {"id": APPLICATION}, "v": 10}


class Listener:
    """A running connection, and the events that it gave."""

    def __init__(self, channel: GamingChat) -> None:
        self._channel = channel
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self.running: asyncio.Task[None] | None = None

    def start(self, config: Any = CONFIG) -> asyncio.Task[None]:
        self.running = asyncio.create_task(self._channel.listen(7, config, self.events.put))
        return self.running

    async def stop(self) -> None:
        if self.running:
            self.running.cancel()
            await asyncio.gather(self.running, return_exceptions=True)


@pytest.fixture
async def server() -> AsyncIterator[Discord]:
    async with Discord.run() as platform:
        yield platform


@pytest.fixture
async def listener(server: Discord) -> AsyncIterator[Listener]:
    async with client() as http, asyncio.timeout(20):
        found = Listener(build(kit(http, {SETTING: server.url + "/api/v10"})))
        yield found
        await found.stop()


async def entered(server: Discord, listener: Listener) -> None:
    """Connects for the first time."""
    listener.start()
    assert (await server.gateway.heard.get())["op"] == 2
    server.gateway.dispatch("READY", dict(READY), 1)


async def test_identifies_and_hands_on_mentions_and_direct_messages(
    server: Discord, listener: Listener
) -> None:
    listener.start()
    heard = await server.gateway.heard.get()
    assert heard["d"] | {"properties": {}} == {"token": TOKEN, "intents": INTENTS, "properties": {}}
    server.gateway.dispatch("READY", dict(READY), 1)
    for number, name in enumerate(("other", "from_bot", "own", "mention", "dm"), start=2):
        server.gateway.dispatch("MESSAGE_CREATE", fixture(f"message_{name}"), number)
    assert (await listener.events.get()).text == "is :steam: hot, @charles?"
    assert (await listener.events.get()).text == "Good morning"
    assert listener.events.empty()


async def test_an_interaction_is_acknowledged_once_it_is_stored(server: Discord, listener: Listener) -> None:
    await entered(server, listener)
    server.gateway.dispatch("INTERACTION_CREATE", {**fixture("command_guild"), "id": "846462639134605312"}, 2)
    assert (await listener.events.get()).text == "how hot is steam?"
    server.gateway.dispatch("MESSAGE_CREATE", fixture("message_dm"), 3)
    await listener.events.get()
    assert server.callbacks == [{"type": 5}]


async def test_goes_on_where_discord_asked_for_a_new_connection(server: Discord, listener: Listener) -> None:
    await entered(server, listener)
    server.gateway.dispatch("MESSAGE_CREATE", fixture("message_dm"), 5)
    await listener.events.get()
    server.gateway.frames.put_nowait({"op": 7, "d": None})
    assert listener.running
    await listener.running
    listener.start()
    heard = await server.gateway.heard.get()
    assert heard == {"op": 6, "d": {"token": TOKEN, "session_id": "session1", "seq": 5}}
    assert server.gateway.paths == ["/gateway/", "/resume/"]


async def test_a_message_that_could_not_be_stored_is_not_counted_as_seen(
    server: Discord, listener: Listener
) -> None:
    async def broken(event: Event) -> None:
        raise ConnectionResetError(event.text)

    async with client() as http:
        channel = build(kit(http, {SETTING: server.url + "/api/v10"}))
        first = asyncio.create_task(channel.listen(7, CONFIG, broken))
        await server.gateway.heard.get()
        server.gateway.dispatch("READY", dict(READY), 1)
        server.gateway.dispatch("MESSAGE_CREATE", fixture("message_dm"), 2)
        with pytest.raises(ConnectionResetError):
            await first
        second = asyncio.create_task(channel.listen(7, CONFIG, broken))
        heard = await server.gateway.heard.get()
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
    assert heard["d"]["seq"] == 1


async def test_a_session_that_is_not_valid_begins_anew(server: Discord, listener: Listener) -> None:
    await entered(server, listener)
    server.gateway.frames.put_nowait({"op": 9, "d": False})
    assert listener.running
    with pytest.raises(PlatformError):
        await listener.running
    listener.start()
    assert (await server.gateway.heard.get())["op"] == 2


@pytest.mark.parametrize(("code", "words"), [(4004, "bot token is not valid"), (4014, "intents")])
async def test_a_refusal_says_why(server: Discord, listener: Listener, code: int, words: str) -> None:
    task = listener.start()
    await server.gateway.heard.get()
    server.gateway.frames.put_nowait(code)
    with pytest.raises(PlatformError, match=words):
        await task


async def test_after_a_lost_connection_the_session_goes_on(server: Discord, listener: Listener) -> None:
    await entered(server, listener)
    server.gateway.dispatch("MESSAGE_CREATE", fixture("message_dm"), 2)
    await listener.events.get()
    server.gateway.frames.put_nowait(4000)
    assert listener.running
    with pytest.raises(PlatformError):
        await listener.running
    listener.start()
    assert (await server.gateway.heard.get())["op"] == 6


async def test_beats_and_answers_a_call_for_a_beat(server: Discord, listener: Listener) -> None:
    server.gateway.interval = 20
    await entered(server, listener)
    beats = [await server.gateway.beats.get() for _ in range(3)]
    assert beats[-1] == 1
    server.gateway.frames.put_nowait({"op": 1, "d": None})
    server.gateway.dispatch("MESSAGE_CREATE", fixture("message_dm"), 2)
    await listener.events.get()


async def test_a_gateway_that_does_not_answer_beats_is_left(server: Discord, listener: Listener) -> None:
    server.gateway.interval = 20
    server.gateway.answers_beats = False
    await entered(server, listener)
    assert listener.running
    with pytest.raises(PlatformError, match="broke"):
        await listener.running


@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"op": "x"},
        {"op": 0},
        {"op": 0, "t": "MESSAGE_CREATE", "d": [], "s": "x"},
        {"op": 0, "t": 5, "d": 1},
    ],
)
async def test_odd_frames_are_passed_over(server: Discord, listener: Listener, frame: Any) -> None:
    await entered(server, listener)
    server.gateway.frames.put_nowait(frame)
    server.gateway.dispatch("MESSAGE_CREATE", fixture("message_dm"), 2)
    assert (await listener.events.get()).text == "Good morning"


async def test_without_a_gateway_it_says_so() -> None:
    async with client() as http:
        channel = build(kit(http, {SETTING: "http://127.0.0.1:1"}))
        with pytest.raises(PlatformError):
            await Listener(channel).start()
