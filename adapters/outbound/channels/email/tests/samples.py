"""What the contract suite needs of this channel."""

from __future__ import annotations

from tests.support.channel_samples import Sample

SAMPLE = Sample(
    config={
        "smtpHost": "smtp.example.com",
        "smtpPort": 587,
        "imapHost": "imap.example.com",
        "imapPort": 993,
        "username": "agent@example.com",
        "password": "an-app-password",
        "fromEmail": "agent@example.com",
    },
    target={
        "to": "ann@client.example",
        "name": "Ann",
        "subject": "Hours",
        "inReplyTo": "<1@client.example>",
        "references": ["<1@client.example>"],
    },
    shown=lambda part: str(part.payload["plain"]),
    over_http=False,
)
