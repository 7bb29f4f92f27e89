"""Answers through the incoming webhooks of Teams, and where there is no way at all."""

import json
from dataclasses import replace
from typing import Any

import pytest

from adapters.outbound.channels.enterprise_chat import delivery
from adapters.outbound.channels.enterprise_chat.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import client, dependencies
from domain.channels.answers import Answer
from domain.channels.messages import Outcome
from ports.http import HttpAnswer
from tests.support.platforms.teams import APP_ID, PASSWORD, Teams

from .answering import BOT, LEGACY, PDF, deliver


async def test_a_workflow_gets_an_adaptive_card(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
) -> None:
    (sent, file) = await deliver(
        channel, {"webhookUrl": f"{teams.url}/webhook"}, target, Answer("**Hi**", (PDF,))
    )
    assert (sent.outcome, file.outcome) == (Outcome.SENT, Outcome.SENT)
    text, card = teams.cards
    assert text["type"] == "message"
    attachment = text["attachments"][0]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert attachment["contentUrl"] is None
    assert (attachment["content"]["version"], attachment["content"]["body"][0]["text"]) == ("1.4", "**Hi**")
    action = card["attachments"][0]["content"]["actions"][0]
    assert (action["type"], action["url"]) == ("Action.OpenUrl", PDF.url)


async def test_a_legacy_connector_gets_message_cards(channel: ChannelCalls, target: dict[str, Any]) -> None:
    text, file = channel.render({"webhookUrl": LEGACY}, target, Answer("**Hi**", (PDF,)))
    assert text.payload["body"] == {
        "@type": "MessageCard",
        "@context": "http://schema.org/extensions",
        "summary": "Hi",
        "text": "**Hi**",
    }
    assert file.payload["body"]["potentialAction"] == [
        {"@type": "OpenUri", "name": "Download", "targets": [{"os": "default", "uri": PDF.url}]}
    ]


MARKDOWN = (
    "# Report\n\n~~old~~ &lt;b> `x_1`\n\n> quoted\n\n```\na  = *b*\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"
)


async def test_a_card_shows_what_a_text_block_cannot(channel: ChannelCalls, target: dict[str, Any]) -> None:
    (part,) = channel.render({"webhookUrl": "https://flow.example/1"}, target, Answer(MARKDOWN))
    heading, text, quote, *code = part.payload["body"]["attachments"][0]["content"]["body"]
    assert (heading["text"], heading["weight"], text["text"]) == ("Report", "Bolder", "old <b> x_1")
    assert quote["items"][0]["text"] == "quoted"
    assert [each["text"].replace("\u00a0", " ") for each in code] == [
        r"a  = \*b\*",
        "a    b",
        "---  ---",
        "1    2",
    ]
    assert all(each["fontType"] == "Monospace" for each in code)


async def test_a_message_card_has_no_fences_tables_or_tags(
    channel: ChannelCalls, target: dict[str, Any]
) -> None:
    (part,) = channel.render({"webhookUrl": LEGACY}, target, Answer(MARKDOWN))
    assert part.payload["body"]["text"].replace("\u00a0", " ").split("\n\n") == [
        *("### Report", "old <\u200bb> x_1", "> quoted", r"a  = \*b\*", "a    b", "---  ---", "1    2"),
    ]
    assert part.payload["body"]["summary"] == "Report"


def _texts(value: Any) -> list[str]:
    """All texts anywhere in a message."""
    if isinstance(value, dict):
        return [*([value["text"]] if "text" in value else []), *_texts(list(value.values()))]
    return [text for each in value for text in _texts(each)] if isinstance(value, list) else []


@pytest.mark.parametrize("url", ["https://flow.example/1", LEGACY])
async def test_the_name_of_a_file_is_shown_as_it_is(
    channel: ChannelCalls, target: dict[str, Any], url: str
) -> None:
    file = replace(PDF, name="_plan_*2*[1].pdf")
    (part,) = channel.render({"webhookUrl": url}, target, Answer("", (file,)))
    assert r"\_plan\_\*2\*\[1\].pdf" in _texts(part.payload["body"])


@pytest.mark.parametrize("letter", ["x", '"', "\\", "\u4e00", "\U0001f600", "```\n", "| a |\n"])
async def test_cards_are_whole_whatever_is_in_them(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any], letter: str
) -> None:
    text = letter * (30_000 // len(letter))
    for url in (f"{teams.url}/webhook", LEGACY):
        parts = channel.render({"webhookUrl": url}, target, Answer(text))
        assert len(parts) > 1
        for part in parts:
            assert len(json.dumps(part.payload["body"], ensure_ascii=False).encode()) <= 21 * 1024


@pytest.mark.parametrize(
    ("url", "legacy"),
    [
        (LEGACY, True),
        ("https://outlook.office.com/webhook/1", True),
        ("https://prod-1.westeurope.logic.azure.com/workflows/1", False),
        ("https://webhook.office.com.evil.example/", False),
        ("https://default1.environment.api.powerplatform.com/x", False),
    ],
)
def test_legacy_connectors_are_known_by_their_host(url: str, legacy: bool) -> None:
    assert delivery.takes_message_cards(url) == legacy


@pytest.mark.parametrize("letter", ["word ", '"\\" ', "\N{CJK UNIFIED IDEOGRAPH-4E00}"])
async def test_every_card_is_within_the_limit(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any], letter: str
) -> None:
    sent = await deliver(channel, {"webhookUrl": f"{teams.url}/webhook"}, target, Answer(letter * 9_000))
    assert len(sent) > 1
    assert all(each.outcome is Outcome.SENT for each in sent)


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, b"1", Outcome.SENT),
        (202, b"", Outcome.SENT),
        (
            200,
            b"Webhook message delivery failed: Microsoft Teams endpoint returned HTTP error 429 with ContextId x",
            Outcome.RETRY_AFTER,
        ),
        (200, b"Microsoft Teams endpoint returned HTTP error 413 with ContextId x", Outcome.PERMANENT),
        (200, b"Microsoft Teams endpoint returned HTTP error 502", Outcome.TRANSIENT),
        (200, b"Webhook message delivery failed with error: timeout", Outcome.TRANSIENT),
        (429, b"", Outcome.RETRY_AFTER),
        (400, b"Summary or Text is required.", Outcome.PERMANENT),
        (410, b"", Outcome.PERMANENT),
        (503, b"", Outcome.TRANSIENT),
    ],
)
def test_throttling_that_comes_as_success_is_noticed(status: int, body: bytes, outcome: Outcome) -> None:
    assert delivery.outcome(HttpAnswer(status, {}, body)).outcome is outcome


async def test_the_outbound_policy_holds_for_a_webhook(teams: Teams, target: dict[str, Any]) -> None:
    async with client("public-only") as http:
        addresses = {"ENTERPRISE_CHAT_LOGIN_URL": teams.url, "ENTERPRISE_CHAT_OPENID_URL": teams.url}
        channel = ChannelCalls(build(dependencies(http, addresses)))
        (sent,) = await deliver(channel, {"webhookUrl": f"{teams.url}/webhook"}, target, Answer("Hi"))
    assert (sent.outcome, teams.seen) == (Outcome.PERMANENT, [])


@pytest.mark.parametrize("config", [{}, {"appId": APP_ID}, {"appPassword": PASSWORD}])
async def test_with_neither_way_the_answer_says_what_is_missing(
    channel: ChannelCalls, target: dict[str, Any], config: dict[str, Any]
) -> None:
    (sent,) = await deliver(channel, config, target, Answer("Hi"))
    assert sent.outcome is Outcome.PERMANENT
    assert "webhookUrl" in sent.detail


async def test_a_message_without_a_conversation_goes_to_the_webhook(
    channel: ChannelCalls, teams: Teams
) -> None:
    config = {**BOT, "webhookUrl": f"{teams.url}/webhook"}
    await deliver(channel, config, {}, Answer("Hi"))
    assert len(teams.cards) == 1
