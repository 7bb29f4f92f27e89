"""What a reader is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from adapters.outbound.parsing.limits import Limits
from adapters.outbound.parsing.names import LABELS
from domain.knowledge.documents import Block, Format
from domain.refusals import TooLarge, Unreadable


@dataclass(frozen=True, slots=True)
class Job:
    """One file to read: where it lies, how messages call it, what it may cost.

    `progress` takes the share done, 0 to 1; `earn` asks for that many more CPU seconds, for work whose
    length is known beforehand; `whisper_dir` is the directory of a Whisper model or empty.
    """

    path: Path
    name: str
    format: Format
    limits: Limits
    progress: Callable[[float], None]
    earn: Callable[[float], None]
    whisper_dir: str = ""

    def unreadable(self, reason: str) -> Unreadable:
        """The refusal of a file that is broken; `reason` completes "NAME cannot be read as FORMAT: "."""
        return Unreadable(f"{self.name} cannot be read as {LABELS[self.format]}: {reason}")

    def too_large(self, reason: str) -> TooLarge:
        """The refusal of a file over a limit; `reason` completes "NAME is too large: "."""
        return TooLarge(f"{self.name} is too large: {reason}")


@dataclass(slots=True)
class Reading:
    """What a reader found. Blocks may be made lazily; title and engine hold once all are made."""

    blocks: Iterable[Block]
    title: str = ""
    engine: str | None = None
