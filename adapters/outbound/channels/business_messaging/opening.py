"""Opens conversations for messages that answer none."""

from dataclasses import dataclass

from adapters.outbound.channels.common.addresses import PHONE, PHONE_EXAMPLE, read_address
from ports.reply_capabilities import Opened, OpenRequest

from .config import WhatsAppConfig, WhatsAppTarget
from .messages import session_of


@dataclass(frozen=True, slots=True)
class Opener:
    address: str = PHONE_EXAMPLE

    def default_address(self, config: WhatsAppConfig) -> str:
        return ""

    async def open(self, config: WhatsAppConfig, request: OpenRequest) -> Opened[WhatsAppTarget]:
        """WhatsApp names people by their number in digits, as `from` of their messages does."""
        phone = read_address(PHONE, request.to, self.address)[0].removeprefix("+")
        return Opened(session_of(phone, ""), WhatsAppTarget(to=phone))
