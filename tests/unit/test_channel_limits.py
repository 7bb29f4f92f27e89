"""What channels say of their platforms' rate limits, and of whom an answer of theirs concerns."""

from typing import Any

import pytest

from adapters.outbound.channels.business_messaging.api import outcome as whatsapp_judged
from adapters.outbound.channels.enterprise_chat.config import TeamsConfig, TeamsTarget
from adapters.outbound.channels.enterprise_chat.delivery import limits as teams
from adapters.outbound.channels.gaming_chat.api import result as discord_judged
from adapters.outbound.channels.registry import Registry
from adapters.outbound.channels.tests.calls import calls
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import dependencies
from adapters.outbound.channels.workspace_chat.api import outcome as slack_judged
from adapters.outbound.channels.workspace_chat.config import SlackConfig, SlackTarget
from adapters.outbound.channels.workspace_chat.delivery import limits as slack
from domain.channels.limits import Limits, Scope
from domain.channels.messages import Outcome
from ports.http import HttpAnswer

CHANNELS = Registry.build(dependencies(Scripted([], HttpAnswer(200, {}, b"{}"))))


def telegram(config: dict[str, Any], target: dict[str, Any]) -> Limits:
    limits: Limits = calls(CHANNELS.find("bot-messenger")).limits(config, target)
    return limits


def whatsapp(config: dict[str, Any], target: dict[str, Any]) -> Limits:
    limits: Limits = calls(CHANNELS.find("business-messaging")).limits(config, target)
    return limits


def test_topics_of_a_telegram_group_count_together() -> None:
    config = {"botToken": "1:a"}
    group = telegram(config, {"chat_id": -100, "message_thread_id": 5})
    assert group.conversation == telegram(config, {"chat_id": -100, "message_thread_id": 6}).conversation
    assert len(group.per_conversation) == 2
    assert len(telegram(config, {"chat_id": 100}).per_conversation) == 1
    assert (
        group.account
        == telegram(config, {"chat_id": 100}).account
        != telegram({"botToken": "2:b"}, {}).account
    )


def test_threads_of_a_slack_channel_count_together() -> None:
    config = SlackConfig()
    first, second = (SlackTarget(channel="C1", thread_ts=ts) for ts in ("1.0", "2.0"))
    assert slack(config, first) == slack(config, second) != slack(config, SlackTarget(channel="C2"))


def test_teams_counts_by_the_way_an_answer_goes() -> None:
    config = TeamsConfig(app_id="a", app_password="p", webhook_url="https://h")
    bot = teams(config, TeamsTarget(service_url="https://s", conversation="19:x"))
    hook = teams(config, TeamsTarget())
    assert (bot.conversation, hook.conversation) == ("19:x", "")
    assert bot.account != hook.account


def test_a_whatsapp_number_may_write_45_messages_at_once_to_a_person_and_then_one_in_six_seconds() -> None:
    (quota,) = whatsapp({"phoneNumberId": "1"}, {"to": "49170"}).per_conversation
    assert (quota.burst, quota.interval) == (45, 6.0)


@pytest.mark.parametrize(
    ("code", "scope"), [(131056, Scope.CONVERSATION), (130429, Scope.ACCOUNT), (80007, Scope.ACCOUNT)]
)
def test_whatsapp_says_whom_a_throttle_concerns(code: int, scope: Scope) -> None:
    body = f'{{"error": {{"code": {code}, "message": "slow down"}}}}'.encode()
    sent = whatsapp_judged(HttpAnswer(400, {}, body))
    assert (sent.outcome, sent.scope) == (Outcome.RETRY_AFTER, scope)


@pytest.mark.parametrize(
    ("body", "scope"), [(b'{"global": true}', Scope.ACCOUNT), (b'{"global": false}', Scope.CONVERSATION)]
)
def test_discord_says_whom_a_429_concerns(body: bytes, scope: Scope) -> None:
    assert discord_judged(HttpAnswer(429, {"retry-after": "3"}, body)).sent.scope is scope


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "1.25"}, 1.25),
        ({"x-ratelimit-remaining": "1", "x-ratelimit-reset-after": "1.25"}, None),
        ({"x-ratelimit-remaining": "0"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "soon"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "inf"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "-1"}, None),
    ],
)
def test_discord_tells_when_a_bucket_is_empty(headers: dict[str, str], expected: Any) -> None:
    sent = discord_judged(HttpAnswer(200, headers, b'{"id": "1"}')).sent
    assert (sent.outcome, sent.retry_after) == (Outcome.SENT, expected)


@pytest.mark.parametrize(
    ("error", "scope"), [("ratelimited", None), ("message_limit_exceeded", Scope.ACCOUNT)]
)
def test_slack_says_when_the_whole_workspace_waits(error: str, scope: Scope | None) -> None:
    sent = slack_judged(HttpAnswer(200, {}, f'{{"ok": false, "error": "{error}"}}'.encode()))
    assert (sent.outcome, sent.scope) == (Outcome.RETRY_AFTER, scope)
