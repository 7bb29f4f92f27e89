"""What the email channel is."""

from __future__ import annotations

from domain.channels.model import (
    COMMON_FIELDS,
    ChannelDefinition,
    ConfigField,
    Format,
    SetupInstructions,
)

_FIELDS = (
    ConfigField(
        "smtpHost",
        "string",
        "Host name of the SMTP server that sends the replies, for example smtp.example.com.",
        required=True,
        format=Format.HOST,
    ),
    ConfigField(
        "smtpPort",
        "number",
        "Port of the SMTP server: 587 for TLS by STARTTLS, 465 for TLS from the start (SSL).",
        required=True,
        format=Format.PORT,
    ),
    ConfigField(
        "smtpSecure",
        "boolean",
        "true: TLS from the first byte (465, or another port of yours). false: STARTTLS when the server "
        "offers it, else plain. Left out: 465 is TLS from the first byte, 587 requires STARTTLS.",
    ),
    ConfigField(
        "imapHost",
        "string",
        "Host name of the IMAP server whose INBOX is read, for example imap.example.com.",
        required=True,
        format=Format.HOST,
    ),
    ConfigField(
        "imapPort",
        "number",
        "Port of the IMAP server: 993 for TLS from the start, 143 for plain with STARTTLS if offered.",
        required=True,
        format=Format.PORT,
    ),
    ConfigField(
        "imapSecure",
        "boolean",
        "true: TLS from the first byte (993, or another port of yours), on 143 STARTTLS is required. "
        "false: STARTTLS when the server offers it, else plain. 993 is always TLS from the first byte.",
    ),
    ConfigField("username", "string", "User name for both servers, often the mail address.", required=True),
    ConfigField(
        "password",
        "string",
        "Password for both servers; an app password where the provider has two-step verification.",
        required=True,
        secret=True,
    ),
    ConfigField(
        "fromEmail",
        "string",
        "Mail address that replies are sent from; mail from this address is never answered.",
        required=True,
        format=Format.EMAIL,
    ),
    ConfigField(
        "checkInterval",
        "number",
        "Minutes between two looks into the mailbox (default 5); fractions are allowed. "
        "A server with IDLE tells of new mail at once.",
        format=Format.INTERVAL_MINUTES,
    ),
    *COMMON_FIELDS,
)

DEFINITION = ChannelDefinition(
    id="email",
    name="Email (IMAP/SMTP)",
    description="Answers the unread mail of a mailbox: reads INBOX over IMAP, replies over SMTP.",
    fields=_FIELDS,
    setup=SetupInstructions(
        title="Connect a mailbox",
        steps=(
            (
                "Choose a mailbox of its own for the agent: every unread message in its INBOX is answered "
                "and marked as read."
            ),
            (
                "Look up the provider's IMAP and SMTP servers and ports "
                "(Gmail: imap.gmail.com 993 and smtp.gmail.com 465 or 587)."
            ),
            "Switch IMAP access on in the mailbox settings if the provider has it off.",
            (
                "With two-step verification, make an app password and use it in place of the account's "
                "password (Gmail: Google Account > Security > App passwords). "
                "Microsoft 365 no longer takes passwords for IMAP; use another mailbox or provider there."
            ),
            "Fill in smtpHost, smtpPort, imapHost, imapPort, username, password and fromEmail and save.",
            "Write a mail to the mailbox from another address and wait for one check interval.",
        ),
        docs_url="https://support.google.com/mail/answer/7126229",
        webhook_required=False,
    ),
)
