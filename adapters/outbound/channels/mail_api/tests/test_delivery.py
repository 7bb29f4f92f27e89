"""Replies through Gmail."""

import pytest

from adapters.outbound.channels.tests.calls import ChannelCalls
from domain.channels.answers import Answer, Artifact
from domain.channels.messages import Outcome, Sent
from ports.capabilities import PlatformError
from tests.support.platforms.gmail import ADDRESS, CLIENT, Gmail

TARGET = {
    "to": "ann@client.example",
    "name": "Ann",
    "subject": "Question",
    "inReplyTo": "<q@client.example>",
    "references": ["<q@client.example>"],
    "threadId": "thread-1",
    "from": ADDRESS,
}


async def deliver(channel: ChannelCalls, **changes: object) -> Sent:
    target = {**TARGET, **changes}
    file = Artifact("r.pdf", "application/pdf", "https://files.example/r.pdf")
    (message,) = channel.render(CLIENT, target, Answer("**Hi** there €", (file,)))
    return await channel.send(CLIENT, target, message, "key")


async def test_a_reply_goes_into_its_thread(channel: ChannelCalls, gmail: Gmail) -> None:
    sent = await deliver(channel)
    assert (sent.outcome, sent.ref) == (Outcome.SENT, "sent-1")
    ((thread, mail),) = gmail.sent
    assert thread == "thread-1"
    assert mail["Subject"] == "Re: Question"
    assert mail["To"] == "Ann <ann@client.example>"
    assert mail["In-Reply-To"] == mail["References"] == "<q@client.example>"
    assert mail["Auto-Submitted"] == "auto-replied"
    plain, html = (part.get_content() for part in mail.iter_parts())  # type: ignore[attr-defined]
    assert "there €" in plain
    assert "https://files.example/r.pdf" in plain
    assert "<strong>Hi</strong>" in html


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (429, {"error": {"message": "slow"}}, Outcome.RETRY_AFTER),
        (403, {"error": {"errors": [{"reason": "rateLimitExceeded"}]}}, Outcome.RETRY_AFTER),
        (403, {"error": {"errors": [{"reason": "insufficientPermissions"}]}}, Outcome.PERMANENT),
        (400, {"error": {"message": "Invalid To header"}}, Outcome.PERMANENT),
        (500, None, Outcome.TRANSIENT),
    ],
)
async def test_gmails_answer_decides(
    channel: ChannelCalls, gmail: Gmail, status: int, body: object, outcome: Outcome
) -> None:
    await channel.probe(CLIENT)
    gmail.next_reply(status, body)
    assert (await deliver(channel)).outcome is outcome


async def test_a_break_after_sending_is_unknown(channel: ChannelCalls, gmail: Gmail) -> None:
    await channel.probe(CLIENT)
    gmail.drop()
    assert (await deliver(channel)).outcome is Outcome.UNKNOWN


async def test_revoked_credentials_are_permanent(channel: ChannelCalls, gmail: Gmail) -> None:
    gmail.grant_error = "invalid_grant"
    assert (await deliver(channel)).outcome is Outcome.PERMANENT
    with pytest.raises(PlatformError, match="invalid_grant"):
        await channel.probe(CLIENT)


async def test_probing_notices_a_token_that_may_not_send(channel: ChannelCalls, gmail: Gmail) -> None:
    gmail.scope = "https://www.googleapis.com/auth/gmail.readonly"
    with pytest.raises(PlatformError, match=r"gmail\.send"):
        await channel.probe(CLIENT)


async def test_probing_takes_a_token_that_may_send(channel: ChannelCalls, gmail: Gmail) -> None:
    gmail.scope = "https://www.googleapis.com/auth/gmail.readonly https://www.googleapis.com/auth/gmail.send"
    await channel.probe(CLIENT)


async def test_no_address_is_permanent(channel: ChannelCalls, gmail: Gmail) -> None:
    assert (await deliver(channel, to="")).outcome is Outcome.PERMANENT
    assert gmail.sent == []


async def test_a_mail_that_begins_a_thread_comes_from_the_mailbox(
    channel: ChannelCalls, gmail: Gmail
) -> None:
    session_id, target = await channel.open(CLIENT, "ann@client.example", "Hours")
    (message,) = channel.render(CLIENT, target, Answer("We are open."))
    sent = await channel.send(CLIENT, target, message, "key")
    assert sent.outcome is Outcome.SENT
    ((thread, mail),) = gmail.sent
    assert thread is None
    assert (mail["From"], mail["To"], mail["Subject"]) == (ADDRESS, "ann@client.example", "Hours")
    assert mail["References"] == session_id
    assert mail["In-Reply-To"] is None
    assert mail["Auto-Submitted"] == "auto-generated"


async def test_a_mailbox_that_does_not_tell_its_address_is_asked_again(
    channel: ChannelCalls, gmail: Gmail
) -> None:
    await channel.probe(CLIENT)
    _, target = await channel.open(CLIENT, "ann@client.example", "Hours")
    (message,) = channel.render(CLIENT, target, Answer("We are open."))
    gmail.next_reply(500)
    sent = await channel.send(CLIENT, target, message, "key")
    assert sent.outcome is Outcome.TRANSIENT
    assert gmail.sent == []
