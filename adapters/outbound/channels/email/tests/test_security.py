"""A port that speaks TLS where the configuration says plain text, or the other way round, is named as the cause."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import EmailMessage

import pytest

from adapters.outbound.channels.email.tests.conftest import settings
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW
from adapters.outbound.mail import smtp as connections
from adapters.outbound.mail.smtp import Security, SmtpServer, Submission, plain_text_message
from adapters.outbound.net.addresses import AddressPolicy, AllowedAddresses
from domain.channels.answers import Answer
from domain.channels.messages import Outcome, Sent
from ports.capabilities import PlatformError, PollFailed
from tests.support.mail import Certificate, Mailbox, Postbox, smtp_server
from tests.support.servers import listening

TARGET = {
    "to": "ann@client.example",
    "name": "Ann",
    "subject": "Hours",
    "inReplyTo": "<1@client.example>",
    "references": [],
}
SLOW = 28.0
"""Seconds that nothing here may take: who waits until the time is up waits for 30 at least."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS is tried soon, and may take its time on a busy machine."""
    monkeypatch.setattr(connections, "GREETING_TIMEOUT", 0.3)
    monkeypatch.setattr(connections, "HANDSHAKE_TIMEOUT", 60.0)


@asynccontextmanager
async def tls_port(certificate: Certificate) -> AsyncIterator[int]:
    """A server with TLS from the start, which greets once there is TLS."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):  # who only asks whether there is TLS hangs up
            writer.write(b"* OK ready\r\n")
            await reader.read()
        writer.close()

    async with listening(serve, certificate.server()) as port:
        yield port


@asynccontextmanager
async def plain_port(greeting: bytes, after: float = 0.0) -> AsyncIterator[int]:
    """A server that speaks in plain text, after a while."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await asyncio.sleep(after)
            writer.write(greeting)
            await reader.read()
        writer.close()

    async with listening(serve) as port:
        yield port


async def sent(channel: ChannelCalls, **changes: object) -> Sent:
    config = settings(**changes)
    part = channel.render(config, TARGET, Answer("Hello"))[0]
    return await channel.send(config, TARGET, part, "key")


@pytest.mark.parametrize("secure", [False, None])
async def test_a_mailbox_on_a_tls_port_says_so_at_once(
    channel: ChannelCalls, certificate: Certificate, secure: bool | None
) -> None:
    began = time.monotonic()
    async with tls_port(certificate) as port:
        config = settings(imapPort=port, imapSecure=secure)
        words = rf"did not greet .*127\.0\.0\.1:{port} expects TLS from the start; set imapSecure to true"
        with pytest.raises(PollFailed, match=words):
            await channel.poll(config, None, NOW, NOW)
        with pytest.raises(PlatformError, match=f"^IMAP: .*{words}"):
            await channel.probe(config)
    assert time.monotonic() - began < SLOW


async def test_a_mail_server_on_a_tls_port_says_so_at_once(
    channel: ChannelCalls, certificate: Certificate, mailbox: Mailbox
) -> None:
    began = time.monotonic()
    with smtp_server(certificate, implicit=True) as secured:
        failed = await sent(channel, smtpPort=secured.port, smtpSecure=False)
        assert failed.outcome is Outcome.TRANSIENT
        assert f"127.0.0.1:{secured.port} expects TLS from the start; set smtpSecure to true" in failed.detail
        with pytest.raises(PlatformError, match=r"^SMTP: .*set smtpSecure to true"):
            await channel.probe(settings(imapPort=mailbox.port, smtpPort=secured.port))
    assert time.monotonic() - began < SLOW


async def test_a_mailbox_in_plain_text_says_so_at_once(channel: ChannelCalls, mailbox: Mailbox) -> None:
    began = time.monotonic()
    config = settings(imapPort=mailbox.port, imapSecure=True)
    words = rf"127\.0\.0\.1:{mailbox.port} answered in plain text, not in TLS: set imapSecure to false"
    with pytest.raises(PollFailed, match=words):
        await channel.poll(config, None, NOW, NOW)
    with pytest.raises(PlatformError, match=f"^IMAP: {words}"):
        await channel.probe(config)
    assert time.monotonic() - began < SLOW


async def test_a_mail_server_in_plain_text_says_so_at_once(channel: ChannelCalls, smtp: Postbox) -> None:
    began = time.monotonic()
    failed = await sent(channel, smtpPort=smtp.port, smtpSecure=True)
    assert failed.outcome is Outcome.TRANSIENT
    words = f"127.0.0.1:{smtp.port} answered in plain text, not in TLS: set smtpSecure to false"
    assert words in failed.detail
    assert time.monotonic() - began < SLOW


@pytest.mark.parametrize(
    "text", [b"* OK IMAP ready\r\n", b"220 mail ESMTP\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"]
)
async def test_any_text_instead_of_tls_is_recognised(channel: ChannelCalls, text: bytes) -> None:
    async with plain_port(text) as port:
        with pytest.raises(PollFailed, match="answered in plain text"):
            await channel.poll(settings(imapPort=port, imapSecure=True), None, NOW, NOW)
        assert "answered in plain text" in (await sent(channel, smtpPort=port, smtpSecure=True)).detail


async def test_a_server_that_greets_late_is_waited_for(channel: ChannelCalls) -> None:
    """Servers delay their greeting to find out who does not wait; TLS tried on them gets no answer in TLS."""
    async with plain_port(b"554 go away\r\n", after=1.5) as port:
        failed = await sent(channel, smtpPort=port)
        assert "554 go away" in failed.detail


async def test_a_tls_server_that_serves_one_after_another_is_recognised(
    channel: ChannelCalls, certificate: Certificate
) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    context = certificate.server()

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    context.wrap_socket(connection, server_side=True).close()

    serving = asyncio.create_task(asyncio.to_thread(serve))
    with pytest.raises(PollFailed, match="set imapSecure to true"):
        await channel.poll(settings(imapPort=port, imapSecure=False), None, NOW, NOW)
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    await serving


async def test_a_wrong_certificate_is_not_taken_for_plain_text(
    distrustful: ChannelCalls, certificate: Certificate
) -> None:
    async with tls_port(certificate) as port:
        with pytest.raises(PollFailed, match=r"TLS with .* failed"):
            await distrustful.poll(settings(imapPort=port, imapSecure=True), None, NOW, NOW)


async def test_the_operators_server_names_its_setting(certificate: Certificate) -> None:
    with smtp_server(certificate, implicit=True) as secured:
        server = SmtpServer("127.0.0.1", secured.port, Security.OPPORTUNISTIC, tls_field="SMTP_SECURE")
        with pytest.raises(connections.WrongSecurity, match="set SMTP_SECURE to true"):
            await Submission(AllowedAddresses(AddressPolicy())).try_login(server)


async def test_a_demand_for_starttls_that_is_not_offered_names_its_field(smtp: Postbox) -> None:
    server = SmtpServer("127.0.0.1", smtp.port, Security.STARTTLS)
    message = await _submitted(server)
    assert "does not offer STARTTLS; set smtpSecure to false" in message


async def _submitted(server: SmtpServer) -> str:
    mail = EmailMessage()
    mail["From"], mail["To"] = "a@b.example", "c@d.example"
    done = await Submission(AllowedAddresses(AddressPolicy())).submit(
        server, mail, "a@b.example", "c@d.example"
    )
    assert done.outcome is Outcome.TRANSIENT
    return done.detail


@pytest.mark.parametrize(("port", "words"), [(993, "give another port"), (1993, "set imapSecure to false")])
def test_the_port_for_tls_cannot_be_plain(port: int, words: str) -> None:
    assert words in plain_text_message(f"mail.example:{port}", "imapSecure", 993)
