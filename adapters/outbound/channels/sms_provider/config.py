"""Configuration, targets, set-up and limits of sms-provider (Twilio SMS)."""

import re
from dataclasses import dataclass

from adapters.outbound.channels.common.config import credential, https_step, required, steps
from domain.channels.model import ChannelDefinition, Format, SetupInstructions, TextLimit
from domain.channels.typed import ChannelTarget, ChatConfig, ConfigModel, JsonModel, setting
from domain.values import value

TEXT_LIMIT = TextLimit(1500)
"""Twilio itself refuses a body over 1600 characters (its error 21617)."""

KEY = "part"
"""The query parameter with which a status callback names the message's idempotency key."""
OF_RECIPIENT = frozenset(
    {21211, 21214, 21217, 21610, 21612, 21614, 21635}
    | {30003, 30004, 30005, 30006, 30011, 63003, 63024, 63032, 63033, 63049, 63050}
)
"""Error codes: the number is none, is a landline, cannot be reached or has blocked us, or the person wrote STOP."""
_E164 = re.compile(r"\+[1-9]\d{6,14}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SmsConfig(ChatConfig):
    account_sid: str = required("Account SID of the Twilio account; begins with AC.", format=Format.ID)
    auth_token: str = credential(
        "Auth token of the Twilio account. Sends messages and checks the signature of incoming calls."
    )
    provider_phone_number: str = required(
        "Twilio phone number to send from, in E.164 format, for example +15017122661.",
        check=lambda number: (
            None
            if _E164.fullmatch(number)
            else "must be a phone number in E.164 form, for example +14155550100"
        ),
    )
    messaging_service_sid: str = setting(
        "SID of a messaging service, begins with MG. When set, messages are sent through it instead of "
        "from the phone number.",
        format=Format.ID,
    )
    acknowledge: bool = setting(
        "Answer each incoming message at once with 'Your message was received.' (default true).", default=True
    )


@value
class SmsTarget(ChannelTarget):
    """A person's number, and the address for status callbacks."""

    to: str = ""
    callback: str = ""


CONFIG = ConfigModel(SmsConfig)
TARGET = JsonModel(SmsTarget)

DEFINITION = ChannelDefinition(
    id="sms-provider",
    name="Twilio SMS",
    description="Text messages to and from a Twilio phone number or messaging service, pictures included.",
    fields=CONFIG.fields,
    setup=SetupInstructions(
        title="Set up Twilio SMS",
        steps=(
            https_step("Twilio"),
            *steps("""
            - In the Twilio Console, buy or pick a phone number that can send and receive SMS (and MMS for
              pictures).
            - On the Console's Account Dashboard, copy the Account SID and the Auth Token.
            - Create the instance here with accountSid, authToken and providerPhoneNumber.
            - In the Console, Phone Numbers, Manage, Active numbers, open the number. Under Messaging
              Configuration, set 'A message comes in' to Webhook, this instance's webhook URL, HTTP POST.
            - With a messaging service: in its Integration settings choose 'Send a webhook', give the same URL,
              and put the service's SID into messagingServiceSid.
            - To send to numbers in the United States, register the number or messaging service for A2P 10DLC.
        """),
        ),
        docs_url="https://www.twilio.com/docs/messaging/guides/webhook-request",
        webhook_required=True,
    ),
    text_limit=TEXT_LIMIT,
)
