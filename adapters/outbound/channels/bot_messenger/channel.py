"""The bot-messenger channel: Telegram (https://core.telegram.org/bots/api)."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from adapters.outbound.channels.common.addresses import NoDefaultAddress, no_address, read_address
from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.channels.common.reconnecting import Attempt, StatelessConnector, keep_connected
from adapters.outbound.net.addresses import AddressPolicy, numeric_host
from domain.channels.messages import Attachment, ChannelMetadata
from domain.channels.model import Proof
from domain.channels.refused import BOT, CHANNEL
from ports.capabilities import Opened, OpenRequest, PlatformError, Registration
from ports.channels import Channel, ChannelDependencies
from ports.connections import Emit, LinkRecorder

from . import webhook
from .api import BASE, SEND_TIMEOUT, BotApi
from .config import CONFIG, DEFINITION, POLLING, TARGET, BotConfig, BotTarget
from .delivery import Delivery
from .messages import Bot
from .rich import RICH_KINDS
from .webhook import ALLOWED_UPDATES, read_update

_BAD_ADDRESS = "bad webhook"
"""How Telegram's description of an address that it does not call begins."""
_ADDRESS = re.compile(r"(?:(-?[1-9][0-9]{0,15})|(@[A-Za-z][A-Za-z0-9_]{3,31}))(?::([1-9][0-9]{0,9}))?")


class BotAccount(NoDefaultAddress):
    """The bot's account: its name, its webhook, its files, its chats. A bot may write to people who have started it,
    and to groups and channels of which it is a member (https://core.telegram.org/bots/faq#how-do-i-reach-users)."""

    metadata_seconds = 3600.0
    address = (
        "a chat id such as 5550001 (-1001234567890 of a group) or @name of a public group or channel, in a forum"
        " with the topic behind it: -1001234567890:17"
    )

    def __init__(self, api: BotApi) -> None:
        self._api = api

    async def fetch_metadata(self, config: BotConfig) -> ChannelMetadata:
        """The bot's own username, by which it is mentioned in groups."""
        me = await self._api.call(config.bot_token, "getMe", timeout=2.0)
        return {"username": text(me, "username")}

    async def register(self, config: BotConfig, address: str, kept: Registration) -> Registration:
        """Registers the webhook. If Telegram does not call it, the result says that updates are fetched, and why. A
        Bot API server of one's own may call any address."""
        may_be_called = self._api.is_own_server or _is_public_https(address)
        reason = "" if may_be_called else "AGENT_URL is not a public https address"
        if config.connection != POLLING and not reason:
            payload = {
                "url": address,
                "secret_token": webhook.secret_of(config.bot_token),
                "allowed_updates": list(webhook.ALLOWED_UPDATES),
            }
            try:
                await self._api.call(config.bot_token, "setWebhook", payload)
                return {}
            except PlatformError as error:
                if _BAD_ADDRESS not in str(error).lower():
                    raise
                reason = str(error)
        await self.unregister(config, kept)
        return {"connection": POLLING, "reason": "" if config.connection == POLLING else reason}

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

    def continued(self, target: BotTarget) -> BotTarget:
        """The message replies to none of the group's."""
        return replace(target, reply_to=None, callback_query_id="", prompt_id=None)

    async def open(self, config: BotConfig, request: OpenRequest) -> Opened[BotTarget]:
        """Asks for the id of a public chat, by which the messages there name it. Raises `PlatformError`."""
        number, name, topic = read_address(_ADDRESS, request.to, self.address).groups()
        if number:
            chat = int(number)
        else:
            chat = at(await self._api.call(config.bot_token, "getChat", {"chat_id": name}), "id")
            if not isinstance(chat, int):
                raise no_address(f"{name} is no chat that Telegram gives an id for")
        target = BotTarget(chat_id=chat, message_thread_id=int(topic) if topic else None)
        return Opened(webhook.session_of(str(chat), topic or ""), target)


def _is_public_https(address: str) -> bool:
    """Return True if Telegram may call an address, as far as one sees without resolving its name."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    literal = numeric_host(host) or (host if ":" in host else None)
    if literal is not None:
        return parts.scheme == "https" and AddressPolicy("public-only").allows(str(literal))
    return (
        parts.scheme == "https" and "." in host and not host.endswith((".local", ".localhost", ".internal"))
    )


LONG_POLL = 30
"""Seconds that Telegram may keep a call open while there is nothing new."""
SETTLING = 5.0
"""Seconds before a webhook that is set is removed: it may be a new one, and this poll about to end."""
OFFSET_SECONDS = 6 * 86400.0
"""After a week without updates Telegram may begin with any number; what was fetched before is confirmed by then."""
_WEBHOOK_SET = ("webhook is active", "terminated by setwebhook")


class Updates(StatelessConnector):
    """One long poll after the other for each instance. The next call confirms what the last one returned; Telegram
    keeps what is not confirmed for 24 hours."""

    def __init__(self, dependencies: ChannelDependencies, api: BotApi) -> None:
        self._clock = dependencies.clock
        self._api = api

    def wants(self, config: BotConfig, registration: Registration) -> bool:
        return POLLING in (config.connection, registration.get("connection"))

    def note(self, config: BotConfig, registration: Registration) -> str:
        reason = text(registration, "reason") or "connection is 'polling'"
        return f"Updates are fetched from Telegram (getUpdates) and no webhook is registered: {reason}"

    async def listen(self, instance_id: int, config: BotConfig, emit: Emit, recorder: LinkRecorder) -> None:
        async def connect(attempt: Attempt) -> None:
            """Fetches and stores until Telegram fails. Raises `PlatformError`."""
            me = await self._api.call(config.bot_token, "getMe")
            bot = Bot(config.bot_token.partition(":")[0], text(me, "username"))
            cursor = await emit.cursor() or {}
            while True:
                updates = await self._updates(config, bot, cursor, LONG_POLL if attempt.greeted else 0)
                if not attempt.greeted:
                    attempt.greeted = True
                    await recorder.set_connected_since(self._clock.now())
                if updates:
                    last = max(update["update_id"] for update in updates)
                    cursor = {"bot": bot.id, "offset": last + 1, "at": self._clock.now().timestamp()}
                    received = [read_update(config, update, bot) for update in updates]
                    events = chain.from_iterable(result.events for result in received)
                    renames = chain.from_iterable(result.session_renames for result in received)
                    await emit.batch(list(events), cursor, list(renames))

        await keep_connected(connect, instance_id, recorder)

    async def _updates(
        self, config: BotConfig, bot: Bot, cursor: Mapping[str, object], wait: int
    ) -> Sequence[Mapping[str, Any]]:
        """The updates from the cursor on, unless that is another bot's or too old."""
        payload: dict[str, Any] = {"allowed_updates": list(ALLOWED_UPDATES), "timeout": wait}
        offset, stored_at = cursor.get("offset"), cursor.get("at")
        age = self._clock.now().timestamp() - (stored_at if isinstance(stored_at, float) else 0.0)
        if cursor.get("bot") == bot.id and isinstance(offset, int) and age < OFFSET_SECONDS:
            payload["offset"] = offset
        timeout = wait + SEND_TIMEOUT
        try:
            updates = await self._api.call(config.bot_token, "getUpdates", payload, timeout, long_poll=True)
        except PlatformError as error:
            if not any(words in str(error).lower() for words in _WEBHOOK_SET):
                raise
            await asyncio.sleep(SETTLING)
            await self._api.call(config.bot_token, "deleteWebhook")
            return []
        updates = updates if isinstance(updates, list) else []
        return [update for update in updates if isinstance(at(update, "update_id"), int)]


def build(dependencies: ChannelDependencies) -> Channel[BotConfig, BotTarget]:
    api = BotApi(dependencies)
    bot, delivery = BotAccount(api), Delivery(api, dependencies.artifacts)
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
        opener=bot,
        conversation_target=bot,
        limits=delivery,
        typing=delivery,
        reactions=delivery,
        streaming=delivery,
        button_ack=delivery,
        thumb_buttons=True,
        prompt_closer=delivery,
        rich_kinds=RICH_KINDS,
        connector=Updates(dependencies, api),
        connection_proof=Proof.PLATFORM,
    )
