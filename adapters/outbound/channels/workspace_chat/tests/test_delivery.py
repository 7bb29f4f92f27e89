"""Answers through a Slack of our own, in good and in bad times."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW, Files, SetClock, client, dependencies
from adapters.outbound.channels.workspace_chat.channel import build
from domain.channels.answers import Answer, Artifact, Choice, ClosedPrompt, OutboundMessage
from domain.channels.messages import Attachment, Outcome, Sent
from ports.capabilities import PlatformError
from tests.support.platforms.slack import BOT, Slack, refused

from .samples import CONFIG, SETTING, TARGET

CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
PHOTO = Artifact("engine.png", "image/png", "https://switchboard.example/f/1", size=10240)
EMPTY = Artifact("empty.txt", "text/plain", "https://switchboard.example/f/2", size=0)
HUGE = Artifact("film.mkv", "video/x-matroska", "https://switchboard.example/f/3", size=10**9)
BYTES = bytes(range(256)) * 40
CHOICES = (Choice("Approve", "c:1:a"), Choice("Approve session", "c:1:s"), Choice("Reject", "c:1:r"))
THREAD = {"channel": "C0ROOM", "thread_ts": "1800000001.000100"}


@pytest.fixture
async def server() -> AsyncIterator[Slack]:
    async with Slack.run() as platform:
        yield platform


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def channel(server: Slack, clock: SetClock) -> AsyncIterator[ChannelCalls]:
    files = Files(**{"engine.png": BYTES, "empty.txt": b""})
    async with client() as http:
        yield ChannelCalls(build(dependencies(http, {SETTING: server.url + "/api"}, files, clock)))


def command(server: Slack, channel: str = "C0ROOM") -> dict[str, Any]:
    """Where a slash command's answer goes."""
    return {
        "channel": channel,
        "user": "U0ADA",
        "response_url": server.response_url,
        "since": NOW.timestamp(),
    }


async def deliver(
    channel: ChannelCalls, answer: Answer, target: Any = TARGET, config: Any = CONFIG
) -> list[Sent]:
    parts = channel.render(config, target, answer)
    return [await channel.send(config, target, part, f"key{index}") for index, part in enumerate(parts)]


async def test_has_the_capabilities_of_a_workspace_bot(channel: ChannelCalls) -> None:
    assert channel.has("webhook", "sender", "metadata", "probe", "fetcher", "prompt_closer")


async def test_answers_in_the_channel_and_in_mrkdwn(channel: ChannelCalls, server: Slack) -> None:
    (sent,) = await deliver(channel, Answer("**Hot** & [steam](https://steam.example)"))
    assert sent == Sent(Outcome.SENT, ref="1800000000.000001")
    (message,) = server.messages
    assert message["text"] == "*Hot* &amp; <https://steam.example|steam>"
    assert message["channel"] == "C0ROOM"
    assert "thread_ts" not in message


async def test_answers_in_the_thread(channel: ChannelCalls, server: Slack) -> None:
    await deliver(channel, Answer("Hi"), THREAD)
    assert server.messages[0]["thread_ts"] == "1800000001.000100"


async def test_a_long_answer_goes_in_parts(channel: ChannelCalls, server: Slack) -> None:
    sent = await deliver(channel, Answer("steam <&> " * 2000))
    assert {each.outcome for each in sent} == {Outcome.SENT}
    assert len(server.messages) > 4


async def test_the_same_part_sent_twice_appears_once(channel: ChannelCalls, server: Slack) -> None:
    (part,) = channel.render(CONFIG, TARGET, Answer("Hi"))
    first = await channel.send(CONFIG, TARGET, part, "one")
    again = await channel.send(CONFIG, TARGET, part, "one")
    await channel.send(CONFIG, TARGET, part, "two")
    assert (first.outcome, again.outcome) == (Outcome.SENT, Outcome.SENT)
    assert len(server.messages) == 2


async def test_without_a_conversation_the_default_channel_is_used(
    channel: ChannelCalls, server: Slack
) -> None:
    await deliver(channel, Answer("Hi"), {}, CONFIG | {"defaultChannel": "C0ROOM"})
    assert server.messages[0]["channel"] == "C0ROOM"
    (sent,) = await deliver(channel, Answer("Hi"), {})
    assert sent.outcome is Outcome.PERMANENT
    assert "defaultChannel" in sent.detail


async def test_choices_are_buttons(channel: ChannelCalls, server: Slack) -> None:
    await deliver(channel, Answer("May I?" + " x" * 1800, choices=CHOICES))
    assert "blocks" not in server.messages[0]
    section, actions = server.messages[-1]["blocks"]
    assert section["text"]["type"] == "mrkdwn"
    pressed = [(each["text"]["text"], each["value"]) for each in actions["elements"]]
    assert pressed == [(each.label, each.value) for each in CHOICES]


async def test_refused_blocks_go_as_plain_text(channel: ChannelCalls, server: Slack) -> None:
    reply = refused("invalid_blocks")
    server.next_reply(reply.status, reply.json)
    (sent,) = await deliver(channel, Answer("**May** I?", choices=CHOICES))
    assert sent.outcome is Outcome.SENT
    assert server.messages[0]["text"] == "May I?"
    assert "blocks" not in server.messages[0]


async def test_a_slash_command_is_answered_at_its_response_url(channel: ChannelCalls, server: Slack) -> None:
    (sent,) = await deliver(channel, Answer("**Hot**"), command(server))
    assert sent.outcome is Outcome.SENT
    assert server.messages == []
    assert server.responses == [{"response_type": "in_channel", "replace_original": False, "text": "*Hot*"}]


async def test_an_answer_of_many_parts_outlasts_the_response_url(
    channel: ChannelCalls, server: Slack
) -> None:
    sent = await deliver(channel, Answer("steam " * 5000), command(server))
    assert {each.outcome for each in sent} == {Outcome.SENT}
    assert len(server.responses) == 4
    assert len(server.messages) == len(sent) - 4 > 0


async def test_a_late_answer_does_not_use_the_response_url(
    channel: ChannelCalls, server: Slack, clock: SetClock
) -> None:
    clock.advance(1800)
    await deliver(channel, Answer("Hi"), command(server))
    assert (len(server.responses), len(server.messages)) == (0, 1)


async def test_a_used_up_response_url_is_not_the_end(channel: ChannelCalls, server: Slack) -> None:
    server.response_uses_left = 0
    (sent,) = await deliver(channel, Answer("Hi"), command(server))
    assert sent.outcome is Outcome.SENT
    assert server.messages[0]["channel"] == "C0ROOM"


async def test_a_command_from_elsewhere_is_answered_directly_at_last(
    channel: ChannelCalls, server: Slack
) -> None:
    server.response_uses_left = 0
    (sent,) = await deliver(channel, Answer("Hi"), command(server, "C0SECRET"))
    assert sent.outcome is Outcome.SENT
    assert server.messages[0]["channel"] == "U0ADA"


@pytest.mark.parametrize(
    ("address", "place", "outcome"),
    [
        ("http://127.0.0.1:9/commands", "C0ROOM", Outcome.SENT),
        ("http://127.0.0.1:9/commands", "C0SECRET", Outcome.SENT),
        ("", "C0SECRET", Outcome.PERMANENT),
        ("http://127.0.0.1:9/commands", "", Outcome.TRANSIENT),
    ],
)
async def test_a_response_url_that_cannot_be_reached_gives_way_to_the_conversation(
    channel: ChannelCalls, server: Slack, address: str, place: str, outcome: Outcome
) -> None:
    target = {**command(server, place), "response_url": address}
    if not place or not address:
        target["user"] = "U0NOBODY"
    (sent,) = await deliver(channel, Answer("Hi"), target)
    assert sent.outcome is outcome
    assert len(server.messages) == (outcome is Outcome.SENT)


async def test_a_response_url_inside_the_network_is_not_called(server: Slack) -> None:
    async with client("public-only") as http:
        channel = ChannelCalls(build(dependencies(http, {SETTING: server.url + "/api"})))
        (sent,) = await deliver(channel, Answer("Hi"), command(server))
    assert sent.outcome is Outcome.SENT
    assert (len(server.responses), len(server.messages)) == (0, 1)


async def test_files_are_uploaded_in_three_steps(channel: ChannelCalls, server: Slack) -> None:
    (sent,) = await deliver(channel, Answer("", artifacts=(PHOTO,)), THREAD)
    assert sent == Sent(Outcome.SENT, ref="F1")
    assert server.uploads == {"F1": BYTES}
    (file,) = server.files
    assert (file["channel_id"], file["thread_ts"], file["title"]) == (
        "C0ROOM",
        "1800000001.000100",
        "engine.png",
    )


@pytest.mark.parametrize("file", [EMPTY, HUGE], ids=["empty", "huge"])
async def test_a_file_that_is_not_taken_goes_as_its_link(
    channel: ChannelCalls, server: Slack, file: Artifact
) -> None:
    (sent,) = await deliver(channel, Answer("", artifacts=(file,)))
    assert sent.outcome is Outcome.SENT
    assert server.messages[0]["text"] == f"{file.name}: {file.url}"


async def test_a_file_for_a_conversation_that_the_bot_is_not_in_goes_as_its_link(
    channel: ChannelCalls, server: Slack
) -> None:
    (sent,) = await deliver(channel, Answer("", artifacts=(PHOTO,)), command(server, "C0SECRET"))
    assert sent.outcome is Outcome.SENT
    assert PHOTO.url in server.responses[0]["text"]


async def test_an_upload_that_breaks_off_can_be_repeated(channel: ChannelCalls, server: Slack) -> None:
    server.drop()
    (sent,) = await deliver(channel, Answer("", artifacts=(PHOTO,)))
    assert sent.outcome is Outcome.TRANSIENT


@pytest.mark.parametrize(
    ("status", "error", "outcome"),
    [
        (200, "channel_not_found", Outcome.PERMANENT),
        (200, "not_in_channel", Outcome.PERMANENT),
        (200, "invalid_auth", Outcome.PERMANENT),
        (200, "token_revoked", Outcome.PERMANENT),
        (200, "msg_too_long", Outcome.PERMANENT),
        (200, "ratelimited", Outcome.RETRY_AFTER),
        (200, "internal_error", Outcome.TRANSIENT),
        (503, "service_unavailable", Outcome.TRANSIENT),
    ],
)
async def test_refusals_are_classified(
    channel: ChannelCalls, server: Slack, status: int, error: str, outcome: Outcome
) -> None:
    server.next_reply(status, {"ok": False, "error": error})
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent.outcome is outcome
    assert error in sent.detail


async def test_a_missing_scope_is_named(channel: ChannelCalls, server: Slack) -> None:
    server.next_reply(200, {"ok": False, "error": "missing_scope", "needed": "chat:write"})
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent.detail == "missing_scope (needed: chat:write)"


async def test_too_many_messages_are_waited_for(channel: ChannelCalls, server: Slack) -> None:
    server.next_reply(429, {"ok": False, "error": "ratelimited"}, Retry_After="30")
    (sent,) = await deliver(channel, Answer("Hi"))
    assert (sent.outcome, sent.retry_after) == (Outcome.RETRY_AFTER, 30)


async def test_an_answer_that_is_none_is_unknown(channel: ChannelCalls, server: Slack) -> None:
    server.next_reply(200, body=b"<html>proxy</html>")
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent.outcome is Outcome.UNKNOWN


async def test_a_broken_connection_is_unknown(channel: ChannelCalls, server: Slack) -> None:
    server.drop()
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent.outcome is Outcome.UNKNOWN


async def test_a_server_that_hangs_is_unknown(channel: ChannelCalls, server: Slack) -> None:
    (sent,) = await server.unanswered(deliver(channel, Answer("Hi")))
    assert sent.outcome is Outcome.UNKNOWN


async def test_a_server_that_is_not_there_can_be_tried_again() -> None:
    async with client() as http:
        lost = ChannelCalls(build(dependencies(http, {SETTING: "http://127.0.0.1:1"})))
        (sent,) = await deliver(lost, Answer("Hi"))
        assert sent.outcome is Outcome.TRANSIENT
        with pytest.raises(PlatformError):
            await lost.probe(CONFIG)


async def test_probes_with_auth_test(channel: ChannelCalls) -> None:
    await channel.probe(CONFIG)
    with pytest.raises(PlatformError, match="invalid_auth"):
        await channel.probe(CONFIG | {"botToken": "xoxb-wrong"})


@pytest.mark.parametrize(
    ("scopes", "missing"),
    [
        ("app_mentions:read,im:history,files:write", "chat:write"),
        ("chat:write, files:read", "files:write"),
        ("app_mentions:read", "chat:write and files:write"),
    ],
)
async def test_probing_notices_a_token_that_may_not_post(
    channel: ChannelCalls, server: Slack, scopes: str, missing: str
) -> None:
    server.next_reply(200, {"ok": True, "user_id": BOT}, x_oauth_scopes=scopes)
    with pytest.raises(PlatformError, match=f"lacks {missing},"):
        await channel.probe(CONFIG)


async def test_probing_takes_a_token_that_may_post(channel: ChannelCalls, server: Slack) -> None:
    scopes = "chat:write,files:write,im:history"
    server.next_reply(200, {"ok": True, "user_id": BOT}, x_oauth_scopes=scopes)
    await channel.probe(CONFIG)


async def test_knows_its_own_user(channel: ChannelCalls) -> None:
    assert await channel.fetch_metadata(CONFIG) == {"user_id": BOT}


def pressed(**changed: Any) -> dict[str, Any]:
    return {
        **THREAD,
        "prompt_ts": "1800000011.001100",
        **changed,
    }


async def test_a_pressed_prompt_loses_its_buttons(channel: ChannelCalls, server: Slack) -> None:
    await channel.close_prompt(CONFIG, pressed(prompt_url=server.response_url), CLOSED)
    (response,) = server.responses
    assert response["replace_original"] is True
    assert [each["type"] for each in response["blocks"]] == ["section"]
    assert response["text"] == "*Approved* it"
    assert server.updates == []


@pytest.mark.parametrize("address", [True, False])
async def test_without_its_address_a_prompt_is_updated_by_its_time_stamp(
    channel: ChannelCalls, server: Slack, address: bool
) -> None:
    server.response_uses_left = 0
    await channel.close_prompt(CONFIG, pressed(prompt_url=server.response_url if address else ""), CLOSED)
    (update,) = server.updates
    assert (update["channel"], update["ts"]) == ("C0ROOM", "1800000011.001100")


@pytest.mark.parametrize("drafted", [False, True])
async def test_a_prompt_that_nobody_pressed_loses_its_buttons(
    channel: ChannelCalls, server: Slack, drafted: bool
) -> None:
    draft = (
        (await channel.draft(CONFIG, THREAD, OutboundMessage({"text": "May"}), "", "key")).ref
        if drafted
        else ""
    )
    question = Answer("May I?", choices=CHOICES, draft=draft)
    (sent,) = await deliver(channel, question, THREAD)
    (part,) = channel.render(CONFIG, THREAD, question)
    assert "blocks" in server.messages[0]

    pressed = channel.prompt_target(CONFIG, THREAD, part, sent.ref, {})
    assert pressed
    await channel.close_prompt(CONFIG, pressed, CLOSED)

    (message,) = server.messages
    assert [each["type"] for each in message["blocks"]] == ["section"]
    assert message["text"] == "*Approved* it"


async def test_without_a_prompt_there_is_nothing_to_change(channel: ChannelCalls, server: Slack) -> None:
    await channel.close_prompt(CONFIG, TARGET, CLOSED)
    assert server.seen == []


async def fetched(channel: ChannelCalls, **source: str) -> bytes:
    file = Attachment("engine.png", "image/png", source)
    return b"".join([piece async for piece in channel.fetch(CONFIG, file)])


async def test_a_file_of_another_organization_has_a_name_and_a_type(
    channel: ChannelCalls, server: Slack
) -> None:
    """Slack tells its id alone (file_access: check_file_info)."""
    file = Attachment("F1", "application/octet-stream", {"id": "F1", "url": ""})
    described = await channel.described(CONFIG, file)
    assert (described.name, described.mime_type) == ("engine.png", "image/png")
    assert b"".join([piece async for piece in channel.fetch(CONFIG, described)]) == b"\x89PNG picture"


async def test_fetches_files_with_the_bots_token(channel: ChannelCalls, server: Slack) -> None:
    assert await fetched(channel, url=f"{server.url}/files-pri/F1/engine.png") == b"\x89PNG picture"


async def test_a_file_of_another_organization_is_looked_up(channel: ChannelCalls) -> None:
    assert await fetched(channel, id="F1", url="") == b"\x89PNG picture"


async def test_a_sign_in_page_is_no_file(channel: ChannelCalls, server: Slack) -> None:
    with pytest.raises(PlatformError, match="files:read"):
        await fetched(channel, url=f"{server.url}/files-pri/F2/x")


@pytest.mark.parametrize(
    "address",
    ["https://files.slack.com.evil.example/F1", "http://files.slack.com/F1", "ftp://x", "https://["],
)
async def test_the_token_goes_to_slack_alone(channel: ChannelCalls, server: Slack, address: str) -> None:
    with pytest.raises(PlatformError, match="not Slack's"):
        await fetched(channel, url=address)
    assert server.seen == []


async def test_who_pressed_is_told_and_nobody_else(channel: ChannelCalls, server: Slack) -> None:
    await channel.acknowledge_press(CONFIG, pressed(prompt_url=server.response_url), "Not yours.")
    told = {"response_type": "ephemeral", "replace_original": False, "text": "Not yours."}
    assert server.responses == [told]
    await channel.acknowledge_press(CONFIG, {**pressed(prompt_url=""), "user": "U0BOB"}, "Not yours.")
    assert [(each["user"], each["text"]) for each in server.whispers] == [("U0BOB", "Not yours.")]
    await channel.acknowledge_press(CONFIG, pressed(prompt_url=server.response_url), "")
    assert (len(server.responses), len(server.whispers)) == (1, 1)


async def test_a_command_without_an_answer_is_ended_for_its_sender(
    channel: ChannelCalls, server: Slack
) -> None:
    target = {**TARGET, "response_url": server.response_url}
    (sent,) = await deliver(channel, Answer(""), target)
    assert sent.outcome is Outcome.SENT
    assert [each["response_type"] for each in server.responses] == ["ephemeral"]
    server.response_uses_left = 0
    assert [each.outcome for each in await deliver(channel, Answer(""), target)] == [Outcome.SENT]


@pytest.mark.parametrize(("place", "posted", "responded"), [("C0ROOM", 1, 0), ("C0SECRET", 0, 1)])
async def test_a_question_of_a_slash_command_is_posted_where_the_bot_may(
    channel: ChannelCalls, server: Slack, place: str, posted: int, responded: int
) -> None:
    """Only a posted message tells its id, by which a typed decision takes its buttons away."""
    target = command(server, place)
    (part,) = channel.render(CONFIG, target, Answer("May I?", choices=CHOICES))
    sent = await channel.send(CONFIG, target, part, "key")
    assert sent.outcome is Outcome.SENT
    assert (len(server.messages), len(server.responses)) == (posted, responded)
    assert bool(sent.ref) == bool(posted)
