"""What turns a file into a document."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from domain.knowledge.documents import Document, FileType, FormatSupport
from domain.knowledge.model import Piece

Progress = Callable[[float], None]
"""Told the share of the work that is done, 0 to 1, now and then, on the event loop."""


@dataclass(frozen=True, slots=True)
class ReadPart:
    """The next stretch of a document's text, the pieces that were completed with it, and what could not be read."""

    text: str
    pieces: Sequence[Piece]
    warnings: Sequence[str] = ()


class Parser(Protocol):
    """Reads files of every format of the contract.

    Every refusal names the file and the reason, and leaves nothing behind.
    """

    async def identify(self, path: Path, file_name: str) -> FileType:
        """What the file is, from its first bytes and its directory; reads little of it.

        Raises `Unsupported` (no format of ours), `Unreadable` (empty, or text under a binary extension).
        """
        ...

    async def parse(self, path: Path, file_name: str, progress: Progress | None = None) -> Document:
        """The document in the file; `path` is where the bytes lie, `file_name` what the user calls it.

        Raises `Unsupported` (no format of ours, or an optional part is missing: says which),
        `Unreadable` (corrupt, encrypted, empty, without any text), `TooLarge` (over a limit on pages, rows,
        pixels, duration, text, time, memory or what a container inflates to).
        """
        ...

    def cut(
        self, path: Path, file_name: str, progress: Progress | None = None
    ) -> AsyncGenerator[ReadPart, None]:
        """The document in the file, cut into pieces while it is read: the next part is read when it is asked for.

        Refuses as `parse` does, be it in the middle; raises `Unavailable` where reading broke off.
        """
        ...

    def available(self) -> Sequence[FormatSupport]:
        """One entry per format, in the contract's order."""
        ...

    async def close(self) -> None:
        """Ends what is running; a parse under way is abandoned."""
        ...
