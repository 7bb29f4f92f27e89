"""Answers through a Mattermost of our own, in good and in bad times."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.community_chat.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import Files, SetClock, client, dependencies
from domain.channels.answers import Answer, Artifact
from domain.channels.messages import Attachment, Outcome, Sender, Sent
from ports.capabilities import PlatformError
from tests.support.platforms.mattermost import BOT, CHANNEL, OTHER_BOT, TOKEN, Mattermost

TARGET = {"channel": CHANNEL, "root": ""}
PICTURE = Artifact("menu.png", "image/png", "https://switchboard.example/files/1", blob="1", size=9000)
CONTENT = bytes(range(256)) * 36


@pytest.fixture
async def server() -> AsyncIterator[ChannelCalls]:
    async with Mattermost.run() as platform:
        yield platform


@pytest.fixture
async def channel() -> AsyncIterator[ChannelCalls]:
    async with client() as http:
        yield ChannelCalls(build(dependencies(http, files=Files(**{"menu.png": CONTENT}))))


@pytest.fixture
def config(server: Mattermost) -> dict[str, Any]:
    return {"SERVER_URL": server.url + "/", "channelId": CHANNEL, "token": TOKEN}


async def deliver(
    channel: ChannelCalls, config: dict[str, Any], answer: Answer, /, **target: Any
) -> list[Sent]:
    where = {**TARGET, **target}
    parts = channel.render(config, where, answer)
    return [await channel.send(config, where, part, f"key{index}") for index, part in enumerate(parts)]


async def test_has_the_capabilities_of_a_chat_server(channel: ChannelCalls) -> None:
    assert channel.has(
        "webhook", "sender", "metadata", "typing", "probe", "fetcher", "describer", "sender_filter"
    )


async def test_posts_markdown_into_the_channel(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    (sent,) = await deliver(channel, config, Answer("**Hello**\n\n- a\n- b"))
    assert (sent.outcome, sent.ref) == (Outcome.SENT, "post0000000000000000000001")
    assert "**Hello**" in server.posts[0]["message"]
    assert server.posts[0]["channel_id"] == CHANNEL


async def test_the_same_key_makes_one_post(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    await deliver(channel, config, Answer("Hello"))
    (again,) = await deliver(channel, config, Answer("Hello"))
    assert again.outcome is Outcome.SENT
    assert len(server.posts) == 1


async def test_without_a_conversation_the_configured_channel_is_used(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    await deliver(channel, config, Answer("Hello"), channel="")
    assert server.posts[0]["channel_id"] == CHANNEL


async def test_long_answers_are_split_and_lose_nothing(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    words = " ".join(f"word{number}" for number in range(5000))
    await deliver(channel, config, Answer(words))
    assert len(server.posts) == 3
    assert " ".join(post["message"] for post in server.posts).split() == words.split()


async def test_files_are_uploaded_and_posted(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    text, file = await deliver(channel, config, Answer("Here", (PICTURE,)))
    assert (text.outcome, file.outcome) == (Outcome.SENT, Outcome.SENT)
    (file_id,) = server.posts[1]["file_ids"]
    assert server.files[file_id] == ("menu.png", CONTENT)


async def test_a_file_that_the_server_finds_too_large_goes_as_a_link(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    server.next_reply(413, {"message": "too large"})
    await deliver(channel, config, Answer("", (PICTURE,)))
    assert server.posts[0]["message"] == f"menu.png: {PICTURE.url}"


async def test_a_file_over_the_limit_goes_as_a_link(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    huge = Artifact("huge.bin", "application/octet-stream", "https://switchboard.example/2", size=10**9)
    await deliver(channel, config, Answer("", (huge,)))
    assert server.posts[0]["message"] == f"huge.bin: {huge.url}"


@pytest.mark.parametrize("trouble", ["drop", "status"])
async def test_an_upload_that_failed_can_be_tried_again(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any], trouble: str
) -> None:
    if trouble == "drop":
        server.drop()
    else:
        server.next_reply(500, {"message": "no space"})
    (sent,) = await deliver(channel, config, Answer("", (PICTURE,)))
    assert sent.outcome is Outcome.TRANSIENT
    assert server.posts == []


async def test_an_upload_without_a_file_id_is_said(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    server.next_reply(201, {"file_infos": []})
    (sent,) = await deliver(channel, config, Answer("", (PICTURE,)))
    assert (sent.outcome, "file id" in sent.detail) == (Outcome.PERMANENT, True)


# --- response_url


async def test_a_command_is_answered_at_its_response_url(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    (sent,) = await deliver(channel, config, Answer("Hello"), responseUrl=f"{server.url}/hooks/commands/x")
    assert sent.outcome is Outcome.SENT
    assert server.responses == [{"text": "Hello", "response_type": "in_channel"}]
    assert server.posts == []


async def test_a_response_url_that_has_ended_gives_way_to_a_post(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    server.next_reply(404, {"message": "hook not found"})
    (sent,) = await deliver(channel, config, Answer("Hello"), responseUrl=f"{server.url}/hooks/commands/x")
    assert sent.outcome is Outcome.SENT
    assert server.posts[0]["message"] == "Hello"


async def test_a_thread_that_is_gone_gives_way_to_a_post(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    server.next_reply(400, {"message": "Invalid RootId parameter."})
    (sent,) = await deliver(channel, config, Answer("Hello"), root="r4n8hq2xw7z1m5kfr9ty3bdjpa")
    assert sent.outcome is Outcome.SENT
    assert "root_id" not in server.posts[0]


async def test_an_answer_stays_in_its_thread(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    await deliver(channel, config, Answer("Hello"), root="r4n8hq2xw7z1m5kfr9ty3bdjpa")
    assert server.posts[0]["root_id"] == "r4n8hq2xw7z1m5kfr9ty3bdjpa"


# --- trouble


@pytest.mark.parametrize(
    ("status", "body", "headers", "outcome", "wait"),
    [
        (429, "limit exceeded", {"x_ratelimit_reset": "4"}, Outcome.RETRY_AFTER, 4.0),
        (429, {"message": "x"}, {"retry_after": "6"}, Outcome.RETRY_AFTER, 6.0),
        (429, {"message": "x"}, {"x_ratelimit_reset": "soon"}, Outcome.RETRY_AFTER, None),
        (401, {"message": "x"}, {}, Outcome.PERMANENT, None),
        (403, {"message": "no permission"}, {}, Outcome.PERMANENT, None),
        (500, ["x"], {}, Outcome.TRANSIENT, None),
        (502, None, {}, Outcome.TRANSIENT, None),
    ],
)
async def test_errors_are_told_apart(
    channel: ChannelCalls,
    server: Mattermost,
    config: dict[str, Any],
    status: int,
    body: Any,
    headers: dict[str, str],
    outcome: Outcome,
    wait: float | None,
) -> None:
    server.next_reply(status, body, **headers)
    (sent,) = await deliver(channel, config, Answer("Hello"))
    assert (sent.outcome, sent.retry_after) == (outcome, wait)
    assert TOKEN not in sent.detail


async def test_a_connection_that_breaks_leaves_the_outcome_unknown(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    server.drop()
    (sent,) = await deliver(channel, config, Answer("Hello"))
    assert sent.outcome is Outcome.UNKNOWN


async def test_the_outbound_policy_holds_for_the_server(server: Mattermost, config: dict[str, Any]) -> None:
    async with client("public-only") as http:
        (sent,) = await deliver(ChannelCalls(build(dependencies(http))), config, Answer("Hello"))
    assert sent.outcome is Outcome.PERMANENT
    assert server.seen == []


# --- the rest


async def test_metadata_name_the_bot(channel: ChannelCalls, config: dict[str, Any]) -> None:
    assert await channel.fetch_metadata(config) == {"userId": BOT["id"], "username": BOT["username"]}
    with pytest.raises(PlatformError):
        await channel.fetch_metadata({**config, "token": "wrong"})


async def test_probing_tries_the_token_and_the_channel(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    await channel.probe(config)
    with pytest.raises(PlatformError, match="token"):
        await channel.probe({**config, "token": "wrong"})
    with pytest.raises(PlatformError, match="channelId"):
        await channel.probe({**config, "channelId": "other"})
    with pytest.raises(PlatformError, match="cannot be connected to"):
        await channel.probe({**config, "SERVER_URL": "http://127.0.0.1:1"})
    server.next_reply(200, body=b"<html>")
    with pytest.raises(PlatformError):
        await channel.probe(config)


async def test_probing_notices_that_posts_would_be_refused(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    server.member = False
    with pytest.raises(PlatformError, match="no member of the channel"):
        await channel.probe(config)
    server.roles = "system_user system_post_all"
    await channel.probe(config)
    server.archived_at = 1_700_000_000_000
    with pytest.raises(PlatformError, match="archived"):
        await channel.probe(config)


async def test_shows_that_it_is_writing_and_survives_trouble(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    await channel.typing(config, TARGET)
    assert server.typing == [{"channel_id": CHANNEL, "parent_id": ""}]
    server.drop()
    await channel.typing(config, TARGET)


async def test_files_are_fetched_with_the_token(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    server.files["f1"] = ("a.txt", b"content")
    attachment = Attachment("f1", "text/plain", {"fileId": "f1"})
    assert b"".join([piece async for piece in channel.fetch(config, attachment)]) == b"content"
    missing = Attachment("x", "text/plain", {"fileId": "../users/me"})
    with pytest.raises(PlatformError, match=r"Mattermost: .* answers with status 404"):
        assert [piece async for piece in channel.fetch(config, missing)]
    assert server.seen[-1].path == "/api/v4/files/../users/me"


async def test_a_file_is_named_by_the_server(
    channel: ChannelCalls, server: Mattermost, config: dict[str, Any]
) -> None:
    server.files["f1"] = ("menu.txt", b"content")
    told = Attachment("f1", "application/octet-stream", {"fileId": "f1"})
    assert await channel.described(config, told) == Attachment("menu.txt", "text/plain", {"fileId": "f1"}, 7)
    lost = Attachment("f2", "application/octet-stream", {"fileId": "f2"})
    assert await channel.described(config, lost) == lost


async def test_a_user_is_asked_for_once_an_hour_whether_it_is_a_bot(
    server: Mattermost, config: dict[str, Any]
) -> None:
    clock = SetClock()
    async with client() as http:
        channel = ChannelCalls(build(dependencies(http, clock=clock)))

        async def asked() -> tuple[bool, bool, int]:
            before = len(server.seen)
            found = [await channel.is_bot(config, Sender(each)) for each in (OTHER_BOT, "ada")]
            return found[0], found[1], len(server.seen) - before

        with_the_account = 3
        assert await asked() == (True, False, with_the_account)
        assert await asked() == (True, False, 0)
        clock.advance(3601)
        assert await asked() == (True, False, with_the_account)


async def test_the_account_of_an_instance_may_be_a_machine_for_all_others(
    server: Mattermost, config: dict[str, Any]
) -> None:
    """Two instances with tokens of ordinary users would answer each other without end, and nobody be a bot."""
    async with client() as http:
        channel = ChannelCalls(build(dependencies(http)))
        assert await channel.is_bot(config, Sender("ada")) is False
        server.bots.remove(BOT["id"])
        assert await channel.is_bot(config, Sender(BOT["id"])) is None


async def test_a_server_that_does_not_tell_makes_nobody_a_bot_and_is_asked_again(
    server: Mattermost, config: dict[str, Any]
) -> None:
    clock = SetClock()
    async with client() as http:
        channel = ChannelCalls(build(dependencies(http, clock=clock)))
        server.next_reply(403, {"message": "no"})
        server.next_reply(500, {})
        for _ in range(2):
            assert await channel.is_bot(config, Sender(OTHER_BOT)) is None
            assert not await channel.is_bot(config, Sender(OTHER_BOT)), "not asked within the minute"
            clock.advance(61)
        assert await channel.is_bot(config, Sender(OTHER_BOT))
