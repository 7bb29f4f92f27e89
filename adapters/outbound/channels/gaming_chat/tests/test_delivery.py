"""Answers through a Discord of our own, in good and in bad times."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.gaming_chat.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW, Files, SetClock, client, dependencies
from domain.channels.answers import Answer, Artifact, Choice, ClosedPrompt
from domain.channels.messages import Attachment, Outcome, Sent
from ports.capabilities import PlatformError
from tests.support.platforms.discord import APPLICATION, CHANNELS, INTERACTION, Discord, refusal

from .samples import CONFIG, SETTING, TARGET

CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
BYTES = bytes(range(256)) * 40
PHOTO = Artifact("engine.png", "image/png", "https://switchboard.example/f/1", size=len(BYTES))
HUGE = Artifact("film.mkv", "video/x-matroska", "https://switchboard.example/f/2", size=11 * 2**20)
PRESSED: dict[str, Any] = {
    "channel_id": CHANNELS[0],
    "application_id": APPLICATION,
    "token": INTERACTION,
    "since": NOW.timestamp(),
    "prompt_id": "844397162624450620",
}
COMMAND: dict[str, Any] = {
    "channel_id": CHANNELS[0],
    "application_id": APPLICATION,
    "token": INTERACTION,
    "since": NOW.timestamp(),
    "deferred": True,
}


@pytest.fixture
async def server() -> AsyncIterator[Discord]:
    async with Discord.run() as platform:
        yield platform


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def channel(server: Discord, clock: SetClock) -> AsyncIterator[ChannelCalls]:
    files = Files(**{"engine.png": BYTES, "film.mkv": BYTES})
    async with client() as http:
        yield ChannelCalls(build(dependencies(http, {SETTING: server.url + "/api/v10"}, files, clock)))


async def deliver(
    channel: ChannelCalls, answer: Answer, target: Any = TARGET, config: Any = CONFIG
) -> list[Sent]:
    parts = channel.render(config, target, answer)
    return [await channel.send(config, target, part, f"key{index}") for index, part in enumerate(parts)]


async def test_has_the_capabilities_of_a_bot(channel: ChannelCalls) -> None:
    assert channel.has("webhook", "connector", "sender", "probe", "fetcher", "typing", "prompt_closer")


async def test_a_command_is_answered_in_place_of_thinking_and_then_followed_up(
    channel: ChannelCalls, server: Discord
) -> None:
    sent = await deliver(channel, Answer("steam " * 800), COMMAND)
    assert {each.outcome for each in sent} == {Outcome.SENT}
    assert (len(server.originals), len(server.follow_ups), len(server.messages)) == (1, 2, 0)
    assert all("authorization" not in seen.headers for seen in server.seen)


async def test_a_message_that_answers_nothing_leaves_the_answer_to_the_command(
    channel: ChannelCalls, server: Discord
) -> None:
    await deliver(channel, Answer("Steam"), COMMAND)
    await deliver(channel, Answer("Your order is ready"), channel.continued(COMMAND))
    assert (len(server.originals), len(server.follow_ups), len(server.messages)) == (1, 1, 0)
    assert "reply_to" not in channel.continued({**TARGET, "reply_to": "1"})


async def test_after_a_press_nothing_is_overwritten(channel: ChannelCalls, server: Discord) -> None:
    await deliver(channel, Answer("Done"), PRESSED)
    assert (server.originals, len(server.follow_ups)) == ([], 1)


async def test_a_late_answer_goes_to_the_channel(
    channel: ChannelCalls, server: Discord, clock: SetClock
) -> None:
    clock.advance(15 * 60)
    (sent,) = await deliver(channel, Answer("Hi"), COMMAND)
    assert sent.outcome is Outcome.SENT
    assert (server.originals, server.messages[0]["channel"]) == ([], CHANNELS[0])


async def test_a_token_that_is_gone_is_not_the_end(
    channel: ChannelCalls, server: Discord, clock: SetClock
) -> None:
    clock.advance(60)
    server.token_gone = True
    (sent,) = await deliver(channel, Answer("Hi"), COMMAND)
    assert sent.outcome is Outcome.SENT
    assert len(server.messages) == 1


async def test_an_answer_that_overtakes_the_acknowledgement_is_tried_again(
    channel: ChannelCalls, server: Discord
) -> None:
    server.next_reply(404, refusal(404, 10015, "Unknown Webhook").json)
    (sent,) = await deliver(channel, Answer("Hi"), COMMAND)
    assert sent.outcome is Outcome.TRANSIENT
    assert server.messages == []


async def test_a_deleted_thinking_is_followed_up(
    channel: ChannelCalls, server: Discord, clock: SetClock
) -> None:
    clock.advance(60)
    server.original_gone = True
    (sent,) = await deliver(channel, Answer("Hi"), COMMAND)
    assert sent.outcome is Outcome.SENT
    assert len(server.follow_ups) == 1


async def test_a_mention_is_replied_to(channel: ChannelCalls, server: Discord) -> None:
    sent = await deliver(channel, Answer("steam " * 400), {**TARGET, "reply_to": "88"})
    assert [each.outcome for each in sent] == [Outcome.SENT, Outcome.SENT]
    first, second = server.messages
    assert first["message_reference"] == {"message_id": "88", "fail_if_not_exists": False}
    assert "message_reference" not in second


async def test_the_same_part_sent_twice_appears_once(channel: ChannelCalls, server: Discord) -> None:
    await deliver(channel, Answer("Hi"))
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent == Sent(Outcome.SENT, ref="8001")
    assert len(server.messages) == 1


async def test_without_a_conversation_the_default_channel_is_used(
    channel: ChannelCalls, server: Discord
) -> None:
    await deliver(channel, Answer("Hi"), {}, CONFIG | {"defaultChannelId": CHANNELS[1]})
    assert server.messages[0]["channel"] == CHANNELS[1]
    (sent,) = await deliver(channel, Answer("Hi"), {})
    assert (sent.outcome, "defaultChannelId" in sent.detail) == (Outcome.PERMANENT, True)


async def test_choices_are_buttons_five_in_a_row(channel: ChannelCalls, server: Discord) -> None:
    choices = tuple(Choice(f"No. {number}", f"c:{number}") for number in range(6))
    await deliver(channel, Answer("Which?", choices=choices))
    rows = server.messages[0]["components"]
    assert [len(row["components"]) for row in rows] == [5, 1]
    assert rows[1]["components"][0] == {"type": 2, "style": 2, "label": "No. 5", "custom_id": "c:5"}


@pytest.mark.parametrize("target", [TARGET, COMMAND, PRESSED])
async def test_files_are_multipart_uploads(channel: ChannelCalls, server: Discord, target: Any) -> None:
    (sent,) = await deliver(channel, Answer("", artifacts=(PHOTO,)), target)
    assert sent.outcome is Outcome.SENT
    assert server.files == {"engine.png": BYTES}


async def test_a_file_that_is_too_large_goes_as_its_link(channel: ChannelCalls, server: Discord) -> None:
    (sent,) = await deliver(channel, Answer("", artifacts=(HUGE,)))
    assert sent.outcome is Outcome.SENT
    assert server.messages[0]["content"] == f"{HUGE.name}: {HUGE.url}"


async def test_a_server_with_boosts_takes_larger_files(channel: ChannelCalls, server: Discord) -> None:
    await deliver(channel, Answer("", artifacts=(HUGE,)), {**COMMAND, "max_file": 50 * 2**20})
    assert list(server.files) == ["film.mkv"]


async def test_a_file_that_discord_refuses_for_its_size_goes_as_its_link(
    channel: ChannelCalls, server: Discord
) -> None:
    server.next_reply(413, refusal(413, 40005, "Request entity too large").json)
    (sent,) = await deliver(channel, Answer("", artifacts=(PHOTO,)))
    assert sent.outcome is Outcome.SENT
    assert PHOTO.url in server.messages[0]["content"]


@pytest.mark.parametrize(
    ("status", "code", "outcome"),
    [
        (401, 0, Outcome.PERMANENT),
        (403, 50001, Outcome.PERMANENT),
        (403, 50007, Outcome.PERMANENT),
        (403, 50013, Outcome.PERMANENT),
        (404, 10003, Outcome.PERMANENT),
        (400, 50035, Outcome.PERMANENT),
        (500, 0, Outcome.TRANSIENT),
        (502, 0, Outcome.TRANSIENT),
    ],
)
async def test_refusals_are_classified(
    channel: ChannelCalls, server: Discord, status: int, code: int, outcome: Outcome
) -> None:
    server.next_reply(status, refusal(status, code, "the reason").json)
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent.outcome is outcome
    assert "the reason" in sent.detail


@pytest.mark.parametrize("target", [TARGET, COMMAND])
async def test_too_many_messages_are_waited_for_to_the_fraction(
    channel: ChannelCalls, server: Discord, target: Any
) -> None:
    server.next_reply(429, refusal(429, 0, "Slow down.", retry_after=64.57).json, Retry_After="64")
    (sent,) = await deliver(channel, Answer("Hi"), target)
    assert (sent.outcome, sent.retry_after) == (Outcome.RETRY_AFTER, 64.57)


async def test_a_ban_without_json_is_waited_for(channel: ChannelCalls, server: Discord) -> None:
    server.next_reply(429, body=b"error code: 1015", Retry_After="600")
    (sent,) = await deliver(channel, Answer("Hi"))
    assert (sent.outcome, sent.retry_after) == (Outcome.RETRY_AFTER, 600)


@pytest.mark.parametrize("target", [TARGET, COMMAND])
async def test_a_broken_connection_is_unknown_and_tells_no_token(
    channel: ChannelCalls, server: Discord, target: Any
) -> None:
    server.drop()
    (sent,) = await deliver(channel, Answer("Hi"), target)
    assert sent.outcome is Outcome.UNKNOWN
    assert INTERACTION not in sent.detail


async def test_a_server_that_hangs_is_unknown(channel: ChannelCalls, server: Discord) -> None:
    (sent,) = await server.unanswered(deliver(channel, Answer("Hi")))
    assert sent.outcome is Outcome.UNKNOWN


async def test_a_server_that_is_not_there_can_be_tried_again() -> None:
    async with client() as http:
        lost = ChannelCalls(build(dependencies(http, {SETTING: "http://127.0.0.1:1"})))
        (sent,) = await deliver(lost, Answer("Hi"))
        assert sent.outcome is Outcome.TRANSIENT
        await lost.typing(CONFIG, TARGET)
        with pytest.raises(PlatformError):
            await lost.probe(CONFIG)


async def test_shows_that_it_writes_where_nothing_else_does(channel: ChannelCalls, server: Discord) -> None:
    await channel.typing(CONFIG, TARGET)
    await channel.typing(CONFIG, COMMAND)
    assert server.typing == [CHANNELS[0]]


async def test_a_pressed_prompt_loses_its_buttons(channel: ChannelCalls, server: Discord) -> None:
    await channel.close_prompt(CONFIG, PRESSED, CLOSED)
    (edit,) = server.originals
    assert (edit["components"], edit["content"]) == ([], "**Approved** it")


async def test_a_prompt_is_edited_by_the_bot_when_the_token_is_gone(
    channel: ChannelCalls, server: Discord
) -> None:
    server.token_gone = True
    await channel.close_prompt(CONFIG, PRESSED, CLOSED)
    ((message_id, edit),) = server.edits
    assert message_id == "844397162624450620"
    assert edit == {"content": "**Approved** it", "components": [], "allowed_mentions": {"parse": []}}


@pytest.mark.parametrize("token_gone", [False, True])
@pytest.mark.parametrize("target", [COMMAND, TARGET])
async def test_a_prompt_that_nobody_pressed_loses_its_buttons(
    channel: ChannelCalls, server: Discord, target: Any, token_gone: bool
) -> None:
    (sent,) = await deliver(channel, Answer("May I?", choices=(Choice("Yes", "y"),)), target)
    (part,) = channel.render(CONFIG, target, Answer("May I?", choices=(Choice("Yes", "y"),)))
    server.token_gone = token_gone

    pressed = channel.prompt_target(CONFIG, target, part, sent.ref, {})
    assert pressed
    await channel.close_prompt(CONFIG, pressed, CLOSED)

    ((message_id, edit),) = server.edits
    assert message_id == sent.ref
    assert (edit["components"], edit["content"]) == ([], "**Approved** it")


async def test_without_a_prompt_there_is_nothing_to_change(channel: ChannelCalls, server: Discord) -> None:
    await channel.close_prompt(CONFIG, COMMAND, CLOSED)
    assert server.seen == []


async def test_a_hostile_token_stays_in_its_place(channel: ChannelCalls, server: Discord) -> None:
    server.next_reply(404, refusal(404, 0, "404: Not Found").json)
    await deliver(channel, Answer("Hi"), COMMAND | {"token": "../../channels/1/messages?x="})
    assert server.seen[0].path.startswith("/api/v10/webhooks/845027738276462632/")


async def test_probes_its_own_user(channel: ChannelCalls) -> None:
    await channel.probe(CONFIG)
    with pytest.raises(PlatformError, match="401"):
        await channel.probe(CONFIG | {"botToken": "wrong"})


async def test_fetches_files(channel: ChannelCalls, server: Discord) -> None:
    file = Attachment("engine.png", "image/png", {"url": f"{server.url}/attachments/1/engine.png"})
    assert b"".join([piece async for piece in channel.fetch(CONFIG, file)]) == b"\x89PNG picture"


async def test_a_file_inside_the_network_is_not_fetched(server: Discord) -> None:
    file = Attachment("engine.png", "image/png", {"url": f"{server.url}/attachments/1/engine.png"})
    async with client("public-only") as http:
        channel = ChannelCalls(build(dependencies(http, {SETTING: server.url})))
        with pytest.raises(PlatformError):
            [piece async for piece in channel.fetch(CONFIG, file)]


async def test_an_answer_with_nothing_in_it_takes_thinking_away(
    channel: ChannelCalls, server: Discord
) -> None:
    (sent,) = await deliver(channel, Answer(""), COMMAND)
    assert (sent.outcome, server.withdrawn, server.originals) == (Outcome.SENT, 1, [])
    assert await deliver(channel, Answer(""), TARGET) == []


@pytest.mark.parametrize(
    ("age", "outcome"), [(0.0, Outcome.TRANSIENT), (6.0, Outcome.SENT), (15 * 60.0, Outcome.SENT)]
)
async def test_thinking_that_is_not_there_is_looked_for_while_it_may_come(
    server: Discord, age: float, outcome: Outcome
) -> None:
    clock = SetClock()
    server.original_gone = True
    async with client() as http:
        channel = ChannelCalls(build(dependencies(http, {SETTING: f"{server.url}/api/v10"}, clock=clock)))
        target = {**COMMAND, "since": clock.now().timestamp()}
        clock.advance(age)
        (part,) = channel.render(CONFIG, target, Answer(""))
        assert (await channel.send(CONFIG, target, part, "key")).outcome is outcome


async def test_who_pressed_is_told_and_nobody_else(channel: ChannelCalls, server: Discord) -> None:
    await channel.acknowledge_press(CONFIG, PRESSED, "Not yours.")
    assert [(each["content"], each["flags"]) for each in server.whispers] == [("Not yours.", 64)]
    await channel.acknowledge_press(CONFIG, PRESSED, "")
    await channel.acknowledge_press(CONFIG, TARGET, "Not yours.")
    assert len(server.whispers) == 1
