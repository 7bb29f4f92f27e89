"""What a reader is given and what it gives back: limits, job, reading, the outline of a document."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from adapters.outbound.parsing.names import LABELS
from domain.knowledge.documents import Block, Format
from domain.refusals import TooLarge, Unreadable

_MB = 1024 * 1024
_MOST_WARNINGS, _WARNING_CHARS = 20, 300
SECONDS_PER_BYTE = 1e-6
"""What reading the cells of a sheet may take, by the size of its XML, on a slow processor."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may hold, and what reading it may cost. Sizes in bytes, times in seconds.

    `inflated_bytes` and `inflate_ratio` count what a container really inflates to, whatever it declares; the
    ratio counts from `inflate_floor` on. `cpu_seconds` is for reading; recognising text and speech earns
    more as it goes on, up to `cpu_seconds_most`. `quiet_seconds` is the longest silence of a child.
    """

    inflated_bytes: int = 200 * _MB
    inflate_ratio: int = 200
    inflate_floor: int = 10 * _MB
    members: int = 5_000
    pages: int = 2_000
    rows: int = 200_000
    pixels: int = 50_000_000
    ocr_side: int = 2_500
    audio_seconds: int = 1_800
    text_chars: int = 20_000_000
    blocks: int = 400_000
    depth: int = 200
    memory_bytes: int = 2_048 * _MB
    memory_bytes_ocr: int = 3_072 * _MB
    file_bytes: int = 64 * _MB
    cpu_seconds: int = 120
    cpu_seconds_most: int = 1_800
    quiet_seconds: int = 300
    total_seconds: int = 3_600


@dataclass(frozen=True, slots=True)
class Job:
    """One file to read: where it lies, how messages call it, what it may cost.

    `progress` takes the share done, 0 to 1; `earn` asks for that many more CPU seconds, for work whose
    length is known beforehand; `whisper_dir` is the directory of a Whisper model or empty. `warnings` gathers
    what could not be read while the rest was.
    """

    path: Path
    name: str
    format: Format
    limits: Limits
    progress: Callable[[float], None]
    earn: Callable[[float], None]
    whisper_dir: str = ""
    warnings: list[str] = field(default_factory=list)

    def warn(self, warning: str) -> None:
        """Adds a sentence about a part that could not be read, once; of very many the first ones are named."""
        if warning in self.warnings or len(self.warnings) > _MOST_WARNINGS:
            return
        more = len(self.warnings) == _MOST_WARNINGS
        self.warnings.append("more parts could not be read" if more else warning[:_WARNING_CHARS])

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


class Sections:
    """The headings above the present place, one for each level."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """A heading of this level (1 is the outermost) begins; gives its path, itself included."""
        self._open = [(above, text) for above, text in self._open if above < level]
        self._open.append((level, title))
        return self.path

    @property
    def path(self) -> tuple[str, ...]:
        """The titles around the present place, the outermost first."""
        return tuple(title for _, title in self._open)
