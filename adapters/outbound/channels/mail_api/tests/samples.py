"""What the contract suite needs of this channel."""

import base64
from collections.abc import Mapping
from functools import partial
from typing import Any

from adapters.outbound.channels.mail_api.config import CONFIG
from adapters.outbound.channels.mail_api.gmail import event_of, message_of
from adapters.outbound.channels.tests.sample import Opening, Reply, Sample
from adapters.outbound.channels.tests.support import refusal
from adapters.outbound.mail.guards import REASONS
from adapters.outbound.mail.tests.mails import headers_of
from domain.channels.messages import Attachment, Event
from ports.http import HttpAnswer
from tests.support.platforms.gmail import ADDRESS, CLIENT

THREAD = "<switchboard.thread.89969000720dbc9dc69394a20354817645a49e10@mail.gmail.com>"


def answer_in(thread: str) -> Event:
    """The event of an answer to a mail of the thread, which is in a thread of Gmail's too."""
    headers = {"From": "ann@client.example", "References": f"{thread} <switchboard.1@mail.gmail.com>"}
    fields = [{"name": name, "value": value} for name, value in headers.items()]
    return read({"id": "m", "threadId": "t", "payload": {"headers": fields}})


def read(message: Mapping[str, Any]) -> Event:
    return event_of(CONFIG.load(CLIENT), message, message_of(message), ADDRESS)


def not_answered(reason: str) -> Event:
    """The event of a mail that is not answered."""
    fields = [{"name": name, "value": value} for name, value in headers_of(reason, ADDRESS).items()]
    body = {"data": base64.urlsafe_b64encode(b"News").decode()}
    message = {"id": reason, "payload": {"headers": fields, "mimeType": "text/plain", "body": body}}
    return read(message)


QUOTING = "Is it?\n\nOn Fri, Nov 20, 2026 at 9:00 AM Bob <bob@client.example> wrote:\n> It is hot.\n"


def replied() -> Event:
    """The event of an answer that quotes what it answers."""
    headers = {"From": "ann@client.example", "In-Reply-To": "<1@example.com>"}
    fields = [{"name": name, "value": value} for name, value in headers.items()]
    body = {"data": base64.urlsafe_b64encode(QUOTING.encode()).decode()}
    message = {"id": "m", "payload": {"headers": fields, "mimeType": "text/plain", "body": body}}
    return read(message)


SAMPLE = Sample(
    fields=(
        "clientId string R, clientSecret string R, refreshToken string R, redirectUri string, "
        "checkInterval number, identifyUsers boolean, accessMode string, "
        "sharedThreads boolean, answerLists boolean, answerAutomatic boolean, answerNoReply boolean"
    ),
    attachment=Attachment("a.png", "image/png", {"messageId": "m1", "attachmentId": "f1"}),
    config=CLIENT,
    target={
        "from": ADDRESS,
        "threadId": "thread-1",
        "to": "ann@client.example",
        "name": "Ann",
        "subject": "Hours",
        "inReplyTo": "<1@client.example>",
        "references": ["<1@client.example>"],
    },
    addresses={
        "MAIL_API_URL": "https://gmail.googleapis.com",
        "GOOGLE_TOKEN_URL": "https://oauth2.googleapis.com/token",
    },
    shown=lambda part: str(part.payload["plain"]),
    prelude=[HttpAnswer(200, {}, b'{"access_token": "t", "expires_in": 3600}')],
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
    replies=(Reply(replied, "It is hot.", "bob@client.example"),),
    refused={reason: partial(not_answered, reason) for reason in REASONS},
    of_recipient=[refusal(400, error={"code": 400, "message": "Invalid To header"})],
)
