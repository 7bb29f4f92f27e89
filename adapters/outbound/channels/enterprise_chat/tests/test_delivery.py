"""Answers as the bot of a Teams of our own, in good and in bad times."""

from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import SetClock
from domain.channels.answers import Answer, ClosedPrompt
from domain.channels.messages import Outcome
from tests.support.platforms.teams import APP_ID, PASSWORD, TENANT, Teams

from .answering import BOT, CHOICES, LEGACY, PDF, PICTURE, deliver

CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")


async def test_has_the_capabilities_of_a_bot(channel: ChannelCalls) -> None:
    assert channel.has("webhook", "sender", "metadata", "typing", "probe", "fetcher", "prompt_closer")


async def test_answers_below_the_message(channel: ChannelCalls, teams: Teams, target: dict[str, Any]) -> None:
    (sent,) = await deliver(channel, BOT, target, Answer("**Yes**, it is free."))
    assert (sent.outcome, sent.ref) == (Outcome.SENT, "1:1")
    ((below, activity),) = teams.replies
    assert below == activity["replyToId"] == "1795176001234"
    assert activity["text"] == "**Yes**, it is free."
    assert activity["textFormat"] == "markdown"
    assert activity["recipient"]["id"] == "29:1"
    assert teams.tenants == [TENANT]


async def test_the_token_is_kept_and_renewed(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any], clock: SetClock
) -> None:
    await deliver(channel, BOT, target, Answer("one"))
    await deliver(channel, BOT, target, Answer("two"))
    assert teams.tokens == 1
    clock.advance(3600)
    await deliver(channel, BOT, target, Answer("three"))
    assert teams.tokens == 2


async def test_a_multi_tenant_bot_logs_in_at_the_bot_framework(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, {"appId": APP_ID, "appPassword": PASSWORD}, target, Answer("one"))
    assert teams.tenants == ["botframework.com"]


async def test_a_token_that_is_refused_is_fetched_anew_once(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, BOT, target, Answer("one"))
    teams.next_reply(401, {"message": "expired"})
    (sent,) = await deliver(channel, BOT, target, Answer("two"))
    assert (sent.outcome, teams.tokens) == (Outcome.SENT, 2)


async def test_a_bot_that_is_refused_twice_gives_up(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
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
    channel: ChannelCalls, teams: Teams, target: dict[str, Any], url: str
) -> None:
    config = {**BOT}
    parts = channel.render(config, target, Answer("Hello"))
    sent = await channel.send(config, {**target, "serviceUrl": url}, parts[0], "key")
    assert sent.outcome is Outcome.PERMANENT
    assert teams.seen == []


async def test_choices_are_buttons_of_a_card(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
) -> None:
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
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, BOT, target, Answer("word " * 12_000, choices=CHOICES))
    activities = [activity for _, activity in teams.replies]
    assert len(activities) > 1
    with_buttons = ["actions" in each["attachments"][0]["content"] for each in activities]
    assert with_buttons == [False] * (len(activities) - 1) + [True]


async def test_the_card_of_a_prompt_shows_code_and_quotes(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
) -> None:
    text = 'May I run this?\n\n```json\n{\n  "a_": 1\n}\n```\n\n> It ~~may~~ will cost &lt; 1 €'
    await deliver(channel, BOT, target, Answer(text, choices=CHOICES))
    body = teams.replies[0][1]["attachments"][0]["content"]["body"]
    assert [each.get("fontType") for each in body] == [None, "Monospace", "Monospace", "Monospace", None]
    assert body[-1]["items"][0]["text"] == "It may will cost < 1 €"
    assert "```" not in str(body)


async def test_files_are_hero_cards_with_a_download_button(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
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
    channel: ChannelCalls, teams: Teams, target: dict[str, Any], letter: str
) -> None:
    sent = await deliver(channel, BOT, target, Answer(letter * 14_000))
    assert len(sent) > 1
    assert all(each.outcome is Outcome.SENT for each in sent)


async def test_text_that_is_refused_goes_without_markup(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, BOT, target, Answer("warm up"))
    teams.next_reply(400, {"error": {"code": "BadArgument", "message": "Bad markdown"}})
    (sent,) = await deliver(channel, BOT, target, Answer("**Yes**"))
    assert sent.outcome is Outcome.SENT
    assert teams.replies[-1][1]["text"] == "Yes"
    assert teams.replies[-1][1]["textFormat"] == "plain"


async def test_a_refusal_of_the_plain_text_too_is_said_in_the_first_words(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
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
        (412, {"error": {"code": "PreconditionFailed"}}, {}, Outcome.TRANSIENT, None),
        (502, None, {}, Outcome.TRANSIENT, None),
        (500, {"message": "oops"}, {}, Outcome.TRANSIENT, None),
    ],
)
async def test_errors_are_told_apart(
    channel: ChannelCalls,
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
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
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
    channel: ChannelCalls, teams: Teams, target: dict[str, Any], status: int, body: Any, outcome: Outcome
) -> None:
    teams.next_reply(status, body, **({"retry_after": "5"} if status == 503 else {}))
    (sent,) = await deliver(channel, BOT, target, Answer("Hello"))
    assert sent.outcome is outcome
    assert teams.replies == []


async def test_shows_that_it_is_writing(channel: ChannelCalls, teams: Teams, target: dict[str, Any]) -> None:
    await channel.typing(BOT, target)
    assert [each["type"] for each in teams.typing] == ["typing"]
    teams.next_reply(500)
    await channel.typing(BOT, target)
    await channel.typing({"webhookUrl": LEGACY}, target)
    assert len(teams.typing) == 1


async def test_a_pressed_prompt_is_replaced(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
) -> None:
    await deliver(channel, BOT, target, Answer("May I?", choices=CHOICES))
    await channel.close_prompt(BOT, {**target, "prompt": "1:1"}, CLOSED)
    card = teams.activities["1:1"]["attachments"][0]["content"]
    assert "actions" not in card
    assert card["body"][0]["text"] == "**Approved** it"


async def test_a_prompt_that_nobody_pressed_is_replaced(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
) -> None:
    question = Answer("May I?", choices=CHOICES)
    (sent,) = await deliver(channel, BOT, target, question)
    (part,) = channel.render(BOT, target, question)

    pressed = channel.prompt_target(BOT, target, part, sent.ref, {})
    assert pressed
    await channel.close_prompt(BOT, pressed, CLOSED)

    card = teams.activities[sent.ref]["attachments"][0]["content"]
    assert "actions" not in card
    assert card["body"][0]["text"] == "**Approved** it"


async def test_without_a_prompt_there_is_nothing_to_replace(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any]
) -> None:
    await channel.close_prompt(BOT, target, CLOSED)
    assert teams.seen == []


async def test_a_prompt_that_cannot_be_replaced_is_no_failure(
    channel: ChannelCalls, teams: Teams, target: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    await deliver(channel, BOT, target, Answer("warm up"))
    teams.next_reply(404, {"error": {"code": "NotFound"}})
    await channel.close_prompt(BOT, {**target, "prompt": "9"}, CLOSED)
    assert "NotFound" in caplog.text
