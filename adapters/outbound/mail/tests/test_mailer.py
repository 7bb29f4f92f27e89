"""Verification mail as a server gets it."""

import asyncio
import gc
from collections.abc import Iterator
from email.message import EmailMessage

import pytest

from adapters.outbound.mail.mailer import SmtpMailer
from adapters.outbound.mail.smtp import Security, SmtpServer, Submission
from adapters.outbound.net.addresses import AddressPolicy, AllowedAddresses
from adapters.outbound.system.clock import RandomIds, SystemClock
from ports.access import MailFailed
from tests.support.mail import Postbox, smtp_server
from tests.support.servers import listening


@pytest.fixture(scope="module")
def postbox() -> Iterator[Postbox]:
    with smtp_server(auth=False) as server:
        yield server


def mailer(postbox: Postbox, sender: str = "verify@example.com") -> SmtpMailer:
    server = SmtpServer("127.0.0.1", postbox.port, Security.OPPORTUNISTIC)
    return SmtpMailer(
        Submission(AllowedAddresses(AddressPolicy())), server, sender, SystemClock(), RandomIds()
    )


async def test_an_address_beyond_ascii_gets_its_mail(postbox: Postbox) -> None:
    await mailer(postbox).send("jörg@example.com", "Code", "123456")
    assert postbox.envelopes[-1].rcpt_tos == ["jörg@example.com"]
    assert "To: jörg@example.com\r\n".encode() in postbox.envelopes[-1].content


async def test_the_sender_may_bear_a_name(postbox: Postbox) -> None:
    await mailer(postbox, "Workshop <verify@example.com>").send("ann@example.com", "Code", "123456")
    assert postbox.envelopes[-1].mail_from == "verify@example.com"
    assert postbox.mails[-1]["From"] == "Workshop <verify@example.com>"
    assert postbox.mails[-1]["Message-ID"].endswith("@example.com>")


@pytest.mark.parametrize("sender", ["no address", "Workshop <>", "a@b..example"])
async def test_a_sender_that_is_none_is_not_laid_to_the_recipient(postbox: Postbox, sender: str) -> None:
    with pytest.raises(MailFailed) as failure:
        await mailer(postbox, sender).send("ann@example.com", "Code", "123456")
    assert not failure.value.refused


async def test_a_mail_that_is_cancelled_at_the_farewell_leaves_no_connection() -> None:
    leaving = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 ready\r\n")
        while line := await reader.readline():
            if line.startswith(b"QUIT"):
                leaving.set()
            elif line.startswith(b"DATA"):
                writer.write(b"354 go on\r\n")
                await reader.readuntil(b"\r\n.\r\n")
                writer.write(b"250 taken\r\n")
            else:
                writer.write(b"250 fine\r\n")
        writer.close()

    async with listening(serve) as port:
        server = SmtpServer("127.0.0.1", port, Security.OPPORTUNISTIC)
        submission = Submission(AllowedAddresses(AddressPolicy()))
        message = EmailMessage()
        sending = asyncio.create_task(submission.submit(server, message, "a@x.example", "b@x.example"))
        await leaving.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        del sending
        gc.collect()  # an open connection is a ResourceWarning now
