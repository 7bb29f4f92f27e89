"""Context of a message: the quoted message, the thread before it, and the text of recordings."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from domain.channels.context import merged
from domain.channels.messages import LONGEST_QUOTED, ThreadMessage
from domain.conversations.choices import is_reference
from domain.delivery.concurrency import ReadLimiter
from domain.files import MessageFilesService
from domain.refusals import Refusal, Unavailable, reason_of
from domain.routing.conversation import ConversationContext
from domain.routing.model import QuotedMessage, RunRequest
from ports.capabilities import PlatformError
from ports.conversations import EarlierMessages
from ports.files import FetchedFiles, FilePlace, SharedFile, Transcriber
from ports.queue import QueuedEvent

log = logging.getLogger(__name__)

READ_SECONDS = 5.0
"""The longest that reading a quoted message or a thread from the platform may take."""

MOST_EARLIER = 20
"""Earlier messages of a thread that are handed on."""

V = TypeVar("V")


@dataclass(eq=False)
class ContextService:
    """A failure costs the context alone: the message is handed on without it. `transcriber` is None where no speech
    model is set up: recordings are handed on as files alone."""

    earlier: EarlierMessages
    files: MessageFilesService
    reads: ReadLimiter
    transcriber: Transcriber | None = None

    async def completed(
        self,
        context: ConversationContext,
        queued: QueuedEvent,
        request: RunRequest,
        fetched: FetchedFiles,
    ) -> RunRequest:
        """The request of a message with what was said before it, the words of recordings, the value of a pressed
        button that is not one of ours, and the files that are not handed on. Raises `Unavailable`."""
        event = queued.event
        more: dict[str, object] = {}
        if event.choice is not None and not is_reference(event.choice):
            more["payload"] = event.choice
        if fetched.left_out:
            more["filesLeftOut"] = [
                {"name": file.name, "size": file.size, "reason": file.reason} for file in fetched.left_out
            ]
        if more:
            request = replace(request, context=merged((event.context, more)))
        if fetched.recordings and self.transcriber:
            text = await self._transcribed(context, self.transcriber, event.text, fetched.recordings)
            request = replace(request, text=text)
        if event.quoted:
            request = replace(request, quoted=await self.quoted(context, queued))
        if event.thread_post:
            request = replace(request, thread=await self.thread(context, queued))
        return request

    async def _transcribed(
        self,
        context: ConversationContext,
        transcriber: Transcriber,
        written: str,
        recordings: Sequence[SharedFile],
    ) -> str:
        """What was written, and below it what was said. A recording in which nothing can be recognised adds
        nothing."""
        if not context.channel.definition.transcribes(context.instance.config):
            return written
        texts = [written]
        for recording in recordings:
            try:
                texts.append(await transcriber.transcribe(recording))
            except Unavailable:
                raise
            except Refusal as refusal:
                log.warning(
                    "a voice message was not transcribed: %s",
                    refusal,
                    extra={"instance": context.instance.id},
                )
        return "\n\n".join(filter(None, texts))

    async def quoted(self, context: ConversationContext, queued: QueuedEvent) -> QuotedMessage | None:
        """The message that the event replies to. Raises `Unavailable`."""
        event = queued.event
        quoted = event.quoted
        if quoted is not None and not quoted.is_given:
            stored, reader = (
                await self.earlier.find_quoted(context.instance.id, quoted),
                context.channel.quoted_reader,
            )
            if stored is None and reader:
                reading = reader.read_quoted(context.config, context.target(event), quoted)
                stored = await self._within_time(context, reading, "the quoted message")
            quoted = stored
        if quoted is None or not quoted.is_given:
            return None
        place = FilePlace(context.instance.id, event.session_id, queued.id, inbound=False)
        event = replace(event, attachments=quoted.attachments)
        fetched = await self.files.fetch(context.instance, event, place)
        return QuotedMessage(bounded(quoted.text), quoted.author, tuple(fetched.files))

    async def thread(self, context: ConversationContext, queued: QueuedEvent) -> tuple[ThreadMessage, ...]:
        """The latest messages before the event in its thread, where the session is new. Raises `Unavailable`."""
        event, reader = queued.event, context.channel.thread_reader
        if not event.thread_post or reader is None:
            return ()
        if not await self.earlier.is_first(context.instance.id, event.session_id, queued.id):
            return ()
        reading = reader.read_thread(context.config, context.target(event), event.thread_post, MOST_EARLIER)
        earlier = await self._within_time(context, reading, "the thread") or ()
        return tuple(replace(message, text=bounded(message.text)) for message in earlier[-MOST_EARLIER:])

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
