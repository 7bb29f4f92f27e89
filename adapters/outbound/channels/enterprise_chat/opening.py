"""Opens conversations for messages that answer none."""

import re
from dataclasses import dataclass

from adapters.outbound.channels.common.addresses import no_address, read_address
from adapters.outbound.channels.enterprise_chat.config import TeamsConfig, TeamsTarget
from adapters.outbound.channels.enterprise_chat.connector import Connector
from ports.capabilities import Opened, OpenRequest

WEBHOOK = "webhook"
"""The address of the incoming webhook, which names its conversation itself."""
_ADDRESS = re.compile(rf"{WEBHOOK}|(?:19|a|8):[A-Za-z0-9_.:@;=+/-]{{1,300}}")


@dataclass(frozen=True, slots=True)
class Opener:
    connector: Connector
    address: str = (
        "the id of a conversation of the bot, such as 19:...@thread.tacv2 (a channel), 19:...@thread.v2 (a group"
        f" chat) or a:... (a personal chat), or {WEBHOOK} for the channel of webhookUrl"
    )

    def default_address(self, config: TeamsConfig) -> str:
        return WEBHOOK if config.webhook_url else ""

    async def open(self, config: TeamsConfig, request: OpenRequest) -> Opened[TeamsTarget]:
        """A bot may write to conversations that it is part of; which service has them, their activities say."""
        to = read_address(_ADDRESS, request.to, self.address)[0]
        if to == WEBHOOK:
            if not config.webhook_url:
                raise no_address(f"{WEBHOOK} needs webhookUrl in the configuration")
            return Opened(to, TeamsTarget())
        if not config.has_app:
            raise no_address("a conversation id needs appId and appPassword in the configuration")
        bot = {"id": f"28:{config.app_id}"}
        return Opened(to, TeamsTarget(service_url=self.connector.service_url, conversation=to, bot=bot))
