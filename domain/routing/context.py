"""Context of a message: the quoted message, the thread before it, and the text of recordings."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from domain.channels.messages import LONGEST_QUOTED, Event, Quoted, ThreadMessage
from domain.delivery.concurrency import ReadLimiter
from domain.files import MessageFilesService
from domain.refusals import Refusal, Unavailable, reason_of
from domain.routing.conversation import ConversationContext, place_of
from domain.routing.model import QuotedMessage
from ports.capabilities import PlatformError
from ports.files import SharedFile, Transcriber
from ports.queue import EarlierMessages, QueuedEvent

log = logging.getLogger(__name__)

READ_SECONDS = 5.0
"""The longest that reading a quoted message or a thread from the platform may take."""

MOST_EARLIER = 20
"""Earlier messages of a thread that are handed on."""

V = TypeVar("V")


@dataclass(eq=False)
class ContextService:
    """A failure costs the context alone: the message is handed on without it."""

    stored: EarlierMessages
    files: MessageFilesService
    reads: ReadLimiter

    async def quoted(self, context: ConversationContext, queued: QueuedEvent) -> QuotedMessage | None:
        """The message that the event replies to. Raises `Unavailable`."""
        event = queued.event
        quoted = event.quoted
        if quoted is not None and not quoted.is_given:
            quoted = await self.stored.find(context.instance.id, quoted) or await self._read(context, event)
        if quoted is None or not quoted.is_given:
            return None
        event = replace(event, attachments=quoted.attachments)
        fetched = await self.files.fetch(context.instance, event, place_of(context, queued))
        return QuotedMessage(bounded(quoted.text), quoted.author, tuple(fetched.files))

    async def thread(self, context: ConversationContext, queued: QueuedEvent) -> tuple[ThreadMessage, ...]:
        """The latest messages before the event in its thread, where the session is new. Raises `Unavailable`."""
        event, reader = queued.event, context.channel.thread_reader
        if not event.thread_post or reader is None:
            return ()
        if not await self.stored.is_first(context.instance.id, event.session_id, queued.id):
            return ()
        reading = reader.read_thread(context.config, context.target(event), event.thread_post, MOST_EARLIER)
        earlier = await self._within_time(context, reading, "the thread") or ()
        return tuple(replace(message, text=bounded(message.text)) for message in earlier[-MOST_EARLIER:])

    async def _read(self, context: ConversationContext, event: Event) -> Quoted | None:
        reader = context.channel.quoted_reader
        if reader is None or event.quoted is None:
            return None
        reading = reader.read_quoted(context.config, context.target(event), event.quoted)
        return await self._within_time(context, reading, "the quoted message")

    async def _within_time(self, context: ConversationContext, reading: Awaitable[V], what: str) -> V | None:
        """None if the platform did not answer in time."""
        extra = {"instance": context.instance.id}
        try:
            async with asyncio.timeout(READ_SECONDS), self.reads.slot(context.instance, context.channel):
                return await reading
        except Unavailable:
            raise
        except PlatformError as refused:
            log.warning("%s could not be read: %s", what, refused, extra=extra)
        except TimeoutError:
            log.warning("%s was not read: the platform took too long", what, extra=extra)
        except Exception as failure:
            log.exception("%s could not be read: %s", what, reason_of(failure), extra=extra)
        return None


def bounded(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= LONGEST_QUOTED else f"{text[: LONGEST_QUOTED - 1]}…"


@dataclass(eq=False)
class VoiceService:
    """`transcriber` is None where no speech model is set up: recordings are handed on as files alone."""

    transcriber: Transcriber | None

    async def text(self, context: ConversationContext, written: str, recordings: Sequence[SharedFile]) -> str:
        """What was written, and below it what was said. A recording in which nothing can be recognised adds
        nothing. Raises `Unavailable`."""
        if self.transcriber is None or not context.transcribes:
            return written
        texts = [written]
        for recording in recordings:
            try:
                texts.append(await self.transcriber.transcribe(recording))
            except Unavailable:
                raise
            except Refusal as refusal:
                log.warning(
                    "a voice message was not transcribed: %s",
                    refusal,
                    extra={"instance": context.instance.id},
                )
        return "\n\n".join(filter(None, texts))
