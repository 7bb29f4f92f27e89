"""Answers that are shown in Slack while they are being made."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import Files, client, dependencies
from adapters.outbound.channels.workspace_chat.channel import build
from domain.channels.answers import Answer, Artifact, Choice, OutboundMessage
from domain.channels.messages import Outcome, Sent
from tests.support.platforms.slack import Slack, refused

from .samples import CONFIG, SETTING

THREAD = {"channel": "C0ROOM", "thread_ts": "1800000001.000100"}
FILE = Artifact("a.txt", "text/plain", "https://switchboard.example/f/1", size=1)


@pytest.fixture
async def server() -> AsyncIterator[Slack]:
    async with Slack.run() as platform:
        yield platform


@pytest.fixture
async def channel(server: Slack) -> AsyncIterator[ChannelCalls]:
    async with client() as http:
        yield ChannelCalls(
            build(dependencies(http, {SETTING: server.url + "/api"}, Files(**{"a.txt": b"x"})))
        )


async def shown(channel: ChannelCalls, words: str, draft: str = "") -> Sent:
    message = OutboundMessage({"text": words, "plain": words})
    return await channel.draft(CONFIG, THREAD, message, draft, "draft:r1")


def begun(channel: ChannelCalls, target: Any, words: str) -> str:
    """What is shown of an unfinished answer, empty for nothing."""
    preview = channel.preview(CONFIG, target)
    message = preview.render(words[: preview.size]) if preview else None
    return message.payload["text"] if message else ""


async def finished(channel: ChannelCalls, answer: Answer) -> list[Sent]:
    parts = channel.render(CONFIG, THREAD, answer)
    return [await channel.send(CONFIG, THREAD, part, f"key{index}") for index, part in enumerate(parts)]


async def test_has_the_capability(channel: ChannelCalls) -> None:
    preview = channel.preview(CONFIG, THREAD)
    assert preview
    assert preview.seconds >= 1


@pytest.mark.parametrize(
    ("target", "words", "begins"),
    [
        (THREAD, "**Hot**", "*Hot* …"),
        (THREAD, "```\nprint(1)", "```\nprint(1)\n``` …"),
        (THREAD, "  ", ""),
        ({}, "Hot", ""),
        ({**THREAD, "response_url": "https://hooks.slack.com/commands/1"}, "Hot", ""),
    ],
)
async def test_an_unfinished_answer_is_shown_in_its_conversation(
    channel: ChannelCalls, target: Any, words: str, begins: str
) -> None:
    assert begun(channel, target, words) == begins


async def test_a_long_beginning_is_within_the_limit(channel: ChannelCalls) -> None:
    words = "word " * 3000
    begins = begun(channel, THREAD, words)
    assert 3900 < len(begins) <= 4000
    assert begun(channel, THREAD, words + "more") == begins


async def test_a_draft_grows_and_the_answer_takes_its_place(channel: ChannelCalls, server: Slack) -> None:
    first = await shown(channel, "One …")
    assert first == Sent(Outcome.SENT, ref="C0ROOM:1800000000.000001")
    assert server.messages[0]["thread_ts"] == THREAD["thread_ts"]
    assert await shown(channel, "One two …", first.ref) == first
    parts = await finished(channel, Answer("One two **three** " + "word " * 1000, draft=first.ref))
    assert [each.outcome for each in parts] == [Outcome.SENT, Outcome.SENT]
    assert len(server.messages) == 2
    assert server.messages[0]["text"].startswith("One two *three* word")
    assert server.messages[1]["thread_ts"] == THREAD["thread_ts"]


async def test_the_answer_may_take_its_place_twice(channel: ChannelCalls, server: Slack) -> None:
    draft = (await shown(channel, "One …")).ref
    for _ in range(2):
        await finished(channel, Answer("One.", draft=draft))
    assert [each["text"] for each in server.messages] == ["One."]


async def test_a_draft_that_is_sent_again_is_one_message(channel: ChannelCalls, server: Slack) -> None:
    assert await shown(channel, "One …") == await shown(channel, "One …")
    assert len(server.messages) == 1


async def test_a_question_takes_the_place_of_a_draft(channel: ChannelCalls, server: Slack) -> None:
    draft = (await shown(channel, "One …")).ref
    await finished(channel, Answer("May I?", choices=(Choice("Approve", "c:1"),), draft=draft))
    (message,) = server.messages
    assert [each["type"] for each in message["blocks"]] == ["section", "actions"]


@pytest.mark.parametrize("error", ["message_not_found", "cant_update_message"])
async def test_where_the_draft_is_gone_the_answer_is_sent(
    channel: ChannelCalls, server: Slack, error: str
) -> None:
    draft = (await shown(channel, "One …")).ref
    server.next_reply(200, refused(error).json)
    (sent,) = await finished(channel, Answer("One.", draft=draft))
    assert sent == Sent(Outcome.SENT, ref="1800000000.000002")


async def test_a_lost_change_is_tried_again(channel: ChannelCalls, server: Slack) -> None:
    draft = (await shown(channel, "One …")).ref
    server.drop()
    (sent,) = await finished(channel, Answer("One.", draft=draft))
    assert sent.outcome is Outcome.TRANSIENT


async def test_an_answer_without_text_takes_the_draft_away(channel: ChannelCalls, server: Slack) -> None:
    draft = (await shown(channel, "One …")).ref
    for _ in range(2):
        outcomes = [each.outcome for each in await finished(channel, Answer("", (FILE,), draft=draft))]
        assert outcomes == [Outcome.SENT, Outcome.SENT]
    assert server.deleted == [{"channel": "C0ROOM", "ts": "1800000000.000001"}]
    assert len(server.files) == 2
