"""What the contract suite needs of this channel."""

from dataclasses import replace
from functools import partial

from adapters.outbound.channels.email.config import CONFIG as MODEL
from adapters.outbound.channels.email.polling import THREAD_LIMIT, event_of
from adapters.outbound.channels.tests.sample import Opening, Reply, Sample
from adapters.outbound.mail.guards import REASONS, reason_not_to_answer
from adapters.outbound.mail.mime import read_mail
from adapters.outbound.mail.tests.mails import headers_of
from domain.channels.messages import Event

CONFIG = {
    "smtpHost": "smtp.example.com",
    "smtpPort": 587,
    "imapHost": "imap.example.com",
    "imapPort": 993,
    "username": "agent@example.com",
    "password": "an-app-password",
    "fromEmail": "agent@example.com",
}
THREAD = "<switchboard.thread.3aa9057a56bb3857523984e402990a6833afdf1f@example.com>"


def answer_in(thread: str) -> Event:
    """The event of an answer to a mail of the thread."""
    written = f"From: ann@client.example\r\nReferences: {thread} <switchboard.1@example.com>\r\n\r\nYes\r\n"
    return event_of(MODEL.load(CONFIG), read_mail(written.encode()), {"uidValidity": 7, "uid": 12})


QUOTING = "Is it?\n\nOn Fri, Nov 20, 2026 at 9:00 AM Bob <bob@client.example> wrote:\n> It is hot.\n"


def replied() -> Event:
    """The event of an answer that quotes what it answers."""
    written = f"From: ann@client.example\nIn-Reply-To: <1@example.com>\n\n{QUOTING}"
    return event_of(MODEL.load(CONFIG), read_mail(written.encode()), {"uidValidity": 7, "uid": 12})


def not_answered(reason: str) -> Event:
    """The event of a mail that is not answered."""
    fields = "".join(
        f"{name}: {value}\r\n" for name, value in headers_of(reason, CONFIG["fromEmail"]).items()
    )
    mail = read_mail(f"{fields}\r\nNews\r\n".encode())
    found = reason_not_to_answer(mail.headers, str(CONFIG["fromEmail"]))
    return replace(
        event_of(MODEL.load(CONFIG), mail, {"uidValidity": 7, "uid": 12}), refused=found or THREAD_LIMIT
    )


SAMPLE = Sample(
    fields=(
        "smtpHost string R, smtpPort number R, smtpSecure boolean, imapHost string R, "
        "imapPort number R, imapSecure boolean, username string R, password string R, "
        "fromEmail string R, checkInterval number, since string, identifyUsers boolean, accessMode string, "
        "sharedThreads boolean, answerLists boolean, answerAutomatic boolean, answerNoReply boolean"
    ),
    config=CONFIG,
    target={
        "to": "ann@client.example",
        "name": "Ann",
        "subject": "Hours",
        "inReplyTo": "<1@client.example>",
        "references": ["<1@client.example>"],
    },
    shown=lambda part: str(part.payload["plain"]),
    over_http=False,
    openings=(
        Opening("ann@client.example", THREAD, subject="Hours", answered=partial(answer_in, THREAD)),
        Opening("Ann@client.example", THREAD, subject="Hours"),
    ),
    no_addresses=(
        "ann",
        "Ann <ann@client.example>",
        "ann@client.example,bob@client.example",
        "ann@",
        "@example.com",
    ),
    refused={reason: partial(not_answered, reason) for reason in (*REASONS, THREAD_LIMIT)},
    replies=(Reply(replied, "It is hot.", "bob@client.example"),),
)
