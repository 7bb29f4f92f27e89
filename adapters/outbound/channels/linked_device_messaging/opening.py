"""Opens conversations for messages that answer none."""

from dataclasses import dataclass

from adapters.outbound.channels.common.addresses import PHONE, PHONE_EXAMPLE, read_address
from ports.reply_capabilities import Opened, OpenRequest

from .config import DeviceConfig, DeviceTarget

_SERVER = "s.whatsapp.net"
"""Of the chats with one person."""


@dataclass(frozen=True, slots=True)
class Opener:
    address: str = PHONE_EXAMPLE

    def default_address(self, config: DeviceConfig) -> str:
        return ""

    async def open(self, config: DeviceConfig, request: OpenRequest) -> Opened[DeviceTarget]:
        """The session is the phone number in digits, as that of the messages that come from there."""
        phone = read_address(PHONE, request.to, self.address)[0].removeprefix("+")
        return Opened(phone, DeviceTarget(instance=request.instance_id, chat=f"{phone}@{_SERVER}"))
