"""A reaction at the message that is being worked on."""

import asyncio
import logging
from typing import ClassVar

from domain.channels.messages import Outcome
from domain.channels.typed import ChannelConfig, ChannelTarget
from ports.reply_capabilities import MessageReactions

log = logging.getLogger(__name__)

CALL_SECONDS = 5.0
"""What a platform gets for one call."""


class AckReaction:
    """Adds the reaction at once, and takes it away after `stop`, beside the work on the answer."""

    running: ClassVar[set[asyncio.Task[None]]] = set()
    """All that are shown now, or are taken away."""

    def __init__(
        self,
        channel: MessageReactions[ChannelConfig, ChannelTarget],
        config: ChannelConfig,
        target: ChannelTarget,
        message_id: str,
        emoji: str,
    ) -> None:
        self._channel = channel
        self._config = config
        self._target = target
        self._message_id = message_id
        self._emoji = emoji
        self._finished = asyncio.Event()
        task = asyncio.create_task(self._show())
        self.running.add(task)
        task.add_done_callback(self.running.discard)

    def stop(self) -> None:
        self._finished.set()

    async def _show(self) -> None:
        if await self._react(present=True):
            await self._finished.wait()
            await self._react(present=False)

    async def _react(self, *, present: bool) -> bool:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                sent = await self._channel.react(
                    self._config, self._target, self._message_id, self._emoji, present=present
                )
                return sent.outcome is not Outcome.PERMANENT
        except TimeoutError:
            return True
        except Exception:
            log.exception("a reaction could not be shown")
            return False
