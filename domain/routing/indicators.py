"""Signs that a message is being worked on: the typing indicator, and a reaction at the message."""

import asyncio
import logging
from asyncio import TimerHandle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from domain.channels.messages import Outcome, Sent
from domain.channels.typed import ChannelConfig, ChannelTarget
from ports.capabilities import MessageReactions, TypingIndicator
from ports.queue import QueueKey

log = logging.getLogger(__name__)

SHOWN_AFTER_SECONDS = 0.3
"""What an answer may take before its sign is shown: one that is replaced at once is not seen, and costs a call."""
CALL_SECONDS = 5.0
"""What a platform gets for one call."""
LINGER_SECONDS = 2.0
"""Within which the delivery of a stored answer begins in this process. Where it does not, another delivers it and
does not tell when."""


class RepeatedTyping:
    """Calls the channel where an answer takes longer, before what it shows ends, beside the work on it, until `stop`.

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
        self._task: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(SHOWN_AFTER_SECONDS, self._begin)

    def stop(self) -> None:
        """At once: a call that is under way is broken off."""
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _begin(self) -> None:
        self._task = asyncio.create_task(self._repeat())

    async def _repeat(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                async with asyncio.timeout(CALL_SECONDS):
                    sent = await self._channel.typing(self._config, self._target)
            except TimeoutError:
                sent = Sent(Outcome.UNKNOWN)
            except Exception:
                log.exception("a channel failed to show that an answer is being written")
                return
            if sent is None or sent.outcome is Outcome.PERMANENT:
                return
            left = self._channel.typing_seconds - (loop.time() - began)
            await asyncio.sleep(max(left, sent.retry_after or 0.0, 0.0))


class LingeringTyping:
    """The signs of answers that are made and not sent yet, one for each conversation.

    A sign ends when the first message of the answer is handed to the platform, or when its delivery is put off.
    """

    def __init__(self) -> None:
        self._signs: dict[QueueKey, tuple[RepeatedTyping, TimerHandle]] = {}

    def linger(self, key: QueueKey, sign: RepeatedTyping) -> None:
        """To be called before the answer is stored, as its delivery may begin before that is known here."""
        self.stop(key)
        timer = asyncio.get_running_loop().call_later(LINGER_SECONDS, self.stop, key)
        self._signs[key] = sign, timer

    def stop(self, key: QueueKey) -> None:
        if lingering := self._signs.pop(key, None):
            sign, timer = lingering
            timer.cancel()
            sign.stop()

    def stop_all(self) -> None:
        for key in tuple(self._signs):
            self.stop(key)

    @contextmanager
    def during(self, key: QueueKey) -> Iterator[None]:
        """The delivery of a queue, which keeps the sign of its conversation up, and ends it in any case."""
        if lingering := self._signs.get(key):
            lingering[1].cancel()
        try:
            yield
        finally:
            self.stop(key)


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
