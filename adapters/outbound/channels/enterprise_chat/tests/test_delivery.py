"""Answers through a Teams of our own, as the bot and through incoming webhooks, in good and in bad times."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.enterprise_chat import incoming_webhook
from adapters.outbound.channels.enterprise_chat.channel import Teams as Channel
from adapters.outbound.channels.enterprise_chat.channel import build
from domain.channels.messages import Answer, Artifact, Attachment, Choice, Outcome, Sent
from ports.channels import Decides, Fetches, NeedsFacts, PlatformError, Probed, Replies, Types, Webhook
from ports.http import HttpAnswer, HttpFailed
from tests.support.channels import SetClock, client, kit
from tests.support.platforms.teams import APP_ID, ISSUER, KID, PASSWORD, TENANT, Teams

BOT = {"appId": APP_ID, "appPassword": PASSWORD, "tenantId": TENANT}
CONVERSATION = "19:b3f0c1d2e4a5@thread.tacv2;messageid=1"
PICTURE = Artifact("plan.png", "image/png", "https://switchboard.example/files/1")
PDF = Artifact("plan.pdf", "application/pdf", "https://switchboard.example/files/2")
CHOICES = (Choice("Approve", "1:abc"), Choice("Approve for the session", "2:abc"), Choice("Reject", "3:abc"))
LEGACY = "https://workshop.webhook.office.com/webhookb2/1"


@pytest.fixture
async def teams() -> AsyncIterator[Teams]:
    async with Teams.run() as platform:
        yield platform


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def channel(teams: Teams, clock: SetClock) -> AsyncIterator[Channel]:
    addresses = {"ENTERPRISE_CHAT_LOGIN_URL": teams.url, "ENTERPRISE_CHAT_OPENID_URL": teams.url}
    async with client() as http:
        yield build(kit(http, addresses, clock=clock))


@pytest.fixture
def target(teams: Teams) -> dict[str, Any]:
    return {
        "serviceUrl": f"{teams.url}/",
        "conversation": CONVERSATION,
        "bot": {"id": f"28:{APP_ID}", "name": "Workshop Bot"},
        "user": {"id": "29:1", "name": "Maria"},
        "replyTo": "1795176001234",
        "prompt": "",
    }


async def deliver(
    channel: Channel, config: dict[str, Any], target: dict[str, Any], answer: Answer
) -> list[Sent]:
    parts = channel.render(config, target, answer)
    assert json.loads(json.dumps([dict(part.payload) for part in parts])) == [
        dict(part.payload) for part in parts
    ]
    return [await channel.send(config, target, part, f"key{index}") for index, part in enumerate(parts)]


async def test_has_the_faces_of_a_bot(channel: Channel) -> None:
    faces = (Webhook, Replies, NeedsFacts, Types, Probed, Fetches, Decides)
    assert all(isinstance(channel, face) for face in faces)


# --- as the bot


async def test_answers_below_the_message(channel: Channel, teams: Teams, target: dict[str, Any]) -> None:
    (sent,) = await deliver(channel, BOT, target, Answer("**Yes**, it is free."))
    assert (sent.outcome, sent.ref) == (Outcome.SENT, "1:1")
    ((below, activity),) = teams.replies
    assert below == activity["replyToId"] == "1795176001234"
    assert activity["text"] == "**Yes**, it is free."
    assert activity["textFormat"] == "markdown"
    assert activity["recipient"]["id"] == "29:1"
    assert teams.tenants == [TENANT]


async def test_the_token_is_kept_and_renewed(
    channel: Channel, teams: Teams, target: dict[str, Any], clock: SetClock
) -> None:
    await deliver(channel, BOT, target, Answer("one"))
    await deliver(channel, BOT, target, Answer("two"))
    assert teams.tokens == 1
    clock.advance(3600)
    await deliver(channel, BOT, target, Answer("three"))
    assert teams.tokens == 2


async def test_a_multi_tenant_bot_logs_in_at_the_bot_framework(
    channel: Channel, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, {"appId": APP_ID, "appPassword": PASSWORD}, target, Answer("one"))
    assert teams.tenants == ["botframework.com"]


async def test_a_token_that_is_refused_is_fetched_anew_once(
    channel: Channel, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, BOT, target, Answer("one"))
    teams.next_reply(401, {"message": "expired"})
    (sent,) = await deliver(channel, BOT, target, Answer("two"))
    assert (sent.outcome, teams.tokens) == (Outcome.SENT, 2)


async def test_a_bot_that_is_refused_twice_gives_up(
    channel: Channel, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, BOT, target, Answer("one"))
    teams.next_reply(401, {"message": "no"})
    teams.next_reply(200, {"access_token": "other", "expires_in": 60})
    teams.next_reply(401, {"message": "no"})
    (sent,) = await deliver(channel, BOT, target, Answer("two"))
    assert sent.outcome is Outcome.PERMANENT


@pytest.mark.parametrize(
    "url", ["https://evil.example/", "http://169.254.169.254/", "", "http://smba.trafficmanager.net/"]
)
async def test_the_token_goes_to_no_other_host(
    channel: Channel, teams: Teams, target: dict[str, Any], url: str
) -> None:
    config = {**BOT}
    parts = channel.render(config, target, Answer("Hello"))
    sent = await channel.send(config, {**target, "serviceUrl": url}, parts[0], "key")
    assert sent.outcome is Outcome.PERMANENT
    assert teams.seen == []


async def test_choices_are_buttons_of_a_card(channel: Channel, teams: Teams, target: dict[str, Any]) -> None:
    await deliver(channel, BOT, target, Answer("May I?", choices=CHOICES))
    ((_, activity),) = teams.replies
    card = activity["attachments"][0]["content"]
    assert card["body"][0]["text"] == "May I?"
    assert [(each["type"], each["title"], each["data"]["choice"]) for each in card["actions"]] == [
        ("Action.Execute", "Approve", "1:abc"),
        ("Action.Execute", "Approve for the session", "2:abc"),
        ("Action.Execute", "Reject", "3:abc"),
    ]
    assert card["actions"][0]["fallback"]["type"] == "Action.Submit"


async def test_a_long_prompt_has_its_buttons_at_the_end(
    channel: Channel, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, BOT, target, Answer("word " * 12_000, choices=CHOICES))
    activities = [activity for _, activity in teams.replies]
    assert len(activities) > 1
    assert ["attachments" in each for each in activities] == [False] * (len(activities) - 1) + [True]


async def test_files_are_hero_cards_with_a_download_button(
    channel: Channel, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, BOT, target, Answer("Here", (PICTURE, PDF)))
    _, (_, picture), (_, pdf) = teams.replies
    assert picture["attachments"][0]["contentType"] == "application/vnd.microsoft.card.hero"
    assert picture["attachments"][0]["content"]["images"][0]["url"] == PICTURE.url
    assert pdf["attachments"][0]["content"] == {
        "title": "plan.pdf",
        "buttons": [{"type": "openUrl", "title": "Download", "value": PDF.url}],
    }


@pytest.mark.parametrize("letter", ["word ", '"\\" ', "\N{GRINNING FACE} ", "\N{CJK UNIFIED IDEOGRAPH-4E00}"])
async def test_every_message_is_within_the_limit(
    channel: Channel, teams: Teams, target: dict[str, Any], letter: str
) -> None:
    sent = await deliver(channel, BOT, target, Answer(letter * 14_000))
    assert len(sent) > 1
    assert all(each.outcome is Outcome.SENT for each in sent)


async def test_text_that_is_refused_goes_without_markup(
    channel: Channel, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, BOT, target, Answer("warm up"))
    teams.next_reply(400, {"error": {"code": "BadArgument", "message": "Bad markdown"}})
    (sent,) = await deliver(channel, BOT, target, Answer("**Yes**"))
    assert sent.outcome is Outcome.SENT
    assert teams.replies[-1][1]["text"] == "Yes"
    assert teams.replies[-1][1]["textFormat"] == "plain"


async def test_a_refusal_of_the_plain_text_too_is_said_in_the_first_words(
    channel: Channel, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, BOT, target, Answer("warm up"))
    teams.next_reply(400, {"error": {"code": "BadSyntax", "message": "first"}})
    teams.next_reply(400, {"error": {"code": "BadSyntax", "message": "second"}})
    (sent,) = await deliver(channel, BOT, target, Answer("**Yes**"))
    assert (sent.outcome, sent.detail) == (Outcome.PERMANENT, "HTTP 400: BadSyntax first")


@pytest.mark.parametrize(
    ("status", "body", "headers", "outcome", "wait"),
    [
        (429, {"error": {"code": "TooManyRequests"}}, {"retry_after": "3"}, Outcome.RETRY_AFTER, 3.0),
        (403, {"error": {"code": "BotNotInConversationRoster"}}, {}, Outcome.PERMANENT, None),
        (404, {"error": {"code": "ConversationNotFound"}}, {}, Outcome.PERMANENT, None),
        (413, {"error": {"code": "MessageSizeTooBig"}}, {}, Outcome.PERMANENT, None),
        (412, {"error": {"code": "PreconditionFailed"}}, {}, Outcome.PERMANENT, None),
        (502, None, {}, Outcome.TRANSIENT, None),
        (500, {"message": "oops"}, {}, Outcome.TRANSIENT, None),
    ],
)
async def test_errors_are_told_apart(
    channel: Channel,
    teams: Teams,
    target: dict[str, Any],
    status: int,
    body: Any,
    headers: dict[str, str],
    outcome: Outcome,
    wait: float | None,
) -> None:
    await deliver(channel, BOT, target, Answer("warm up"))
    teams.next_reply(status, body, **headers)
    (sent,) = await deliver(channel, BOT, target, Answer("Hello"))
    assert (sent.outcome, sent.retry_after) == (outcome, wait)
    assert PASSWORD not in sent.detail


async def test_a_connection_that_breaks_leaves_the_outcome_unknown(
    channel: Channel, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, BOT, target, Answer("warm up"))
    teams.drop()
    (sent,) = await deliver(channel, BOT, target, Answer("Hello"))
    assert sent.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (401, {"error": "invalid_client", "error_description": "AADSTS7000215"}, Outcome.PERMANENT),
        (503, None, Outcome.RETRY_AFTER),
        (500, None, Outcome.TRANSIENT),
    ],
)
async def test_trouble_at_the_login_is_told_apart(
    channel: Channel, teams: Teams, target: dict[str, Any], status: int, body: Any, outcome: Outcome
) -> None:
    teams.next_reply(status, body, **({"retry_after": "5"} if status == 503 else {}))
    (sent,) = await deliver(channel, BOT, target, Answer("Hello"))
    assert sent.outcome is outcome
    assert teams.replies == []


async def test_shows_that_it_is_writing(channel: Channel, teams: Teams, target: dict[str, Any]) -> None:
    await channel.typing(BOT, target)
    assert [each["type"] for each in teams.typing] == ["typing"]
    teams.next_reply(500)
    await channel.typing(BOT, target)
    await channel.typing({"webhookUrl": LEGACY}, target)
    assert len(teams.typing) == 1


async def test_a_pressed_prompt_is_replaced(channel: Channel, teams: Teams, target: dict[str, Any]) -> None:
    await deliver(channel, BOT, target, Answer("May I?", choices=CHOICES))
    await channel.decided(BOT, {**target, "prompt": "1:1"}, "approved_for_session")
    card = teams.activities["1:1"]["attachments"][0]["content"]
    assert "actions" not in card
    assert card["body"][0]["text"] == "Approved for session"


async def test_a_typed_decision_replaces_nothing(
    channel: Channel, teams: Teams, target: dict[str, Any]
) -> None:
    await channel.decided(BOT, target, "approved")
    assert teams.seen == []


async def test_a_prompt_that_cannot_be_replaced_is_no_failure(
    channel: Channel, teams: Teams, target: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    await deliver(channel, BOT, target, Answer("warm up"))
    teams.next_reply(404, {"error": {"code": "NotFound"}})
    await channel.decided(BOT, {**target, "prompt": "9"}, "approved")
    assert "NotFound" in caplog.text


# --- through an incoming webhook


async def test_a_workflow_gets_an_adaptive_card(
    channel: Channel, teams: Teams, target: dict[str, Any]
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


async def test_a_legacy_connector_gets_message_cards(channel: Channel, target: dict[str, Any]) -> None:
    text, file = channel.render({"webhookUrl": LEGACY}, target, Answer("**Hi**", (PDF,)))
    assert text.payload["body"] == {
        "@type": "MessageCard",
        "@context": "http://schema.org/extensions",
        "summary": "**Hi**",
        "text": "**Hi**",
    }
    assert file.payload["body"]["potentialAction"] == [
        {"@type": "OpenUri", "name": "Download", "targets": [{"os": "default", "uri": PDF.url}]}
    ]


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
    assert incoming_webhook.takes_message_cards(url) == legacy


@pytest.mark.parametrize("letter", ["word ", '"\\" ', "\N{CJK UNIFIED IDEOGRAPH-4E00}"])
async def test_every_card_is_within_the_limit(
    channel: Channel, teams: Teams, target: dict[str, Any], letter: str
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
    assert incoming_webhook.outcome(HttpAnswer(status, {}, body)).outcome is outcome


async def test_the_outbound_policy_holds_for_a_webhook(teams: Teams, target: dict[str, Any]) -> None:
    async with client("public-only") as http:
        addresses = {"ENTERPRISE_CHAT_LOGIN_URL": teams.url, "ENTERPRISE_CHAT_OPENID_URL": teams.url}
        channel = build(kit(http, addresses))
        (sent,) = await deliver(channel, {"webhookUrl": f"{teams.url}/webhook"}, target, Answer("Hi"))
    assert (sent.outcome, teams.seen) == (Outcome.PERMANENT, [])


@pytest.mark.parametrize("config", [{}, {"appId": APP_ID}, {"appPassword": PASSWORD}])
async def test_with_neither_way_the_answer_says_what_is_missing(
    channel: Channel, target: dict[str, Any], config: dict[str, Any]
) -> None:
    (sent,) = await deliver(channel, config, target, Answer("Hi"))
    assert sent.outcome is Outcome.PERMANENT
    assert "webhookUrl" in sent.detail


async def test_a_message_without_a_conversation_goes_to_the_webhook(channel: Channel, teams: Teams) -> None:
    config = {**BOT, "webhookUrl": f"{teams.url}/webhook"}
    await deliver(channel, config, {}, Answer("Hi"))
    assert len(teams.cards) == 1


# --- facts, probe, files


async def test_facts_are_issuer_and_keys(channel: Channel, teams: Teams) -> None:
    facts = await channel.facts(BOT)
    assert facts["issuer"] == ISSUER
    assert [key["kid"] for key in facts["keys"]] == [KID]
    assert await channel.facts({"webhookUrl": LEGACY}) == {}
    for reply in ((500, None), (200, ["x"])):
        teams.next_reply(*reply)
        with pytest.raises(PlatformError):
            await channel.facts(BOT)


async def test_the_metadata_address_may_be_given_in_full(teams: Teams) -> None:
    full = f"{teams.url}/v1/.well-known/openidconfiguration"
    async with client() as http:
        channel = build(kit(http, {"ENTERPRISE_CHAT_OPENID_URL": full}))
        assert (await channel.facts(BOT))["issuer"] == ISSUER


async def test_probing_tries_the_credentials(channel: Channel, teams: Teams) -> None:
    await channel.probe(BOT)
    await channel.probe(BOT)
    assert teams.tokens == 2
    await channel.probe({"webhookUrl": LEGACY})
    with pytest.raises(PlatformError, match="AADSTS7000215"):
        await channel.probe({**BOT, "appPassword": "wrong"})
    with pytest.raises(PlatformError, match="webhookUrl"):
        await channel.probe({})


async def test_pictures_of_the_service_are_fetched_with_the_token(channel: Channel, teams: Teams) -> None:
    picture = Attachment("x.png", "image/png", {"url": f"{teams.url}/v3/attachments/1/views/original"})
    assert b"".join([piece async for piece in channel.fetch(BOT, picture)]) == b"picture"


async def test_a_picture_cannot_be_fetched_with_wrong_credentials(channel: Channel, teams: Teams) -> None:
    picture = Attachment("x.png", "image/png", {"url": f"{teams.url}/v3/attachments/1/views/original"})
    with pytest.raises(PlatformError, match="AADSTS7000215"):
        assert [piece async for piece in channel.fetch({**BOT, "appPassword": "wrong"}, picture)]


async def test_other_files_are_fetched_without_it(channel: Channel, teams: Teams) -> None:
    file = Attachment("x.pdf", "application/pdf", {"url": "http://127.0.0.2:1/x"})
    with pytest.raises(HttpFailed):
        assert [piece async for piece in channel.fetch(BOT, file)]
    assert teams.seen == []
