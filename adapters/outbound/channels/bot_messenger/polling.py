"""Fetches a bot's updates where Telegram calls no webhook (https://core.telegram.org/bots/api#getupdates)."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.reconnecting import Attempt, StatelessConnector, keep_connected
from ports.capabilities import PlatformError, Registration
from ports.channels import ChannelDependencies
from ports.connections import Emit, LinkRecorder

from .api import SEND_TIMEOUT, BotApi
from .config import POLLING, BotConfig
from .content import Bot
from .webhook import ALLOWED_UPDATES, read_update

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
