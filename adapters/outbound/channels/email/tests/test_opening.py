"""Mail that begins a thread, and its answers, over real servers."""

from datetime import timedelta

import pytest

from adapters.outbound.channels.email.tests.conftest import mail, settings
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW
from domain.channels.answers import Answer
from domain.channels.messages import Event, Sent
from domain.refusals import Invalid
from tests.support.mail import USER, Mailbox, Postbox

TO = "ann@client.example"


async def send(
    channel: ChannelCalls, smtp: Postbox, text: str, subject: str = "", key: str = "key-1", to: str = TO
) -> tuple[str, Sent]:
    """The session id, and how sending ended."""
    config = settings(smtpPort=smtp.port)
    session_id, target = await channel.open(config, to, subject)
    (message,) = channel.render(config, target, Answer(text))
    return session_id, await channel.send(config, target, message, key)


async def answered(channel: ChannelCalls, mailbox: Mailbox, **headers: str) -> Event:
    """The event of a mail of the person's."""
    mailbox.put(mail("Yes", "answer@client.example", subject="Re: Hours", **headers))
    (event,) = (
        await channel.poll(settings(imapPort=mailbox.port), None, NOW, NOW - timedelta(days=1))
    ).events
    return event


async def test_an_answer_continues_the_thread_that_a_mail_began(
    channel: ChannelCalls, smtp: Postbox, mailbox: Mailbox
) -> None:
    session_id, sent = await send(channel, smtp, "We are open.", "Hours")
    (written,) = smtp.mails
    assert (written["Subject"], written["To"], written["From"]) == ("Hours", TO, USER)
    assert written["Auto-Submitted"] == "auto-generated"
    assert written["In-Reply-To"] is None
    assert written["Message-ID"] == sent.ref != session_id
    references = f"{written['References']} {written['Message-ID']}"
    event = await answered(channel, mailbox, In_Reply_To=sent.ref, References=references)
    assert event.session_id == session_id
    assert event.target["references"] == (session_id, sent.ref, "<answer@client.example>")


async def test_an_answer_that_names_only_the_mail_continues_its_thread_too(
    channel: ChannelCalls, smtp: Postbox, mailbox: Mailbox
) -> None:
    session_id, sent = await send(channel, smtp, "We are open.", "Hours")
    event = await answered(channel, mailbox, In_Reply_To=sent.ref)
    assert event.session_id == session_id


async def test_each_mail_of_a_thread_has_an_id_of_its_own(channel: ChannelCalls, smtp: Postbox) -> None:
    first, one = await send(channel, smtp, "Monday", "Report", "key-1")
    second, two = await send(channel, smtp, "Tuesday", "Report", "key-2")
    other, _ = await send(channel, smtp, "Wednesday", "Another subject", "key-3")
    assert first == second != other
    assert one.ref != two.ref


async def test_without_a_subject_the_text_begins_the_mail(channel: ChannelCalls, smtp: Postbox) -> None:
    await send(channel, smtp, "We are **open**.\n\nCome in.")
    await send(channel, smtp, "word " * 100, key="key-2")
    subjects = [str(written["Subject"]) for written in smtp.mails]
    assert subjects[0] == "We are open."
    assert subjects[1].startswith("word word")
    assert len(subjects[1]) <= 200


async def test_the_id_of_a_thread_cannot_be_guessed(channel: ChannelCalls) -> None:
    own, _ = await channel.open(settings(), TO, "Hours")
    others, _ = await channel.open(settings(password="another"), TO, "Hours")
    assert own != others


@pytest.mark.parametrize(
    "subject", ["Hours\r\nBcc: bob@client.example", "a\nb", "a\x00b", "x" * 201, "\x1b[0m"]
)
async def test_a_subject_that_is_no_line_is_refused(channel: ChannelCalls, subject: str) -> None:
    with pytest.raises(Invalid) as refused:
        await channel.open(settings(), TO, subject)
    assert [fault.field for fault in refused.value.faults] == ["subject"]
