"""Answers through a Twilio of our own, in good and in bad times."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from adapters.outbound.channels.sms_provider.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import client, dependencies
from domain.channels.answers import Answer, Artifact, OutboundMessage
from domain.channels.messages import Attachment, Outcome, Sent
from ports.capabilities import PlatformError
from ports.channels import ChannelDependencies
from ports.http import HttpAnswer, HttpRequest
from tests.support.platforms.twilio import ACCOUNT, TOKEN, Twilio

CONFIG = {"accountSid": ACCOUNT, "authToken": TOKEN, "providerPhoneNumber": "+4915735980001"}
TARGET = {
    "to": "+4915112345678",
    "callback": "https://switchboard.example/api/agent/channels/sms-provider/7/webhook",
}
PICTURE = Artifact("plan.png", "image/png", "https://switchboard.example/files/1?signature=x", size=1000)
PDF = Artifact("plan.pdf", "application/pdf", "https://switchboard.example/files/2?signature=x")


@pytest.fixture
async def twilio() -> AsyncIterator[Twilio]:
    async with Twilio.run() as platform:
        yield platform


@pytest.fixture
async def channel(twilio: Twilio) -> AsyncIterator[ChannelCalls]:
    async with client() as http:
        yield ChannelCalls(build(dependencies(http, {"SMS_PROVIDER_API_URL": twilio.url})))


async def deliver(channel: ChannelCalls, answer: Answer, config: dict[str, Any] = CONFIG) -> list[Sent]:
    parts = channel.render(config, TARGET, answer)
    return [await channel.send(config, TARGET, part, f"key{index}") for index, part in enumerate(parts)]


async def test_has_the_capabilities_of_an_sms_gateway(channel: ChannelCalls) -> None:
    assert channel.has("webhook", "sender", "probe", "fetcher")


async def test_sends_from_the_phone_number(channel: ChannelCalls, twilio: Twilio) -> None:
    (sent,) = await deliver(channel, Answer("**Hello** _there_"))
    assert (sent.outcome, sent.ref) == (Outcome.SENT, f"SM{1:032d}")
    assert twilio.messages == [
        {
            "To": "+4915112345678",
            "From": "+4915735980001",
            "Body": "Hello there",
            "StatusCallback": f"{TARGET['callback']}?part=key0",
        }
    ]


async def test_sends_through_the_messaging_service_when_there_is_one(
    channel: ChannelCalls, twilio: Twilio
) -> None:
    await deliver(channel, Answer("Hello"), {**CONFIG, "messagingServiceSid": "MG1"})
    assert twilio.messages[0]["MessagingServiceSid"] == "MG1"
    assert "From" not in twilio.messages[0]


@pytest.mark.parametrize(
    "callback",
    ["", "http://localhost:3011/x", "http://127.0.0.1:3011/x", "https://my_host.example/x", "http://["],
)
async def test_asks_for_states_only_where_twilio_can_call(
    channel: ChannelCalls, twilio: Twilio, callback: str
) -> None:
    (part,) = channel.render(CONFIG, TARGET, Answer("Hello"))
    await channel.send(CONFIG, {**TARGET, "callback": callback}, part, "key")
    assert "StatusCallback" not in twilio.messages[0]


async def test_splits_at_1500_characters_and_loses_nothing(channel: ChannelCalls, twilio: Twilio) -> None:
    words = " ".join(f"word{number}" for number in range(1000))
    await deliver(channel, Answer(words))
    bodies = [message["Body"] for message in twilio.messages]
    assert all(len(body) <= 1500 for body in bodies)
    assert " ".join(bodies).split() == words.split()


async def test_pictures_go_as_mms_and_other_files_as_links(channel: ChannelCalls, twilio: Twilio) -> None:
    await deliver(channel, Answer("Here", (PICTURE, PDF)))
    text, mms, link = twilio.messages
    assert text["Body"] == "Here"
    assert (mms["MediaUrl"], "Body" in mms) == (PICTURE.url, False)
    assert link["Body"] == f"plan.pdf: {PDF.url}"
    assert "MediaUrl" not in link


async def test_a_picture_over_the_limit_goes_as_a_link(channel: ChannelCalls, twilio: Twilio) -> None:
    await deliver(channel, Answer("", (replace(PICTURE, size=6_000_000),)))
    assert twilio.messages[0]["Body"] == f"plan.png: {PICTURE.url}"


async def test_a_picture_that_twilio_refuses_goes_as_a_link(channel: ChannelCalls, twilio: Twilio) -> None:
    twilio.next_reply(400, {"code": 21620, "message": "Invalid media URL(s)", "status": 400})
    (sent,) = await deliver(channel, Answer("", (PICTURE,)))
    assert sent.outcome is Outcome.SENT
    assert twilio.messages[0]["Body"] == f"plan.png: {PICTURE.url}"


async def test_the_parts_can_be_stored(channel: ChannelCalls) -> None:
    for part in channel.render(CONFIG, TARGET, Answer("Hello", (PICTURE, PDF))):
        assert OutboundMessage(dict(part.payload)) == part


@pytest.mark.parametrize(
    ("status", "body", "outcome", "words"),
    [
        (429, {"code": 20429, "message": "Too Many Requests"}, Outcome.RETRY_AFTER, "20429"),
        (400, {"code": 21611, "message": "Queue full"}, Outcome.RETRY_AFTER, "21611"),
        (400, {"code": 21610, "message": "Unsubscribed recipient"}, Outcome.PERMANENT, "Unsubscribed"),
        (400, {"code": 21211, "message": "Invalid 'To'"}, Outcome.PERMANENT, "21211"),
        (401, {"code": 20003, "message": "Authenticate"}, Outcome.PERMANENT, "20003"),
        (404, None, Outcome.PERMANENT, "404"),
        (500, {"code": 20500, "message": "Internal"}, Outcome.TRANSIENT, "Internal"),
        (503, ["unexpected"], Outcome.TRANSIENT, "503"),
        (400, "unexpected", Outcome.PERMANENT, "400"),
    ],
)
async def test_errors_are_told_apart(
    channel: ChannelCalls, twilio: Twilio, status: int, body: Any, outcome: Outcome, words: str
) -> None:
    twilio.next_reply(status, body)
    (sent,) = await deliver(channel, Answer("Hello"))
    assert sent.outcome is outcome
    assert words in sent.detail
    assert TOKEN not in sent.detail


async def test_waits_as_long_as_twilio_says(channel: ChannelCalls, twilio: Twilio) -> None:
    twilio.next_reply(429, {"code": 20429}, retry_after="11")
    (sent,) = await deliver(channel, Answer("Hello"))
    assert sent.retry_after == 11


async def test_a_connection_that_breaks_leaves_the_outcome_unknown(
    channel: ChannelCalls, twilio: Twilio
) -> None:
    twilio.drop()
    (sent,) = await deliver(channel, Answer("Hello"))
    assert (sent.outcome, sent.retry_after) == (Outcome.UNKNOWN, 20)


async def test_a_server_that_is_away_can_be_tried_again() -> None:
    async with client() as http:
        channel = ChannelCalls(build(dependencies(http, {"SMS_PROVIDER_API_URL": "http://127.0.0.1:1"})))
        (sent,) = await deliver(channel, Answer("Hello"))
    assert sent.outcome is Outcome.TRANSIENT


async def test_probing_reads_the_account(channel: ChannelCalls, twilio: Twilio) -> None:
    await channel.probe(CONFIG)
    with pytest.raises(PlatformError, match="Authenticate"):
        await channel.probe({**CONFIG, "authToken": "wrong"})
    twilio.next_reply(200, {"sid": ACCOUNT, "status": "suspended"})
    with pytest.raises(PlatformError, match="suspended"):
        await channel.probe(CONFIG)
    twilio.drop()
    twilio.drop()  # a reading request is tried twice by the client
    with pytest.raises(PlatformError, match="broke the connection"):
        await channel.probe(CONFIG)


async def test_media_of_twilio_are_fetched_with_the_credentials(
    channel: ChannelCalls, twilio: Twilio
) -> None:
    media = Attachment("picture.png", "image/png", {"url": f"{twilio.url}/media/ME1"})
    assert b"".join([piece async for piece in channel.fetch(CONFIG, media)]) == b"\x89PNG picture"
    assert twilio.seen[-1].headers["authorization"].startswith("Basic ")


@pytest.mark.parametrize(
    ("url", "is_twilio"),
    [
        ("https://api.twilio.com/x", True),
        ("https://mms.twilio.com/x", True),
        ("http://api.twilio.com/x", False),
        ("https://api.twilio.com.evil.example/x", False),
        ("https://eviltwilio.com/x", False),
    ],
)
async def test_the_credentials_go_to_twilio_alone(url: str, is_twilio: bool) -> None:
    seen: list[HttpRequest] = []

    class Recording:
        async def send(self, request: HttpRequest) -> HttpAnswer:
            raise NotImplementedError

        async def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
            seen.append(request)
            yield b""

    set_up: ChannelDependencies = dependencies(
        Recording(), {"SMS_PROVIDER_API_URL": "https://api.twilio.com"}
    )
    source = Attachment("x", "image/png", {"url": url})
    assert [piece async for piece in ChannelCalls(build(set_up)).fetch(CONFIG, source)] == [b""]
    assert ("authorization" in seen[0].headers) == is_twilio
    assert seen[0].user_address != is_twilio
