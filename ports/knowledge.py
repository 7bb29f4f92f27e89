"""Use cases and stores of knowledge bases and their sources."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.knowledge.sources.model import (
    FileSource,
    LeasedSource,
    Listing,
    NewSource,
    PageContent,
    PageRefused,
    PageToRead,
    Source,
    SourcePage,
)


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """One file of an upload; its content is read before the next file comes."""

    name: str
    content: AsyncIterator[bytes]
    source: FileSource | None = None


@dataclass(frozen=True, slots=True)
class Download:
    """A file's bytes on their way out; `size` is that of the whole file."""

    name: str
    size: int
    content: AsyncIterator[bytes]


class SourceStore(Protocol):
    """Sources as their users see them, their leases, and the pages of a source during its pass."""

    async def put(self, new: NewSource) -> int | None:
        """Stores a source, or changes the interval of the one that is there, and has it read. None: no base."""

    async def sources(self, base_id: int, limit: int, before: int) -> Sequence[Source]: ...

    async def source(self, base_id: int, source_id: int) -> Source | None: ...

    async def pages(self, source_id: int, status: str, limit: int, after: int) -> Sequence[SourcePage]: ...

    async def read_now(self, source_id: int) -> None: ...

    async def detach(self, instance_id: int, base_id: int | None) -> None:
        """Leaves what an instance has fed into other bases than this one to their users."""

    async def remove(self, source_id: int, *, keep_files: bool) -> None: ...

    async def claim(self, owner: int, *, newcomers_only: bool) -> LeasedSource | None:
        """Leases the source that is due, of the user with the fewest leased ones; begins its pass."""

    async def release(self, source_id: int, owner: int, pause: float) -> None:
        """Gives a source back, to go on with after so many seconds."""

    async def finish(self, source: LeasedSource, owner: int, error: str | None = None) -> None:
        """Ends a pass: what it did not find any more is removed, unless it ended with an error."""

    async def unused_files(self, limit: int) -> Sequence[tuple[int, str]]:
        """Base and hash of files that no page has any more and that are to be deleted."""

    async def settle(self, source_id: int) -> int:
        """Puts new versions that are ready in the place of the old ones; how many are still being processed."""

    async def next_page(self, source: LeasedSource) -> PageToRead | None: ...

    async def unchanged(self, source: LeasedSource, page: PageToRead) -> None:
        """A list names what it named before; a page is as it was."""

    async def listed(self, source: LeasedSource, page: PageToRead, listing: Listing) -> None: ...

    async def stored(self, source: LeasedSource, page: PageToRead, content: PageContent) -> None:
        """The content is on its way into the base."""

    async def refused(self, source: LeasedSource, page: PageToRead, refusal: PageRefused) -> None:
        """Stores why a page is not read, and counts the attempt. Of one that is skipped or gone the file goes too; a
        list that cannot be read names what it named before."""

    async def has_page(self, source: LeasedSource, key: bytes) -> bool:
        """Return True if this pass lists an address."""


class SourceOrigin(Protocol):
    """Reads the pages of one kind of source."""

    async def read(self, source: LeasedSource, page: PageToRead) -> PageContent | Listing | None:
        """None: unchanged. Raises `PageRefused`, `PageLater`."""
