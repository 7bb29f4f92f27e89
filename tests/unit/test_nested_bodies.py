"""Deeply nested JSON is refused in words, on every channel and for the verification bot, and only after the proof."""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest

from adapters.outbound.channels.registry import Registry
from adapters.outbound.channels.tests.calls import calls
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import dependencies
from adapters.outbound.system.verification_bot import TelegramVerificationBot
from domain.channels.messages import RawCall
from domain.json_text import MAX_DEPTH, TooDeep, is_too_deep, loads
from domain.refusals import Invalid, Unauthenticated
from ports.http import HttpAnswer

CHANNELS = Registry.build(dependencies(Scripted([], HttpAnswer(200, {}, b"{}"))))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TOKEN = "123:AA"
SECRET = hashlib.sha256(TOKEN.encode()).hexdigest()
JSON = {"content-type": "application/json"}
TELEGRAM = {**JSON, "x-telegram-bot-api-secret-token": SECRET}


def nested(levels: int, core: str = '"a\\u0000b"', opening: str = "[", closing: str = "]") -> bytes:
    """An object whose value is nested so that the whole has this many levels."""
    inner = opening * (levels - 1) + core + closing * (levels - 1)
    return f'{{"message": {inner}, "text": "x"}}'.encode()


BODIES = {
    "one level too many": nested(MAX_DEPTH + 1),
    "255 levels": nested(255, core="1"),
    "1000 arrays around a NUL": nested(1000),
    "1000 objects": nested(1000, opening='{"a":', closing="}"),
    "mixed": nested(801, opening='[{"a":', closing="}]"),
    "behind a string of brackets": b'{"quoted": "]]]]\\"]]]]", "a": ' + nested(300) + b"}",
    "more than a parser takes": nested(100_000),
    "with a long number": nested(500, core="123456789012345678901234567890"),
    "with half a surrogate pair": nested(500, core='"\\ud800"'),
}


def call(
    body: bytes, headers: Mapping[str, str] = JSON, callback: str = "webhook", method: str = "POST"
) -> RawCall:
    return RawCall(
        "r", method, callback, "https://agents.example/api/agent/channels/x/1/webhook", headers, body
    )


def receive(channel_id: str, config: Mapping[str, Any], raw: RawCall) -> Any:
    return calls(CHANNELS.find(channel_id)).receive(config, raw, {}, NOW)


def signed_for_slack(body: bytes, content_type: str) -> RawCall:
    stamp = str(int(NOW.timestamp()))
    digest = hmac.new(b"s", b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    headers = {"x-slack-request-timestamp": stamp, "x-slack-signature": f"v0={digest}"}
    return call(body, {**headers, "content-type": content_type})


def slack_event(body: bytes) -> Any:
    return receive("workspace-chat", {"signingSecret": "s"}, signed_for_slack(body, "application/json"))


def slack_form(body: bytes) -> Any:
    form = urlencode({"payload": body.decode()}).encode()
    return receive(
        "workspace-chat", {"signingSecret": "s"}, signed_for_slack(form, "application/x-www-form-urlencoded")
    )


READERS: Mapping[str, Callable[[bytes], Any]] = {
    "workspace-chat": slack_event,
    "workspace-chat, a pressed button": slack_form,
    "enterprise-chat": lambda body: receive("enterprise-chat", {}, call(body)),
    "community-chat": lambda body: receive("community-chat", {"token": "t"}, call(body)),
    "gaming-chat": lambda body: receive("gaming-chat", {"applicationId": "9"}, call(body)),
    "gaming-chat, forwarded": lambda body: receive(
        "gaming-chat", {"botToken": "t"}, call(body, {"x-discord-gateway-token": "t"})
    ),
    "bot-messenger": lambda body: receive("bot-messenger", {"botToken": TOKEN}, call(body, TELEGRAM)),
    "business-messaging": lambda body: receive("business-messaging", {}, call(body)),
    "sms-provider": lambda body: receive("sms-provider", {"accountSid": "AC"}, call(body)),
    "http-webhook": lambda body: receive("http-webhook", {}, call(body)),
    "cron": lambda body: receive("cron", {"message": "m"}, call(body, callback="manual_trigger")),
    "the verification bot": lambda body: TelegramVerificationBot(
        Scripted([], HttpAnswer(200, {}, b"{}")), "https://api.telegram.example", TOKEN, "bot"
    ).read(TELEGRAM, body),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_body_that_is_nested_too_deeply_is_refused_in_words(
    read: Callable[[bytes], Any], body: bytes
) -> None:
    with pytest.raises(Invalid, match=f"nested more than {MAX_DEPTH} levels"):
        read(body)


PROVED_BY_A_HEADER: Mapping[str, Mapping[str, Any]] = {
    "workspace-chat": {"signingSecret": "s"},
    "enterprise-chat": {"appId": "a"},
    "gaming-chat": {"publicKey": "0" * 64},
    "bot-messenger": {"botToken": TOKEN},
    "business-messaging": {"appSecret": "s"},
    "sms-provider": {"accountSid": "AC", "authToken": "t"},
    "http-webhook": {"webhookSecret": "s"},
    "cron": {"message": "m", "triggerSecret": "s"},
}


@pytest.mark.parametrize("body", [*BODIES.values(), b"{", b"\xff"], ids=[*BODIES, "broken", "not text"])
@pytest.mark.parametrize("name", PROVED_BY_A_HEADER)
def test_a_call_without_its_proof_is_refused_before_its_body_is_read(name: str, body: bytes) -> None:
    headers = {**JSON, "x-twilio-signature": "wrong"} if name == "sms-provider" else JSON
    callback = "manual_trigger" if name == "cron" else "webhook"
    with pytest.raises(Unauthenticated):
        receive(name, PROVED_BY_A_HEADER[name], call(body, headers, callback))


def test_a_token_of_teams_whose_header_is_nested_is_refused() -> None:
    import base64

    header = base64.urlsafe_b64encode(b'{"alg": "RS256", "kid": ' + b"[" * 10_000).decode().rstrip("=")
    with pytest.raises(Unauthenticated):
        receive("enterprise-chat", {"appId": "a"}, call(b"{}", {"authorization": f"Bearer {header}.e30.AA"}))


def test_the_greatest_depth_that_is_allowed_is_read() -> None:
    body = nested(MAX_DEPTH, core='"a\\u0000b"')
    assert "ab" in receive("http-webhook", {}, call(body)).events[0].text


@pytest.mark.parametrize(
    "text", ['{"a": "' + "[" * 1000 + '"}', "[" + "[],{}," * 1000 + "[]]", '["\\"[[[["]' * 1]
)
def test_brackets_inside_texts_and_side_by_side_do_not_count(text: str) -> None:
    assert not is_too_deep(text.encode())
    loads(text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_the_depth_is_known_in_every_encoding_of_json(encoding: str) -> None:
    assert loads('{"a": [1]}'.encode(encoding)) == {"a": [1]}
    with pytest.raises(TooDeep):
        loads(nested(500).decode().encode(encoding))


def test_an_answer_of_a_platform_that_is_nested_too_deeply_is_none() -> None:
    for body in BODIES.values():
        assert HttpAnswer(200, {}, body).json() is None


@pytest.mark.parametrize(
    "start",
    [b'"' * 1_000_001, b'"\\' * 500_000, b'"\\a' + b'x\\"' * 300_000],
    ids=["quotes", "escapes", "text"],
)
def test_texts_without_an_end_are_looked_through_once(start: bytes) -> None:
    """A search that began anew at each quotation mark would take minutes."""
    assert not is_too_deep(start + b"[]" * 100)
