"""The bot-messenger channel: Telegram (https://core.telegram.org/bots/api)."""

from collections.abc import AsyncIterator

from adapters.outbound.channels.bot_messenger.api import BASE
from adapters.outbound.channels.common.bodies import items, text
from domain.channels.messages import Attachment, ChannelMetadata
from ports.capabilities import Registration
from ports.channels import Channel, ChannelDependencies

from . import webhook
from .api import BotApi
from .config import CONFIG, DEFINITION, TARGET, BotConfig, BotTarget
from .delivery import Delivery
from .opening import Opener
from .streaming import TelegramStreaming


class Bot:
    """The bot's account: its name, its webhook, its files."""

    metadata_seconds = 3600.0

    def __init__(self, api: BotApi) -> None:
        self._api = api

    async def fetch_metadata(self, config: BotConfig) -> ChannelMetadata:
        """The bot's own username, by which it is mentioned in groups."""
        me = await self._api.call(config.bot_token, "getMe", timeout=2.0)
        return {"username": text(me, "username")}

    async def register(self, config: BotConfig, address: str, kept: Registration) -> Registration:
        payload = {
            "url": address,
            "secret_token": webhook.secret_of(config.bot_token),
            "allowed_updates": list(webhook.ALLOWED_UPDATES),
        }
        await self._api.call(config.bot_token, "setWebhook", payload)
        return {}

    async def unregister(self, config: BotConfig, kept: Registration) -> None:
        await self._api.call(config.bot_token, "deleteWebhook")

    def supersedes(self, old: BotConfig, new: BotConfig) -> bool:
        """True for another bot: the old one would go on calling."""
        return old.bot_token != new.bot_token

    async def registered(self, config: BotConfig, address: str) -> bool:
        info = await self._api.call(config.bot_token, "getWebhookInfo")
        updates = items(info, "allowed_updates") or webhook.ALLOWED_UPDATES
        return text(info, "url") == address and set(webhook.ALLOWED_UPDATES) <= set(updates)

    async def probe(self, config: BotConfig) -> None:
        await self._api.call(config.bot_token, "getMe")

    def fetch(self, config: BotConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        return self._api.download(config.bot_token, text(attachment.source, "file_id"))


def build(dependencies: ChannelDependencies) -> Channel[BotConfig, BotTarget]:
    api = BotApi(dependencies)
    streaming = TelegramStreaming(api)
    bot, delivery = Bot(api), Delivery(api, dependencies.artifacts, streaming)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE,),
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        metadata=bot,
        registrar=bot,
        probe=bot,
        fetcher=bot,
        sender=delivery,
        opener=Opener(api),
        limits=delivery,
        typing=delivery,
        streaming=streaming,
        button_ack=delivery,
        prompt_closer=delivery,
    )
