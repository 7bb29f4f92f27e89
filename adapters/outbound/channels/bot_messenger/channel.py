"""The bot-messenger channel: Telegram (https://core.telegram.org/bots/api).

Opens chats for messages that answer none.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from adapters.outbound.channels.bot_messenger import webhook
from adapters.outbound.channels.bot_messenger.api import BASE, BotApi
from adapters.outbound.channels.bot_messenger.config import (
    CONFIG,
    DEFINITION,
    POLLING,
    TARGET,
    BotConfig,
    BotTarget,
)
from adapters.outbound.channels.bot_messenger.delivery import Delivery, TelegramStreaming
from adapters.outbound.channels.bot_messenger.polling import Updates
from adapters.outbound.channels.bot_messenger.webhook import session_of
from adapters.outbound.channels.common.addresses import no_address, read_address
from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.http.policy import AddressPolicy, numeric_host
from domain.channels.messages import Attachment, ChannelMetadata
from domain.channels.model import Proof
from domain.channels.refused import BOT, CHANNEL
from ports.capabilities import Opened, OpenRequest, PlatformError, Registration
from ports.channels import Channel, ChannelDependencies

_BAD_ADDRESS = "bad webhook"
"""How Telegram's description of an address that it does not call begins."""


class BotAccount:
    """The bot's account: its name, its webhook, its files."""

    metadata_seconds = 3600.0

    def __init__(self, api: BotApi) -> None:
        self._api = api

    async def fetch_metadata(self, config: BotConfig) -> ChannelMetadata:
        """The bot's own username, by which it is mentioned in groups."""
        me = await self._api.call(config.bot_token, "getMe", timeout=2.0)
        return {"username": text(me, "username")}

    async def register(self, config: BotConfig, address: str, kept: Registration) -> Registration:
        """Where Telegram calls no webhook, what says that updates are fetched, and why."""
        reason = self._no_webhook(address)
        if config.connection != POLLING and not reason:
            try:
                await self._set_webhook(config, address)
                return {}
            except PlatformError as error:
                if _BAD_ADDRESS not in str(error).lower():
                    raise
                reason = str(error)
        await self.unregister(config, kept)
        return {"connection": POLLING, "reason": "" if config.connection == POLLING else reason}

    def _no_webhook(self, address: str) -> str:
        """Why Telegram would not call an address, as far as the address alone tells; a Bot API server of one's own
        may call any."""
        if self._api.is_own_server or _is_public_https(address):
            return ""
        return "AGENT_URL is not a public https address"

    async def _set_webhook(self, config: BotConfig, address: str) -> None:
        payload = {
            "url": address,
            "secret_token": webhook.secret_of(config.bot_token),
            "allowed_updates": list(webhook.ALLOWED_UPDATES),
        }
        await self._api.call(config.bot_token, "setWebhook", payload)

    async def unregister(self, config: BotConfig, kept: Registration) -> None:
        await self._api.call(config.bot_token, "deleteWebhook")

    def supersedes(self, old: BotConfig, new: BotConfig) -> bool:
        """True for another bot: the old one would go on calling."""
        return old.bot_token != new.bot_token

    async def registered(self, config: BotConfig, address: str) -> bool:
        if config.connection == POLLING:
            return False
        info = await self._api.call(config.bot_token, "getWebhookInfo")
        updates = items(info, "allowed_updates") or webhook.ALLOWED_UPDATES
        return text(info, "url") == address and set(webhook.ALLOWED_UPDATES) <= set(updates)

    async def probe(self, config: BotConfig) -> None:
        await self._api.call(config.bot_token, "getMe")

    def fetch(self, config: BotConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        return self._api.download(config.bot_token, text(attachment.source, "file_id"))


def _is_public_https(address: str) -> bool:
    """Whether an address may be one that Telegram calls, told without resolving its name."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    literal = numeric_host(host) or (host if ":" in host else None)
    if literal is not None:
        return parts.scheme == "https" and AddressPolicy("public-only").allows(str(literal))
    return (
        parts.scheme == "https" and "." in host and not host.endswith((".local", ".localhost", ".internal"))
    )


def build(dependencies: ChannelDependencies) -> Channel[BotConfig, BotTarget]:
    api = BotApi(dependencies)
    streaming = TelegramStreaming(api)
    bot, delivery = BotAccount(api), Delivery(api, dependencies.artifacts, streaming)
    opener = Opener(api)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE,),
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        refusals=(CHANNEL, BOT),
        metadata=bot,
        registrar=bot,
        probe=bot,
        fetcher=bot,
        sender=delivery,
        opener=opener,
        conversation_target=opener,
        limits=delivery,
        typing=delivery,
        reactions=delivery,
        streaming=streaming,
        button_ack=delivery,
        prompt_closer=delivery,
        connector=Updates(dependencies, api),
        connection_proof=Proof.PLATFORM,
    )


_ADDRESS = re.compile(r"(?:(-?[1-9][0-9]{0,15})|(@[A-Za-z][A-Za-z0-9_]{3,31}))(?::([1-9][0-9]{0,9}))?")


@dataclass(frozen=True, slots=True)
class Opener:
    """A bot may write to people who have started it, and to groups and channels of which it is a member
    (https://core.telegram.org/bots/faq#how-do-i-reach-users)."""

    api: BotApi
    address: str = (
        "a chat id such as 5550001 (-1001234567890 of a group) or @name of a public group or channel, in a forum"
        " with the topic behind it: -1001234567890:17"
    )

    def default_address(self, config: BotConfig) -> str:
        return ""

    def continued(self, target: BotTarget) -> BotTarget:
        """The message replies to none of the group's."""
        return replace(target, reply_to=None, callback_query_id="", prompt_id=None)

    async def open(self, config: BotConfig, request: OpenRequest) -> Opened[BotTarget]:
        number, name, topic = read_address(_ADDRESS, request.to, self.address).groups()
        chat = int(number) if number else await self._chat_of(config, name)
        thread = int(topic) if topic else None
        return Opened(session_of(str(chat), topic or ""), BotTarget(chat_id=chat, message_thread_id=thread))

    async def _chat_of(self, config: BotConfig, name: str) -> int:
        """The id of a public chat, by which the messages there name it. Raises `PlatformError`."""
        chat = at(await self.api.call(config.bot_token, "getChat", {"chat_id": name}), "id")
        if not isinstance(chat, int):
            raise no_address(f"{name} is no chat that Telegram gives an id for")
        return chat
