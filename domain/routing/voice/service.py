"""Voice messages as text."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from domain.refusals import Refusal, Unavailable
from domain.routing.invocation.model import ConversationContext
from ports.files import SharedFile, Transcriber

log = logging.getLogger(__name__)


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
