"""What the Twilio SMS channel is: its fields, its set-up on the real platform, its limits."""

from __future__ import annotations

from domain.channels.model import (
    COMMON_FIELDS,
    ChannelDefinition,
    ConfigField,
    Format,
    SetupInstructions,
    TextLimit,
)

SMS_LIMIT = TextLimit(1500)
"""Characters of a message. Twilio itself refuses a body over 1600 (its error 21617)."""

DEFINITION = ChannelDefinition(
    id="sms-provider",
    name="Twilio SMS",
    description="Text messages to and from a Twilio phone number or messaging service, pictures included.",
    fields=(
        ConfigField(
            "accountSid",
            "string",
            "Account SID of the Twilio account; begins with AC.",
            required=True,
            format=Format.ID,
        ),
        ConfigField(
            "authToken",
            "string",
            "Auth token of the Twilio account. Sends messages and checks the signature of incoming calls.",
            required=True,
            secret=True,
        ),
        ConfigField(
            "providerPhoneNumber",
            "string",
            "Twilio phone number to send from, in E.164 format, for example +15017122661.",
            required=True,
            format=Format.E164,
        ),
        ConfigField(
            "messagingServiceSid",
            "string",
            "SID of a messaging service, begins with MG. When set, messages are sent through it instead of "
            "from the phone number.",
            format=Format.ID,
        ),
        *COMMON_FIELDS,
    ),
    setup=SetupInstructions(
        title="Set up Twilio SMS",
        steps=(
            (
                "In the Twilio Console, buy or pick a phone number that can send and receive SMS (and MMS "
                "for pictures)."
            ),
            "On the Console's Account Dashboard, copy the Account SID and the Auth Token.",
            "Create the instance here with accountSid, authToken and providerPhoneNumber.",
            (
                "In the Console, Phone Numbers, Manage, Active numbers, open the number. Under Messaging "
                "Configuration, set 'A message comes in' to Webhook, this instance's webhook URL, HTTP POST."
            ),
            (
                "With a messaging service: in its Integration settings choose 'Send a webhook', give the "
                "same URL, and put the service's SID into messagingServiceSid."
            ),
            (
                "To send to numbers in the United States, register the number or messaging service for A2P "
                "10DLC."
            ),
        ),
        docs_url="https://www.twilio.com/docs/messaging/guides/webhook-request",
        webhook_required=True,
    ),
    text_limit=SMS_LIMIT,
)
