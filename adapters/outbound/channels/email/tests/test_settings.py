"""Which protection a configuration asks for."""

import pytest

from adapters.outbound.channels.email.config import CONFIG
from adapters.outbound.channels.email.tests.conftest import settings
from adapters.outbound.mail.smtp import Security


@pytest.mark.parametrize(
    ("port", "secure", "expected"),
    [
        (993, None, Security.IMPLICIT),
        (993, False, Security.IMPLICIT),
        (143, None, Security.OPPORTUNISTIC),
        (143, False, Security.OPPORTUNISTIC),
        (143, True, Security.STARTTLS),
        (1143, True, Security.IMPLICIT),
        (1143, None, Security.OPPORTUNISTIC),
    ],
)
def test_imap(port: int, secure: bool | None, expected: Security) -> None:
    assert CONFIG.load(settings(imapPort=port, imapSecure=secure)).imap_security is expected


@pytest.mark.parametrize(
    ("port", "secure", "expected"),
    [
        (465, None, Security.IMPLICIT),
        (465, False, Security.IMPLICIT),
        (587, None, Security.STARTTLS),
        (587, True, Security.STARTTLS),
        (587, False, Security.OPPORTUNISTIC),
        (2525, True, Security.IMPLICIT),
        (2525, None, Security.OPPORTUNISTIC),
    ],
)
def test_smtp(port: int, secure: bool | None, expected: Security) -> None:
    assert CONFIG.load(settings(smtpPort=port, smtpSecure=secure)).smtp_security is expected


def test_own_domains_are_those_of_mailbox_and_servers() -> None:
    config = settings(imapHost="imap.Provider.example", authservId="mx.other.example")
    assert CONFIG.load(config).own_domains == (
        "example.com",
        "example.com",
        "provider.example",
        "imap.provider.example",
        "mx.other.example",
    )
