"""Opens conversations for messages that answer none."""

import re
from dataclasses import dataclass

from adapters.outbound.channels.common.addresses import PHONE, PHONE_EXAMPLE, read_address
from ports.reply_capabilities import Opened, OpenRequest

from .config import SmsConfig, SmsTarget

_ADDRESS = re.compile(rf"(?:whatsapp:)?{PHONE.pattern}")


@dataclass(frozen=True, slots=True)
class Opener:
    address: str = f"{PHONE_EXAMPLE}, or whatsapp:+4915112345678 for WhatsApp through Twilio"

    def default_address(self, config: SmsConfig) -> str:
        return ""

    async def open(self, config: SmsConfig, request: OpenRequest) -> Opened[SmsTarget]:
        """The address is the session of the messages that come from there (`From`)."""
        to = read_address(_ADDRESS, request.to, self.address)[0]
        return Opened(to, SmsTarget(to=to, callback=request.callback_address))
