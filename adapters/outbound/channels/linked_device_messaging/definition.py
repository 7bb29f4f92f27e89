"""What the WhatsApp linked-device channel is."""

from __future__ import annotations

from domain.channels.model import (
    COMMON_FIELDS,
    ChannelDefinition,
    ConfigField,
    Format,
    SetupInstructions,
    TextLimit,
)

_FIELDS = (
    ConfigField(
        "phoneNumber",
        "string",
        "Phone number of the WhatsApp account, digits with the country code, for example 4915112345678.",
        required=True,
        format=Format.PHONE_DIGITS,
    ),
    ConfigField(
        "allowedNumbers",
        "string",
        "Comma-separated phone numbers with country code that may write; empty allows all.",
        format=Format.PHONE_LIST,
    ),
    *COMMON_FIELDS,
)

DEFINITION = ChannelDefinition(
    id="linked-device-messaging",
    name="WhatsApp (linked device)",
    description="Answers messages of a WhatsApp account as one of its linked devices.",
    fields=_FIELDS,
    setup=SetupInstructions(
        title="Link a WhatsApp account",
        steps=(
            (
                "Beware: WhatsApp's terms of service forbid unofficial clients, and this is one. The number "
                "may be banned. Use a number that you can spare; business-messaging is the official way."
            ),
            (
                "The server needs its extra 'linked-device' (pip install 'switchboard[linked-device]') and "
                "the system library libmagic; without them pairing says so."
            ),
            (
                "Enter the account's phone number in phoneNumber, digits with country code, and save. "
                "A pairing code is made at once and sent to you as a notification."
            ),
            (
                "On the phone open WhatsApp > Settings > Linked devices > Link a device > "
                "Link with phone number instead, and enter the code."
            ),
            "The code expires soon: ask for a new one with request-pairing when it was not taken.",
            (
                "Keep the phone in use: WhatsApp logs linked devices out when the phone has been offline "
                "for 14 days."
            ),
        ),
        docs_url="https://faq.whatsapp.com/1317564962315842",
        webhook_required=False,
    ),
    text_limit=TextLimit(4096),
)
