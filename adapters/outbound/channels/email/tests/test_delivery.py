"""Replies against a real SMTP server."""

from typing import Any

import pytest

from adapters.outbound.channels.email.tests.conftest import settings
from adapters.outbound.channels.tests.calls import ChannelCalls
from domain.channels.answers import Answer, Artifact
from domain.channels.messages import Outcome, Sent
from tests.support.mail import USER, Certificate, Postbox, smtp_server

TARGET = {
    "to": "ann@client.example",
    "name": "Ann Äpfel",
    "subject": "Question",
    "inReplyTo": "<two@client.example>",
    "references": ["<one@client.example>", "<two@client.example>"],
}


async def deliver(
    channel: ChannelCalls,
    postbox: Postbox,
    target: dict[str, Any] | None = None,
    text: str = "Hi",
    **changes: Any,
) -> Sent:
    config = settings(smtpPort=postbox.port, **changes)
    to = TARGET if target is None else target
    (message,) = channel.render(config, to, Answer(text))
    return await channel.send(config, to, message, "key-1")


async def test_a_reply_stays_in_its_thread_and_says_that_it_is_automatic(
    channel: ChannelCalls, smtp: Postbox
) -> None:
    sent = await deliver(channel, smtp)
    assert sent.outcome is Outcome.SENT
    (mail,) = smtp.mails
    assert mail["Subject"] == "Re: Question"
    assert mail["To"] == "Ann Äpfel <ann@client.example>"
    assert mail["From"] == USER
    assert mail["In-Reply-To"] == "<two@client.example>"
    assert mail["References"] == "<one@client.example> <two@client.example>"
    assert mail["Auto-Submitted"] == "auto-replied"
    assert mail["Message-ID"] == sent.ref
    assert mail["Date"] == "Fri, 20 Nov 2026 12:00:00 +0000"
    assert smtp.envelopes[0].rcpt_tos == ["ann@client.example"]


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Question", "Re: Question"),
        ("Re: Question", "Re: Question"),
        ("RE: Question", "Re: Question"),
        ("re[2]: Question", "Re: Question"),
        ("Re: RE:re : Question", "Re: Question"),
        ("Reading: a question", "Re: Reading: a question"),
        ("", "Re:"),
        ("Über\r\nBcc: x@evil.example", "Re: Über Bcc: x@evil.example"),
    ],
)
async def test_re_stands_once_before_the_subject(
    channel: ChannelCalls, smtp: Postbox, subject: str, expected: str
) -> None:
    await deliver(channel, smtp, {**TARGET, "subject": subject})
    assert smtp.mails[0]["Subject"] == expected
    assert smtp.mails[0]["Bcc"] is None


async def test_the_text_has_an_html_alternative_and_files_are_links(
    channel: ChannelCalls, smtp: Postbox
) -> None:
    config = settings(smtpPort=smtp.port)
    file = Artifact("q3 <report>.pdf", "application/pdf", "https://files.example/a?b=1&c=2")
    (message,) = channel.render(config, TARGET, Answer("**Bold** <script>alert(1)</script> café", (file,)))
    await channel.send(config, TARGET, message, "key")
    mail = smtp.mails[0]
    plain, html = (part.get_content() for part in mail.iter_parts())  # type: ignore[attr-defined]
    assert mail.get_content_type() == "multipart/alternative"
    assert "café" in plain
    assert "q3 <report>.pdf (https://files.example/a?b=1&c=2)" in plain
    assert "<strong>Bold</strong> &lt;script&gt;" in html
    assert '<a href="https://files.example/a?b=1&amp;c=2">q3 &lt;report&gt;.pdf</a>' in html


def test_nothing_to_say_is_no_mail(channel: ChannelCalls) -> None:
    assert channel.render(settings(), TARGET, Answer("  ")) == []


async def test_a_second_try_bears_the_same_message_id(channel: ChannelCalls, smtp: Postbox) -> None:
    one, other = await deliver(channel, smtp), await deliver(channel, smtp)
    assert one.ref == other.ref
    config = settings(smtpPort=smtp.port)
    (message,) = channel.render(config, TARGET, Answer("Hi"))
    assert (await channel.send(config, TARGET, message, "key-2")).ref != one.ref


@pytest.mark.parametrize(
    ("command", "answer", "outcome", "of_recipient"),
    [
        ("RCPT", "550 5.1.1 no such user", Outcome.PERMANENT, True),
        ("RCPT", "550 no such user here", Outcome.PERMANENT, True),
        ("RCPT", "550 5.7.1 relaying denied", Outcome.PERMANENT, False),
        ("RCPT", "554 Relay access denied", Outcome.PERMANENT, False),
        ("RCPT", "451 4.7.1 greylisted", Outcome.RETRY_AFTER, False),
        ("RCPT", "452 4.2.2 mailbox full", Outcome.TRANSIENT, True),
        ("MAIL", "421 4.3.2 shutting down", Outcome.TRANSIENT, False),
        ("DATA", "554 5.7.1 spam", Outcome.PERMANENT, False),
        ("DATA", "450 4.2.1 try later", Outcome.RETRY_AFTER, False),
        ("DATA", "drop", Outcome.UNKNOWN, False),
    ],
)
async def test_the_servers_answer_decides_what_happens_next(
    channel: ChannelCalls, smtp: Postbox, command: str, answer: str, outcome: Outcome, of_recipient: bool
) -> None:
    smtp.answers[command] = answer
    sent = await deliver(channel, smtp)
    assert (sent.outcome, sent.of_recipient) == (outcome, of_recipient)
    assert answer == "drop" or answer[:3] in sent.detail
    assert smtp.mails == []


async def test_a_wrong_password_is_permanent_and_not_told(channel: ChannelCalls, smtp: Postbox) -> None:
    sent = await deliver(channel, smtp, password="hunter2-wrong")
    assert sent.outcome is Outcome.PERMANENT
    assert "hunter2" not in sent.detail


async def test_nobody_listening_is_transient(channel: ChannelCalls) -> None:
    assert (await deliver(channel, Postbox(port=1))).outcome is Outcome.TRANSIENT


async def test_a_forbidden_address_is_permanent(channel: ChannelCalls) -> None:
    sent = await deliver(channel, Postbox(port=1), smtpHost="169.254.169.254")
    assert (sent.outcome, "outbound address policy" in sent.detail) == (Outcome.PERMANENT, True)


@pytest.mark.parametrize("to", ["", "no-at-sign", "a@b\r\nBcc: c@d", "a@b, c@d"])
async def test_what_is_no_address_is_permanent(channel: ChannelCalls, smtp: Postbox, to: str) -> None:
    assert (await deliver(channel, smtp, {**TARGET, "to": to})).outcome is Outcome.PERMANENT
    assert smtp.mails == []


async def test_starttls_protects_password_and_mail(
    channel: ChannelCalls, distrustful: ChannelCalls, certificate: Certificate
) -> None:
    with smtp_server(certificate) as secured:
        assert (await deliver(channel, secured)).outcome is Outcome.SENT
        assert secured.secured == [True]
        refused = await deliver(distrustful, secured)
        assert (refused.outcome, "TLS with" in refused.detail) == (Outcome.TRANSIENT, True)


async def test_tls_from_the_start(channel: ChannelCalls, certificate: Certificate) -> None:
    with smtp_server(certificate, implicit=True, auth=False) as secured:
        sent = await deliver(channel, secured, smtpSecure=True, username="", password="")
    assert sent.outcome is Outcome.SENT
    assert len(secured.mails) == 1


async def test_the_server_name_is_checked_against_the_certificate(
    channel: ChannelCalls, certificate: Certificate
) -> None:
    with smtp_server(certificate, implicit=True, auth=False) as secured:
        sent = await deliver(channel, secured, smtpSecure=True, smtpHost="127.0.0.2")
    assert sent.outcome is Outcome.TRANSIENT
    assert secured.mails == []
