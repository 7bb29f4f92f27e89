"""Mail servers and the channel under test."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.channels.email import channel as channel_module
from adapters.outbound.channels.email import mailbox as mailbox_module
from adapters.outbound.channels.email.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import dependencies
from ports.http import Http
from tests.support.mail import (
    PASSWORD,
    USER,
    Certificate,
    Mailbox,
    Postbox,
    imap_server,
    make_certificate,
    smtp_server,
)

NO_HTTP: Http = object()  # type: ignore[assignment]
"""The channel uses no HTTP."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers on a busy machine may take their time."""
    monkeypatch.setattr(channel_module, "PROBE_TIMEOUT", 120.0)
    monkeypatch.setattr(mailbox_module, "CONNECT_TIMEOUT", 120.0)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(Path(tmp_path_factory.mktemp("tls")))


@pytest.fixture(scope="module")
def imap() -> Iterator[Mailbox]:
    with imap_server() as server:
        yield server


@pytest.fixture
def mailbox(imap: Mailbox) -> Mailbox:
    imap.empty()
    return imap


@pytest.fixture
def smtp() -> Iterator[Postbox]:
    with smtp_server() as server:
        yield server


@pytest.fixture
def channel(certificate: Certificate) -> ChannelCalls:
    return ChannelCalls(build(dependencies(NO_HTTP), tls_contexts=certificate.client))


@pytest.fixture
def distrustful() -> ChannelCalls:
    """A channel that trusts only the system's authorities."""
    return ChannelCalls(build(dependencies(NO_HTTP)))


def settings(**changes: Any) -> dict[str, Any]:
    """A configuration for servers on the loopback."""
    return {
        "smtpHost": "127.0.0.1",
        "smtpPort": 1,
        "imapHost": "127.0.0.1",
        "imapPort": 1,
        "username": USER,
        "password": PASSWORD,
        "fromEmail": USER,
        **changes,
    }


def mail(
    text: str = "Hello",
    message_id: str = "one@client.example",
    sender: str = "Ann <ann@client.example>",
    subject: str = "Question",
    **headers: str,
) -> bytes:
    """A plain mail; further headers with underscores for dashes."""
    fields = {
        "From": sender,
        "To": USER,
        "Subject": subject,
        "Date": "Fri, 20 Nov 2026 12:00:00 +0000",
        **({"Message-ID": f"<{message_id}>"} if message_id else {}),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{head}\r\n{text}\r\n".encode()
