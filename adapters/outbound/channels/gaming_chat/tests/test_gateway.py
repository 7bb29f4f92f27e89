"""The gateway connection against a scripted gateway: enter, listen, beat, go on where it broke off."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.common import reconnecting
from adapters.outbound.channels.gaming_chat.channel import build
from adapters.outbound.channels.gaming_chat.gateway import INTENTS
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.listening import Listener
from adapters.outbound.channels.tests.support import client, dependencies
from domain.channels.messages import Event
from ports.capabilities import PlatformError
from tests.support.platforms.discord import APPLICATION, GUILD, INTERVAL, OTHER_ROLE, OWN_ROLE, TOKEN, Discord
from tests.support.waiting import let_pass

from .samples import CONFIG, SETTING, fixture

READY = {"session_id": "session1", "user": {"id": APPLICATION}, "v": 10}


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnecting, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(reconnecting, "LONGEST_PAUSE", 0.01)


@pytest.fixture
async def server() -> AsyncIterator[Discord]:
    async with Discord.run() as platform:
        yield platform


@pytest.fixture
async def listener(server: Discord) -> AsyncIterator[Listener]:
    async with client() as http:
        found = Listener(ChannelCalls(build(dependencies(http, {SETTING: server.url + "/api/v10"}))), CONFIG)
        yield found
        await found.stop()


async def entered(server: Discord, listener: Listener) -> None:
    """Connects for the first time."""
    listener.start()
    assert (await server.gateway.heard.get())["op"] == 2
    server.gateway.dispatch("READY", dict(READY), 1)


async def message(server: Discord, listener: Listener, sequence: int) -> Event:
    """A direct message on its way through the connection."""
    server.gateway.dispatch("MESSAGE_CREATE", fixture("message_dm"), sequence)
    return await listener.events.get()


async def test_identifies_and_hands_on_mentions_and_direct_messages(
    server: Discord, listener: Listener
) -> None:
    listener.start()
    heard = await server.gateway.heard.get()
    assert heard["d"] | {"properties": {}} == {"token": TOKEN, "intents": INTENTS, "properties": {}}
    server.gateway.dispatch("READY", dict(READY), 1)
    for number, name in enumerate(("other", "own", "mention", "dm", "from_bot"), start=2):
        server.gateway.dispatch("MESSAGE_CREATE", fixture(f"message_{name}"), number)
    assert (await listener.events.get()).text == "is :steam: hot, @charles?"
    assert (await listener.events.get()).text == "Good morning"
    assert (await listener.events.get()).refused == "bot"
    assert listener.events.empty()


async def test_an_interaction_is_acknowledged_once_it_is_stored(server: Discord, listener: Listener) -> None:
    await entered(server, listener)
    server.gateway.dispatch("INTERACTION_CREATE", {**fixture("command_guild"), "id": "846462639134605312"}, 2)
    assert (await listener.events.get()).text == "how hot is steam?"
    server.gateway.dispatch("MESSAGE_CREATE", fixture("message_dm"), 3)
    await listener.events.get()
    assert server.callbacks == [{"type": 5}]


RESUMED = {"op": 6, "d": {"token": TOKEN, "session_id": "session1", "seq": 5}}


@pytest.mark.parametrize("frame", [{"op": 7, "d": None}, {"op": 9, "d": True}, 4000, 4008])
async def test_goes_on_where_it_broke_off(server: Discord, listener: Listener, frame: Any) -> None:
    await entered(server, listener)
    await message(server, listener, 5)
    server.gateway.frames.put_nowait(frame)
    assert await server.gateway.heard.get() == RESUMED
    assert server.gateway.paths == ["/gateway/", "/resume/"]
    server.gateway.dispatch("RESUMED", {}, 6)
    assert (await message(server, listener, 7)).text == "Good morning"


@pytest.mark.parametrize("frame", [{"op": 9, "d": False}, 1000, 4007, 4009])
async def test_a_session_that_is_over_begins_anew(server: Discord, listener: Listener, frame: Any) -> None:
    await entered(server, listener)
    await message(server, listener, 5)
    server.gateway.frames.put_nowait(frame)
    assert (await server.gateway.heard.get())["op"] == 2
    assert server.gateway.paths == ["/gateway/", "/gateway/"]


async def test_a_message_that_could_not_be_stored_is_not_counted_as_seen(
    server: Discord, listener: Listener
) -> None:
    listener.broken.append(PlatformError("the database is away"))
    await entered(server, listener)
    server.gateway.dispatch("MESSAGE_CREATE", fixture("message_dm"), 2)
    heard = await server.gateway.heard.get()
    assert (heard["op"], heard["d"]["seq"]) == (6, 1)


async def test_an_error_of_our_own_ends_the_listening(server: Discord, listener: Listener) -> None:
    listener.broken.append(ConnectionResetError("ours"))
    await entered(server, listener)
    server.gateway.dispatch("MESSAGE_CREATE", fixture("message_dm"), 2)
    assert listener.running is not None
    with pytest.raises(ConnectionResetError):
        await listener.running
    assert listener.recorder.ups == [True], "its end is put on record by whoever keeps the connection"


@pytest.mark.parametrize(("code", "words"), [(4004, "bot token is not valid"), (4014, "intents")])
async def test_a_refusal_is_put_on_record(server: Discord, listener: Listener, code: int, words: str) -> None:
    listener.start()
    await server.gateway.heard.get()
    server.gateway.frames.put_nowait(code)
    assert words in await listener.recorder.troubles.get()
    assert (await server.gateway.heard.get())["op"] == 2


async def test_a_lasting_trouble_is_put_on_record_once(server: Discord, listener: Listener) -> None:
    for _ in range(4):
        server.next_reply(502)
    await entered(server, listener)
    await message(server, listener, 2)
    assert listener.recorder.troubles.qsize() == 1
    assert "502" in listener.recorder.troubles.get_nowait()
    assert listener.recorder.ups[-1] is True


def test_pauses_grow_to_five_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    error = PlatformError("x")
    assert [reconnecting.pause_seconds(failures, error) for failures in (1, 2, 3, 9, 10_000)] == [
        2,
        4,
        8,
        300,
        300,
    ]


async def test_beats_and_answers_a_call_for_a_beat(server: Discord, listener: Listener) -> None:
    await entered(server, listener)
    for sequence in range(2, 5):
        await message(server, listener, sequence)  # so that the answer to the beat before has arrived
        let_pass(INTERVAL)
        assert await server.gateway.beats.get() == sequence
    server.gateway.frames.put_nowait({"op": 1, "d": None})
    assert await server.gateway.beats.get() == 4
    assert server.gateway.paths == ["/gateway/"]


async def test_a_gateway_that_does_not_answer_beats_is_left(server: Discord, listener: Listener) -> None:
    server.gateway.answers_beats = False
    await entered(server, listener)
    await message(server, listener, 2)
    let_pass(INTERVAL)
    await server.gateway.beats.get()
    let_pass(INTERVAL)
    assert (await server.gateway.heard.get())["op"] == 6
    assert "broke" in await listener.recorder.troubles.get()


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
    assert (await message(server, listener, 2)).text == "Good morning"


async def test_without_a_gateway_it_says_so() -> None:
    async with client() as http:
        listener = Listener(ChannelCalls(build(dependencies(http, {SETTING: "http://127.0.0.1:1"}))), CONFIG)
        listener.start()
        assert "127.0.0.1:1" in await listener.recorder.troubles.get()
        await listener.stop()
    assert listener.recorder.ups[-1] is False


async def test_nothing_is_kept_of_a_connection(server: Discord, listener: Listener) -> None:
    await entered(server, listener)
    assert not await listener.channel.stored()


def of_role(role: str, text: str) -> dict[str, Any]:
    written = {"guild_id": GUILD, "content": f"<@&{role}> {text}", "mention_roles": [role]}
    return fixture("message_other") | written


async def test_the_role_of_the_bot_is_mentioned_as_the_bot_is(server: Discord, listener: Listener) -> None:
    await entered(server, listener)
    messages = [of_role(OTHER_ROLE, "come"), of_role(OWN_ROLE, "help"), of_role(OWN_ROLE, "more")]
    for number, sent in enumerate(messages, start=2):
        server.gateway.dispatch("MESSAGE_CREATE", sent, number)
    assert [(await listener.events.get()).text for _ in range(2)] == ["help", "more"]
    assert [seen.path for seen in server.seen if seen.path.endswith("/roles")] == [
        f"/api/v10/guilds/{GUILD}/roles"
    ]


async def test_a_role_that_discord_does_not_tell_of_is_not_the_bots(
    server: Discord, listener: Listener
) -> None:
    await entered(server, listener)
    server.gateway.dispatch("MESSAGE_CREATE", of_role(OWN_ROLE, "help") | {"guild_id": "7"}, 2)
    assert (await message(server, listener, 3)).text == "Good morning"
