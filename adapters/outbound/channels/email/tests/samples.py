"""What the contract suite needs of this channel."""

from __future__ import annotations

from adapters.outbound.channels.tests.sample import Sample

SAMPLE = Sample(
    fields=(
        "smtpHost string R, smtpPort number R, smtpSecure boolean, imapHost string R, "
        "imapPort number R, imapSecure boolean, username string R, password string R, "
        "fromEmail string R, checkInterval number, identifyUsers boolean, accessMode string"
    ),
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
