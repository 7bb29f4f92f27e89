"""An answer is shown while it is being made: one message of the channel, changed at a bounded rate."""

from __future__ import annotations

import asyncio
import logging
from types import TracebackType

from domain.channels.messages import Event, Outcome, Sent
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.routing.asking.model import ConversationContext
from ports.capabilities import StreamingReply
from ports.inbox import DraftStore

log = logging.getLogger(__name__)


class Drafting:
    """Shows the answer to one event as it grows; `told` hears of it.

    The message that is shown is on record before it is changed: whoever takes up the event after a crash goes
    on with it, and the finished answer takes its place. Leaving the context waits for what is on its way to
    the platform, so that no message is left behind that nobody knows of.
    """

    def __init__(
        self,
        channel: StreamingReply[ChannelConfig, ChannelTarget],
        store: DraftStore,
        context: ConversationContext,
        event: Event,
        event_id: int,
    ) -> None:
        self._channel = channel
        self._store = store
        self._context = context
        self._event = event
        self._event_id = event_id
        self._text = ""
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def told(self, text: str) -> None:
        """`text` is the whole answer so far."""
        self._text = text
        if self._task is None:
            self._task = asyncio.create_task(self._show())

    async def __aenter__(self) -> Drafting:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._task is not None:
            await self._task

    async def _show(self) -> None:
        config, target = self._context.config, self._context.target(self._event)
        shown, seconds = "", self._channel.draft_seconds
        while not await self._is_over_within(seconds):
            beginning = self._channel.beginning(config, target, self._text)
            if beginning in ("", shown):
                continue
            key = f"draft:{self._event.request_id}"
            try:
                sent = await self._channel.draft(config, target, beginning, self._context.draft, key)
            except Exception:
                log.exception(
                    "a channel failed to show a draft", extra={"instance": self._context.instance.id}
                )
                return
            if not await self._goes_on(sent):
                return
            shown = beginning if sent.outcome is Outcome.SENT else shown
            seconds = max(self._channel.draft_seconds, sent.retry_after or 0.0)

    async def _goes_on(self, sent: Sent) -> bool:
        """Keeps what was sent. A first message of which nothing is known is not tried again.

        A failure of the database does not cost the answer: the draft is known here until it is finished.
        """
        if sent.outcome is Outcome.SENT and sent.ref and sent.ref != self._context.draft:
            self._context.draft = sent.ref
            try:
                await self._store.drafted(self._event_id, sent.ref)
            except Exception:
                log.exception(
                    "a draft could not be put on record", extra={"instance": self._context.instance.id}
                )
        lost = sent.outcome is Outcome.UNKNOWN and not self._context.draft
        return not lost and sent.outcome is not Outcome.PERMANENT

    async def _is_over_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._over.wait()
        except TimeoutError:
            return False
        return True
