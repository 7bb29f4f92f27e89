"""What the contract suite needs of this channel."""

from __future__ import annotations

from adapters.outbound.channels.tests.sample import Sample
from domain.channels.messages import Attachment
from ports.http import HttpAnswer
from tests.support.platforms.gmail import ADDRESS, CLIENT

SAMPLE = Sample(
    fields=(
        "clientId string R, clientSecret string R, refreshToken string R, redirectUri string, "
        "checkInterval number, identifyUsers boolean, accessMode string"
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
)
