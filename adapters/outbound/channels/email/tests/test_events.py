"""Recorded mails as events."""

from pathlib import Path

from adapters.outbound.channels.email.config import CONFIG
from adapters.outbound.channels.email.polling import event_of
from adapters.outbound.channels.email.tests.conftest import settings
from adapters.outbound.mail.mime import read_mail
from domain.channels.messages import Event, Identity

FIXTURES = Path(__file__).parent.parent / "fixtures"


def event(name: str) -> Event:
    return event_of(
        CONFIG.load(settings()), read_mail((FIXTURES / name).read_bytes()), {"uidValidity": 7, "uid": 12}
    )


def test_a_reply() -> None:
    found = event("reply.eml")
    assert found.text == "Yes, please é €"
    assert found.session_id == "<order-1@client.example>"
    assert (found.sender.external_id, found.sender.display_name) == ("ann@client.example", "Ann Äpfel")
    assert found.sender.identities == (Identity("email", "ann@client.example"),)
    assert found.correspondent == "ann@client.example"
    assert found.target == {
        "to": "ann@client.example",
        "name": "Ann Äpfel",
        "subject": "Re: Order 4711",
        "inReplyTo": "<reply-2@client.example>",
        "references": (
            "<order-1@client.example>",
            "<switchboard.0a1b@example.com>",
            "<reply-2@client.example>",
        ),
    }


def test_html_with_a_file() -> None:
    found = event("html_with_file.eml")
    assert found.text == "Please read the report."
    assert found.sender.identities == ()
    (file,) = found.attachments
    assert (file.name, file.mime_type, file.size) == ("figures.csv", "text/csv", 8)
    assert file.source == {"uidValidity": 7, "uid": 12, "messageId": "<report-1@client.example>", "index": 0}


def test_a_mail_without_text_hands_on_its_subject() -> None:
    mail = read_mail(b"From: a@b.example\r\nSubject: Only this\r\nMessage-ID: <1@b>\r\n\r\n\r\n")
    assert event_of(CONFIG.load(settings()), mail, {"uidValidity": 1, "uid": 1}).text == "Only this"
