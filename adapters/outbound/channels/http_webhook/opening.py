"""Opens conversations for messages that answer none."""

import uuid
from dataclasses import dataclass
from urllib.parse import urlsplit

from adapters.outbound.channels.common.addresses import LONGEST_ADDRESS, no_address
from domain.addresses import address_fault
from ports.http import Addresses, AddressRefused, HttpFailed
from ports.reply_capabilities import Opened, OpenRequest

from .config import WebhookConfig, WebhookTarget


@dataclass(frozen=True, slots=True)
class Opener:
    """The session id follows from the address: messages to it belong together, and a call that names the session goes
    on with them."""

    hosts: Addresses
    address: str = "an address of yours that begins with http:// or https://, to which the message is POSTed"

    def default_address(self, config: WebhookConfig) -> str:
        return config.response_webhook_url

    async def open(self, config: WebhookConfig, request: OpenRequest) -> Opened[WebhookTarget]:
        url = request.to
        if len(url) > LONGEST_ADDRESS or address_fault(url):
            raise no_address(f"must be {self.address}")
        parts = urlsplit(url)
        try:
            await self.hosts.resolve_allowed(parts.hostname or "", parts.port or 443)
        except AddressRefused as refused:
            raise no_address(str(refused)) from None
        except HttpFailed:
            pass  # a name that cannot be resolved now may be later: the delivery tries again
        return Opened(str(uuid.uuid5(uuid.NAMESPACE_URL, url)), WebhookTarget(url=url))
