"""What every channel keeps, whatever its platform. A channel takes part by a `tests/samples.py`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.outbound.channels.registry import Registry
from domain.channels.messages import Answer, Choice, Event, Outcome, RawCall, Received, Sent
from domain.channels.model import ChannelDefinition, TextLimit, Unit
from domain.refusals import Refusal
from ports.http import AddressRefused, HttpAnswer, HttpFailed
from tests.support.channel_calls import ChannelCalls, calls
from tests.support.channel_samples import Sample, Scripted, folder_of, sample_of
from tests.support.channels import NOW, dependencies

ROOT = Path(__file__).parents[2]
OK = HttpAnswer(200, {}, b"{}")

COMMON = "identifyUsers boolean, accessMode string"
FIELDS = {
    "workspace-chat": (
        f"botToken string R, signingSecret string R, defaultChannel string, appId string, {COMMON}"
    ),
    "enterprise-chat": f"webhookUrl string, appId string, appPassword string, tenantId string, {COMMON}",
    "community-chat": (
        f"SERVER_URL string R, channelId string R, token string R, webhookToken string, {COMMON}"
    ),
    "gaming-chat": (
        f"botToken string R, applicationId string R, publicKey string, defaultChannelId string, {COMMON}"
    ),
    "bot-messenger": f"botToken string R, parseMode string, disableWebPagePreview boolean, {COMMON}",
    "business-messaging": (
        "phoneNumberId string R, accessToken string R, webhookVerifyToken string R, appSecret string, "
        f"apiVersion string, {COMMON}"
    ),
    "linked-device-messaging": f"phoneNumber string R, allowedNumbers string, {COMMON}",
    "sms-provider": (
        "accountSid string R, authToken string R, providerPhoneNumber string R, messagingServiceSid string, "
        f"{COMMON}"
    ),
    "email": (
        "smtpHost string R, smtpPort number R, smtpSecure boolean, imapHost string R, imapPort number R, "
        "imapSecure boolean, username string R, password string R, fromEmail string R, checkInterval number, "
        f"{COMMON}"
    ),
    "mail-api": (
        "clientId string R, clientSecret string R, refreshToken string R, redirectUri string, "
        f"checkInterval number, {COMMON}"
    ),
    "http-webhook": (
        "responseWebhookUrl string, webhookSecret string, messageField string, sessionIdField string, "
        f"responseHeaders string, syncResponse boolean, {COMMON}"
    ),
    "cron": (
        "cronSchedule string R, message string R, timezone string, enabled boolean, oneShot boolean, "
        "triggerSecret string"
    ),
    "drive-folder": (
        "clientId string R, clientSecret string R, refreshToken string R, folderId string R, "
        "checkInterval number, fileTypes string, webhookUrl string"
    ),
    "erp-events": (
        "erpUrl string R, database string R, username string R, password string R, models string R, "
        "events string R, checkInterval number, webhookUrl string"
    ),
}
"""The catalogue, in its order: each field with its type, R where it is required."""

REGISTRY = Registry.build(dependencies(Scripted((), OK)))
SAMPLES = {
    channel.definition.id: sample
    for channel in REGISTRY.all()
    if (sample := sample_of(channel.definition.id)) is not None
}
DEFINITIONS = pytest.mark.parametrize(
    "definition", [pytest.param(each.definition, id=each.definition.id) for each in REGISTRY.all()]
)


def built(channel_id: str, then: HttpAnswer | HttpFailed = OK) -> ChannelCalls:
    sample = SAMPLES[channel_id]
    scripted = Scripted(sample.prelude, then)
    return calls(Registry.build(dependencies(scripted, sample.addresses)).find(channel_id))


def with_capability(capability: str, *attributes: str) -> list[str]:
    """The channels with a sample that have a capability, and for which the sample has what a test needs."""
    return [
        channel_id
        for channel_id, sample in SAMPLES.items()
        if calls(REGISTRY.find(channel_id)).has(capability)
        and all(getattr(sample, each) for each in attributes)
    ]


def received(channel_id: str, call: RawCall) -> Received:
    channel = built(channel_id)
    sample = SAMPLES[channel_id]
    return channel.receive(sample.config, call, sample.metadata, NOW)


# --- the catalogue


def test_the_channels_come_in_the_order_of_the_catalogue() -> None:
    assert [channel.definition.id for channel in REGISTRY.all()] == list(FIELDS)


@DEFINITIONS
def test_fields_are_those_of_the_catalogue(definition: ChannelDefinition) -> None:
    described = [f"{each.name} {each.type}{' R' if each.required else ''}" for each in definition.fields]
    assert ", ".join(described) == FIELDS[definition.id]


@DEFINITIONS
def test_everything_is_explained(definition: ChannelDefinition) -> None:
    words = [definition.name, definition.description, definition.setup.title, *definition.setup.steps]
    words += [each.description for each in definition.fields]
    assert all(each.strip() == each and each for each in words)
    assert len(definition.setup.steps) >= 2
    assert definition.setup.docs_url.startswith("https://")
    assert definition.setup.webhook_path


def test_every_channel_takes_part() -> None:
    assert list(SAMPLES) == list(FIELDS)


@pytest.mark.parametrize("channel_id", SAMPLES)
def test_the_folder_is_complete(channel_id: str) -> None:
    folder = ROOT / "adapters/outbound/channels" / folder_of(channel_id)
    assert list((folder / "tests").glob("test_*.py"))
    for fixture in (folder / "fixtures").glob("*.json"):
        json.loads(fixture.read_text())
    page = (ROOT / "docs/channels" / f"{channel_id}.md").read_text()
    definition = built(channel_id).definition
    assert [each.name for each in definition.fields if f"`{each.name}`" not in page] == []


# --- the way in

CALLS = [
    pytest.param(channel_id, call, id=f"{channel_id}-{kind}")
    for channel_id in with_capability("webhook", "genuine")
    for kind, call in SAMPLES[channel_id].genuine.items()
]
FORGERIES = [
    pytest.param(channel_id, call, id=f"{channel_id}-{kind}")
    for channel_id in with_capability("webhook", "forged")
    for kind, call in SAMPLES[channel_id].forged.items()
]


@pytest.mark.parametrize(("channel_id", "call"), CALLS)
def test_a_genuine_call_gives_an_event_that_can_be_stored(channel_id: str, call: RawCall) -> None:
    (event,) = received(channel_id, call).events
    assert event.session_id
    assert event.sender.external_id
    stored = [
        event.text,
        dict(event.target),
        [dict(each.source) for each in event.attachments],
        dict(event.raw),
    ]
    assert json.loads(json.dumps(stored)) == stored


@pytest.mark.parametrize(("channel_id", "call"), CALLS)
def test_the_same_delivery_is_the_same_event(channel_id: str, call: RawCall) -> None:
    first: Event = received(channel_id, call).events[0]
    second = received(channel_id, replace(call, id="00000000-0000-4000-8000-000000000001")).events[0]
    assert (first.key, first.session_id) == (second.key, second.session_id)


@pytest.mark.parametrize(("channel_id", "call"), CALLS)
def test_a_call_is_acknowledged(channel_id: str, call: RawCall) -> None:
    answer = received(channel_id, call).answer
    assert 200 <= answer.status < 300
    if answer.body:
        assert "content-type" in {name.lower() for name in answer.headers}


@pytest.mark.parametrize(("channel_id", "call"), FORGERIES)
def test_a_forged_call_is_refused(channel_id: str, call: RawCall) -> None:
    with pytest.raises(Refusal):
        received(channel_id, call)


@pytest.mark.parametrize("channel_id", with_capability("webhook"))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    body=st.binary(max_size=60) | st.sampled_from([b"{}", b"[]", b"null", b'{"a": 1}', b"a=1", b"[" * 5000]),
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE"]),
    callback=st.sampled_from(["webhook", "manual_trigger", "x"]),
    content_type=st.sampled_from(
        ["application/json", "application/x-www-form-urlencoded", "", "\N{SNOWMAN}"]
    ),
)
def test_hostile_calls_do_not_break_it(
    channel_id: str, body: bytes, method: str, callback: str, content_type: str
) -> None:
    url = f"https://switchboard.example/api/agent/channels/{channel_id}/7/{callback}"
    call = RawCall("id", method, callback, url, {"content-type": content_type}, body)
    try:
        received(channel_id, call)
    except Refusal:
        return


# --- the way out


def measured(text: str, unit: Unit) -> int:
    if unit is Unit.BYTES:
        return len(text.encode())
    return len(text.encode("utf-16-le")) // 2 if unit is Unit.UTF16 else len(text)


WORDS = [
    pytest.param(" ".join(f"word{number}" for number in range(6000)), id="words"),
    pytest.param(" ".join(["\N{FAMILY}\N{ZERO WIDTH JOINER}\N{FAMILY}"] * 3000), id="emoji"),
    pytest.param("\n".join(f"line {number}" for number in range(3000)), id="lines"),
]


@pytest.mark.parametrize("text", WORDS)
@pytest.mark.parametrize("channel_id", with_capability("sender", "shown"))
def test_parts_are_within_the_limit_and_lose_nothing(channel_id: str, text: str) -> None:
    channel, sample = built(channel_id), SAMPLES[channel_id]
    assert sample.shown is not None
    parts = channel.render(sample.config, sample.target, Answer(text))
    shown = [sample.shown(part) for part in parts]
    limit = channel.definition.text_limit or TextLimit(10**9)
    assert all(measured(each, limit.unit) <= limit.size for each in shown)
    assert " ".join(shown).split() == text.split()


@pytest.mark.parametrize("channel_id", with_capability("sender"))
def test_parts_can_be_stored(channel_id: str) -> None:
    channel, sample = built(channel_id), SAMPLES[channel_id]
    for part in channel.render(sample.config, sample.target, Answer("**Hello**")):
        assert json.loads(json.dumps(dict(part.payload))) == part.payload


@pytest.mark.parametrize("channel_id", with_capability("prompt_closer"))
def test_the_part_with_the_buttons_can_be_replaced_without_a_press(channel_id: str) -> None:
    channel, sample = built(channel_id), SAMPLES[channel_id]
    text = "May I? " * 2000
    for choices in ((), (Choice("Approve", "c:1"), Choice("Reject", "c:2"))):
        parts = channel.render(sample.config, sample.target, Answer(text, choices=choices))
        pressed = [channel.as_pressed(sample.config, sample.target, part, "17", {}) for part in parts]
        assert [each is not None for each in pressed] == [False] * (len(parts) - 1) + [bool(choices)]
        assert json.loads(json.dumps(pressed)) == pressed


def test_channels_whose_prompts_can_be_replaced() -> None:
    assert with_capability("prompt_closer") == [
        "workspace-chat",
        "enterprise-chat",
        "gaming-chat",
        "bot-messenger",
    ]


def test_every_channel_that_sends_says_whom_limits_bind() -> None:
    sending = [each for each in REGISTRY.all() if calls(each).has("sender")]
    assert [each.definition.id for each in sending if not calls(each).has("limits")] == []


@pytest.mark.parametrize("channel_id", with_capability("limits"))
def test_limits_are_told_by_account_and_place(channel_id: str) -> None:
    channel, sample = built(channel_id), SAMPLES[channel_id]
    found = channel.limits(sample.config, sample.target)
    assert found.account.strip()
    assert found == channel.limits(sample.config, sample.target)
    assert channel.limits(sample.config, {}).account == found.account or channel_id in ACCOUNT_BY_TARGET


ACCOUNT_BY_TARGET = {"enterprise-chat", "http-webhook"}
"""Where the target decides by which way, and so by whose account, an answer goes."""


async def sent(channel_id: str, then: HttpAnswer | HttpFailed) -> Sent:
    channel, sample = built(channel_id, then), SAMPLES[channel_id]
    part = channel.render(sample.config, sample.target, Answer("Hello"))[0]
    return await channel.send(sample.config, sample.target, part, "key-1")


@pytest.mark.parametrize(
    ("then", "outcomes"),
    [
        (HttpAnswer(429, {"retry-after": "7"}, b""), {Outcome.RETRY_AFTER}),
        (HttpAnswer(500, {}, b""), {Outcome.TRANSIENT}),
        (HttpAnswer(502, {}, b"<html>Bad gateway</html>"), {Outcome.TRANSIENT}),
        (HttpAnswer(410, {}, b""), {Outcome.PERMANENT}),
        (HttpFailed("connection refused", before_request=True), {Outcome.TRANSIENT}),
        (HttpFailed("connection reset", before_request=False), {Outcome.UNKNOWN}),
        (AddressRefused("private address"), {Outcome.PERMANENT}),
    ],
)
@pytest.mark.parametrize("channel_id", with_capability("sender", "shown", "over_http"))
async def test_trouble_is_told_apart(channel_id: str, then: Any, outcomes: set[Outcome]) -> None:
    result = await sent(channel_id, then)
    assert result.outcome in outcomes
    if result.outcome is Outcome.RETRY_AFTER:
        assert result.retry_after == 7
    assert result.detail
    assert not any(secret in result.detail for secret in secrets(SAMPLES[channel_id], channel_id))


def secrets(sample: Sample, channel_id: str) -> list[str]:
    channel = REGISTRY.find(channel_id)
    assert channel is not None
    return [
        str(sample.config[each.name])
        for each in channel.definition.fields
        if each.secret and each.name in sample.config
    ]


SHOWN_SECONDS = {
    "enterprise-chat": 3.0,
    "community-chat": 5.0,
    "gaming-chat": 10.0,
    "bot-messenger": 5.0,
    "business-messaging": 25.0,
    "linked-device-messaging": 10.0,
}
"""How long each platform shows that somebody is writing."""


def test_channels_that_show_that_an_answer_is_being_written() -> None:
    found = {channel_id: calls(REGISTRY.find(channel_id)) for channel_id in with_capability("typing")}
    assert list(found) == list(SHOWN_SECONDS)
    for channel_id, channel in found.items():
        assert SHOWN_SECONDS[channel_id] * 0.7 <= channel.typing_seconds <= SHOWN_SECONDS[channel_id]


@pytest.mark.parametrize(
    ("then", "outcome"),
    [
        (HttpAnswer(429, {"retry-after": "7"}, b""), Outcome.RETRY_AFTER),
        (HttpAnswer(503, {}, b""), Outcome.TRANSIENT),
        (HttpAnswer(403, {}, b"{}"), Outcome.PERMANENT),
        (HttpFailed("connection reset", before_request=False), Outcome.UNKNOWN),
    ],
)
@pytest.mark.parametrize("channel_id", with_capability("typing", "over_http"))
async def test_trouble_with_showing_that_an_answer_is_being_written(
    channel_id: str, then: Any, outcome: Outcome
) -> None:
    channel, sample = built(channel_id, then), SAMPLES[channel_id]
    sent = await channel.typing(sample.config, sample.target)
    assert sent is not None
    assert sent.outcome is outcome
    assert sent.retry_after == (7 if outcome is Outcome.RETRY_AFTER else None)


def test_one_channel_pairs_and_two_keep_connections() -> None:
    """Who pairs gets a waStatus in the configuration, and is asked for codes."""
    everybody = Registry.build(dependencies(Scripted([], OK))).all()
    assert [each.definition.id for each in everybody if calls(each).has("pairing")] == [
        "linked-device-messaging"
    ]
    connected = [each.definition.id for each in everybody if calls(each).has("connector")]
    assert connected == ["gaming-chat", "linked-device-messaging"]
