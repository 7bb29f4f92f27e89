"""Shows an answer while it is being made: one message of the channel, changed at a bounded rate."""

from __future__ import annotations

import asyncio
import logging
from types import TracebackType

from domain.channels.messages import Event, Outcome, Sent
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.routing.invocation.model import ConversationContext
from ports.inbox import DraftStore
from ports.reply_capabilities import StreamingReply

log = logging.getLogger(__name__)


class Drafting:
    """Shows the answer to one event as it grows: `update` takes the text so far.

    The id of the message is stored before it is changed: after a crash the next worker continues with it, and the
    finished answer replaces it. Leaving the context waits for the call under way, so that no unknown message stays.
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
        self._finished = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def update(self, text: str) -> None:
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
        self._finished.set()
        if self._task is not None:
            await self._task

    async def _show(self) -> None:
        config, target = self._context.config, self._context.target(self._event)
        shown, seconds = "", self._channel.draft_seconds
        while not await self._finishes_within(seconds):
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
            if not await self._continues(sent):
                return
            shown = beginning if sent.outcome is Outcome.SENT else shown
            seconds = max(self._channel.draft_seconds, sent.retry_after or 0.0)

    async def _continues(self, sent: Sent) -> bool:
        """Stores the id of the message. A first message whose outcome is unknown is not tried again.

        A failure of the database does not cost the answer: this process knows the id until it is finished.
        """
        if sent.outcome is Outcome.SENT and sent.ref and sent.ref != self._context.draft:
            self._context.draft = sent.ref
            try:
                await self._store.drafted(self._event_id, sent.ref)
            except Exception:
                log.exception(
                    "the id of a draft could not be stored", extra={"instance": self._context.instance.id}
                )
        lost = sent.outcome is Outcome.UNKNOWN and not self._context.draft
        return not lost and sent.outcome is not Outcome.PERMANENT

    async def _finishes_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._finished.wait()
        except TimeoutError:
            return False
        return True
