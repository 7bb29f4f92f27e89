"""Configuration, targets and set-up of linked-device-messaging (WhatsApp as a linked device)."""

import re
from dataclasses import dataclass

from adapters.outbound.channels.common.config import required, steps
from domain.channels.model import ChannelDefinition, SetupInstructions, TextLimit
from domain.channels.typed import ChannelTarget, ChatConfig, ConfigModel, JsonModel, setting
from domain.values import value

TEXT_LIMIT = TextLimit(4096)

_NUMBER = re.compile(r"\+?[1-9]\d{6,14}")


def numbers_fault(numbers: str) -> str | None:
    items = (item.strip() for item in numbers.split(","))
    wrong = [item for item in items if item and not _NUMBER.fullmatch(re.sub(r"[\s()-]", "", item))]
    if wrong:
        return f"must be comma-separated phone numbers with country code; not one: '{wrong[0][:40]}'"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceConfig(ChatConfig):
    phone_number: str = required(
        "Phone number of the WhatsApp account, digits with the country code, for example 4915112345678.",
        check=lambda number: (
            None
            if _NUMBER.fullmatch(number)
            else "must be digits with the country code, for example 14155550100"
        ),
    )
    allowed_numbers: str = setting(
        "Comma-separated phone numbers with country code that may write; empty allows all.",
        check=numbers_fault,
    )


@value
class DeviceTarget(ChannelTarget):
    """A chat of the account that an instance is linked to."""

    instance: int = 0
    chat: str = ""


CONFIG = ConfigModel(DeviceConfig)
TARGET = JsonModel(DeviceTarget)

DEFINITION = ChannelDefinition(
    id="linked-device-messaging",
    name="WhatsApp (linked device)",
    description="Answers messages of a WhatsApp account as one of its linked devices.",
    fields=CONFIG.fields,
    setup=SetupInstructions(
        title="Link a WhatsApp account",
        steps=steps("""
            - Beware: WhatsApp's terms of service forbid unofficial clients, and this is one. The number may be
              banned. Use a number that you can spare; business-messaging is the official way.
            - The server needs its extra 'linked-device' (pip install 'switchboard[linked-device]') and the
              system library libmagic; without them pairing says so.
            - Enter the account's phone number in phoneNumber, digits with country code, and save. A pairing
              code is made at once and sent to you as a notification.
            - On the phone open WhatsApp > Settings > Linked devices > Link a device > Link with phone number
              instead, and enter the code.
            - The code expires soon: ask for a new one with request-pairing when it was not taken.
            - Keep the phone in use: WhatsApp logs linked devices out when the phone has been offline for 14
              days.
        """),
        docs_url="https://faq.whatsapp.com/1317564962315842",
        webhook_required=False,
    ),
    text_limit=TEXT_LIMIT,
)
