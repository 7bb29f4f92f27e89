"""Shows an answer while it is being made: one message of the channel, changed at a bounded rate."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from domain.channels.answers import OutboundMessage, Preview
from domain.channels.messages import Outcome, Sent
from domain.rendering import off_loop
from domain.routing.conversation import ConversationContext
from domain.routing.growing import AnswerFollower, Grew, Growing, not_heard
from ports.channels import DraftAddress, DraftSender
from ports.queue import Conversations, QueuedEvent

log = logging.getLogger(__name__)

SLOWER, SLOWEST = 1.5, 3.0
"""The pause after each edit grows by this factor, up to so many times that of the channel: a long answer is seen to
begin at once, and an edit costs the platform and the service as much as a message."""


@dataclass(eq=False)
class DraftService:
    """Begins drafts. `sender` keeps the limits of platforms; `conversations` remember which message a draft is;
    `grew` hears of answers for which a call waits."""

    sender: DraftSender
    conversations: Conversations
    grew: Grew = not_heard

    @asynccontextmanager
    async def begin(
        self, context: ConversationContext, queued: QueuedEvent
    ) -> AsyncIterator[AnswerFollower | None]:
        """None if the channel or the conversation shows no unfinished answers. The end waits for the call under way,
        so that no edit comes after the answer and no unknown message stays."""
        streaming, streamer = context.channel.streaming, context.channel.call_streamer
        target = context.target(queued.event)
        preview = streaming.preview(context.config, target) if streaming else None
        drafting: AnswerFollower | None = None
        if preview:
            drafting = Drafting(self, preview, context, queued)
        elif streamer and streamer.grows(context.config, target):
            drafting = Growing(self.grew, queued.id)
        try:
            yield drafting
        finally:
            if drafting:
                await drafting.close()


class Drafting(AnswerFollower):
    """Shows the answer to one event as it grows.

    The id of the message is stored before it is changed: after a crash the next worker continues with it, and the
    finished answer replaces it.
    """

    def __init__(
        self, drafts: DraftService, preview: Preview, context: ConversationContext, queued: QueuedEvent
    ) -> None:
        super().__init__()
        event = queued.event
        self._drafts = drafts
        self._preview = preview
        self._context = context
        self._event_id = queued.id
        self._address = DraftAddress(
            context.instance, context.channel, event.session_id, event.target, f"draft:{event.request_id}"
        )

    async def follow(self) -> None:
        """Ends early where going on could show the answer twice or is useless."""
        shown: OutboundMessage | None = None
        rendered, pause = "", self._preview.seconds
        seconds = pause
        while not await self.finishes_within(seconds):
            text = self._text()[: self._preview.size]
            message = shown if text == rendered else await self._rendered(text)
            rendered = text
            if message is None or message == shown:
                continue
            sent = await self._drafts.sender.show(self._address, message, self._context.draft)
            if not await self._continues(sent):
                return
            shown = message if sent.outcome is Outcome.SENT else None
            rendered = rendered if shown else ""
            pause = min(pause * SLOWER, SLOWEST * self._preview.seconds)
            seconds = max(pause, sent.retry_after or 0.0)

    async def _rendered(self, text: str) -> OutboundMessage | None:
        try:
            return await off_loop(len(text), self._preview.render, text)
        except Exception:
            log.exception("a draft could not be rendered", extra={"instance": self._context.instance.id})
            return None

    async def _continues(self, sent: Sent) -> bool:
        """Stores the id of the message. A first message whose outcome is unknown is not tried again.

        A failure of the database does not cost the answer: this process knows the id until it is finished.
        """
        if sent.outcome is Outcome.SENT and sent.ref and not self._context.draft:
            self._context.draft = sent.ref
            try:
                await self._drafts.conversations.drafted(self._event_id, sent.ref)
            except Exception:
                log.exception(
                    "the id of a draft could not be stored", extra={"instance": self._context.instance.id}
                )
        lost = sent.outcome is Outcome.UNKNOWN and not self._context.draft
        return not lost and sent.outcome is not Outcome.PERMANENT
