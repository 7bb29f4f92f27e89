"""Input and output of a reader: limits, job, sections; names in messages; the refusals for failures."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from domain.knowledge.documents import Block, BlockKind, Format
from domain.refusals import FULL, Refusal, StorageFull, TooLarge, Unreadable, Unsupported, is_full_disk

LABELS: dict[Format, str] = {
    **{kind: kind.value.upper() for kind in Format},
    Format.MARKDOWN: "Markdown",
    Format.WEBP: "WebP",
    Format.TXT: "plain text",
    Format.EML: "mail message",
    Format.MSG: "Outlook message",
}

_SHOWN_CHARS = 200


def shown(file_name: str) -> str:
    """The name as messages show it: its last path segment, printable, of bearable length."""
    last = file_name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    printable = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in last)
    return printable[-_SHOWN_CHARS:].strip() or "unnamed file"


def extension(file_name: str) -> str:
    """The extension in lower case, without the dot; empty for a name without one."""
    stem, dot, ending = shown(file_name).rpartition(".")
    return ending.lower() if dot and stem else ""


def stem(file_name: str) -> str:
    name = shown(file_name)
    return name[: -len(extension(name)) - 1] if extension(name) else name


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


@dataclass(slots=True)
class Job:
    """One file to read: where it lies, how messages call it, what it may cost.

    `progress` takes the share done, 0 to 1; `earn` asks for that many more CPU seconds, for work whose
    length is known beforehand; `whisper_dir` is the directory of a Whisper model or empty.

    The reader yields the blocks, and writes the rest here: `warnings` of what could not be read while the rest was,
    the title, and the engine that recognised text or speech; title and engine hold once all blocks were made.
    """

    path: Path
    name: str
    format: Format
    limits: Limits
    progress: Callable[[float], None]
    earn: Callable[[float], None]
    whisper_dir: str = ""
    warnings: list[str] = field(default_factory=list)
    title: str = ""
    engine: str | None = None
    rows: int = 0
    """Of all sheets so far."""

    def warn(self, warning: str) -> None:
        """Adds a sentence about a part that could not be read, once; of very many the first ones are named."""
        if warning in self.warnings or len(self.warnings) > _MOST_WARNINGS:
            return
        more = len(self.warnings) == _MOST_WARNINGS
        self.warnings.append("more parts could not be read" if more else warning[:_WARNING_CHARS])

    def check_pages(self, count: int, what: str) -> None:
        """Raises `TooLarge` for more pages, or slides, than are allowed."""
        if count > self.limits.pages:
            raise self.too_large(f"it has {count:,} {what}, {self.limits.pages:,} are allowed")

    def count_rows(self, count: int, sheet: str) -> None:
        """Raises `TooLarge` for more rows of all sheets than are allowed."""
        self.rows += count
        if self.rows > self.limits.rows:
            raise self.too_large(f"it holds more than {self.limits.rows:,} rows (sheet {sheet})")

    def unreadable(self, reason: str) -> Unreadable:
        """The refusal of a file that is broken; `reason` completes "NAME cannot be read as FORMAT: "."""
        return Unreadable(f"{self.name} cannot be read as {LABELS[self.format]}: {reason}")

    def too_large(self, reason: str) -> TooLarge:
        """The refusal of a file over a limit; `reason` completes "NAME is too large: "."""
        return TooLarge(f"{self.name} is too large: {reason}")


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


_RECORD_CHARS = 1_000


def field_blocks(lines: Iterable[tuple[str, str]]) -> Iterator[Block]:
    """Lines, each behind the name of its record, in blocks of about 1,000 characters. Another record, unless its name
    is empty, begins another block."""
    block: list[str] = []
    size, former = 0, ""
    for record, line in lines:
        is_other = bool(record) and record != former
        if block and (is_other or size + len(line) > _RECORD_CHARS):
            yield Block(BlockKind.FIELD, "\n".join(block))
            block, size = [], 0
        block.append(line)
        size += len(line)
        former = record
    if block:
        yield Block(BlockKind.FIELD, "\n".join(block))


_LIBXML_NO_MEMORY = 2  # xmlParserErrors.XML_ERR_NO_MEMORY, in the code of lxml's errors


def meaning(error: Exception, name: str, kind: str) -> Refusal:
    """A refusal as it is, anything else as the refusal of the file; `kind` is the label of its format. What a library
    says of the damage is for the log alone."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, MemoryError) or getattr(error, "code", None) == _LIBXML_NO_MEMORY:
        return TooLarge(f"{name} is too large: reading it needs more memory than a file may take")
    if is_full_disk(error):
        return StorageFull(FULL)
    if isinstance(error, RecursionError):
        return Unreadable(f"{name} cannot be read as {kind}: it is nested too deeply")
    if isinstance(error, ImportError):
        return Unsupported(
            f"{name} cannot be read here: {kind} needs the Python package {error.name or error}; "
            "install it, then upload the file again"
        )
    return Unreadable(
        f"{name} cannot be read as {kind}: the content is damaged; open it in the program that made it, "
        "save it again, and upload it again"
    )


@contextmanager
def contained(job: Job, part: str) -> Iterator[None]:
    """Turns the failure of a part into a warning, which begins with `part`. What is over a limit fails the file."""
    try:
        yield
    except Exception as error:
        refusal = meaning(error, part, "a part")
        if not isinstance(refusal, Unreadable):
            raise
        job.warn(f"{part} is damaged and was not read")


@contextmanager
def refused(name: str, kind: str) -> Iterator[list[Refusal]]:
    """Keeps the failure of a part from being that of its file; the list gets its refusal.

    Running out of memory or disk is no matter of a part alone.
    """
    refusals: list[Refusal] = []
    try:
        yield refusals
    except Exception as error:
        if isinstance(error, MemoryError) or is_full_disk(error):
            raise
        refusals.append(meaning(error, name, kind))
