"""Answers that are shown in Telegram while they are being made."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.bot_messenger.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import client, dependencies
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.messages import Outcome, Sent
from tests.support.platforms.telegram import Telegram, refusal

from .samples import CONFIG, SETTING

CHAT = {"chat_id": 42, "message_thread_id": 7, "reply_to": 3}
GROUP = {"chat_id": -42}


@pytest.fixture
async def server() -> AsyncIterator[Telegram]:
    async with Telegram.run() as platform:
        yield platform


@pytest.fixture
async def channel(server: Telegram) -> AsyncIterator[ChannelCalls]:
    async with client() as http:
        yield ChannelCalls(build(dependencies(http, {SETTING: server.url})))


async def shown(channel: ChannelCalls, words: str, draft: str = "") -> Sent:
    message = channel.preview(CONFIG, CHAT).render(words)
    return await channel.draft(CONFIG, CHAT, message, draft, "draft:r1")


async def finished(channel: ChannelCalls, answer: Answer) -> list[Sent]:
    parts = channel.render(CONFIG, CHAT, answer)
    return [await channel.send(CONFIG, CHAT, part, f"key{index}") for index, part in enumerate(parts)]


async def test_a_group_gets_fewer_edits(channel: ChannelCalls) -> None:
    assert channel.preview(CONFIG, CHAT).seconds < channel.preview(CONFIG, GROUP).seconds


async def test_a_draft_is_in_the_topic_and_below_the_question(
    channel: ChannelCalls, server: Telegram
) -> None:
    await shown(channel, "**One**")
    (sent,) = server.of("sendMessage")
    assert sent["text"] == "<b>One</b> …"
    assert sent["message_thread_id"] == 7
    assert sent["reply_parameters"]["message_id"] == 3


async def test_markup_that_is_refused_is_shown_plain(channel: ChannelCalls, server: Telegram) -> None:
    draft = (await shown(channel, "One")).ref
    broken = OutboundMessage({"text": "<b>One", "plain": "One"})
    sent = await channel.draft(CONFIG, CHAT, broken, draft, "draft:r1")
    assert sent == Sent(Outcome.SENT, ref=draft)
    assert server.visible() == {draft: "One"}


async def test_a_text_that_is_there_already_counts_as_shown(channel: ChannelCalls, server: Telegram) -> None:
    draft = (await shown(channel, "One")).ref
    server.refuse["editMessageText"] = "message is not modified"
    assert await finished(channel, Answer("One", draft=draft)) == [Sent(Outcome.SENT, ref=draft)]


@pytest.mark.parametrize("reason", ["message to edit not found", "message can't be edited"])
async def test_a_draft_that_cannot_be_edited_is_replaced_by_a_message(
    channel: ChannelCalls, server: Telegram, reason: str
) -> None:
    draft = (await shown(channel, "One")).ref
    server.refuse["editMessageText"] = reason
    (sent,) = await finished(channel, Answer("One.", draft=draft))
    assert sent.outcome is Outcome.SENT
    assert list(server.visible().values()) == ["One."]
    assert server.gone == {draft}


async def test_a_lost_edit_is_tried_again(channel: ChannelCalls, server: Telegram) -> None:
    draft = (await shown(channel, "One")).ref
    server.drop()
    (sent,) = await finished(channel, Answer("One.", draft=draft))
    assert sent.outcome is Outcome.TRANSIENT


async def test_a_pause_is_kept(channel: ChannelCalls, server: Telegram) -> None:
    draft = (await shown(channel, "One")).ref
    told: Any = refusal(429, "Too Many Requests: retry after 9", retry_after=9)
    server.next_reply(429, told.json)
    assert (await shown(channel, "One two", draft)).retry_after == 9


async def test_a_withdrawal_may_be_made_twice(channel: ChannelCalls, server: Telegram) -> None:
    draft = (await shown(channel, "One")).ref
    for _ in range(2):
        assert [each.outcome for each in await finished(channel, Answer("", draft=draft))] == [Outcome.SENT]
    assert server.visible() == {}
