"""The sign that somebody is writing, repeated while an answer is being made."""

import asyncio
import logging

from domain.channels.messages import Outcome, Sent
from domain.channels.typed import ChannelConfig, ChannelTarget
from ports.reply_capabilities import TypingIndicator

log = logging.getLogger(__name__)

CALL_SECONDS = 5.0
"""What a platform gets for one call."""


class RepeatedTyping:
    """Calls the channel before what it shows ends, beside the work on the answer, until `stop`.

    It ends by itself where there is nothing to show, or where the platform refuses for good.
    """

    def __init__(
        self,
        channel: TypingIndicator[ChannelConfig, ChannelTarget],
        config: ChannelConfig,
        target: ChannelTarget,
    ) -> None:
        self._channel = channel
        self._config = config
        self._target = target
        self._task = asyncio.create_task(self._repeat())

    def stop(self) -> None:
        """At once: a call that is under way is broken off."""
        self._task.cancel()

    async def _repeat(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            sent = await self._once()
            if sent is None or sent.outcome is Outcome.PERMANENT:
                return
            left = self._channel.typing_seconds - (loop.time() - began)
            await asyncio.sleep(max(left, sent.retry_after or 0.0, 0.0))

    async def _once(self) -> Sent | None:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await self._channel.typing(self._config, self._target)
        except TimeoutError:
            return Sent(Outcome.UNKNOWN)
        except Exception:
            log.exception("a channel failed to show that an answer is being written")
            return None
