"""The sources of knowledge bases: what drives them, and what they ask of the database and of the outside."""

from collections.abc import Sequence
from typing import Protocol

from domain.access.model import Caller
from domain.knowledge.sources.model import (
    LeasedSource,
    Listing,
    NewSource,
    PageContent,
    PageRefused,
    PageToRead,
    Source,
    SourceList,
    SourcePage,
    SourcePageList,
)


class KnowledgeSources(Protocol):
    """The inbound port. Each method raises `NotFound`, `Forbidden`."""

    async def add_pages(self, caller: Caller, base_id: int, url: str, every: float | None) -> Source:
        """Has a web page or a sitemap read into the base, and again every so many minutes; one that the base has
        already gets the new interval and is read again. Needs UPDATE. Raises `Invalid`."""
        ...

    async def list(self, caller: Caller, base_id: int, limit: int, cursor: int) -> SourceList:
        """The newest first; `cursor`: 0 for the first page."""
        ...

    async def pages(
        self, caller: Caller, base_id: int, source_id: int, status: str, limit: int, cursor: int
    ) -> SourcePageList:
        """In the order in which they are read; `status` empty: all. Raises `Invalid`."""
        ...

    async def read_now(self, caller: Caller, base_id: int, source_id: int) -> None:
        """Begins the next pass, as soon as one that is under way has ended. Needs UPDATE."""
        ...

    async def remove(self, caller: Caller, base_id: int, source_id: int, *, keep_files: bool) -> None:
        """Removes a source, and its files unless they are to be kept. Needs UPDATE. Raises `Conflict` for a folder
        that a channel feeds."""
        ...


class SourceStore(Protocol):
    """Sources as their users see them."""

    async def put(self, new: NewSource) -> int | None:
        """Stores a source, or changes the interval of the one that is there, and has it read. None: no base."""
        ...

    async def sources(self, base_id: int, limit: int, before: int) -> Sequence[Source]: ...

    async def source(self, base_id: int, source_id: int) -> Source | None: ...

    async def pages(self, source_id: int, status: str, limit: int, after: int) -> Sequence[SourcePage]: ...

    async def read_now(self, source_id: int) -> None: ...

    async def detach(self, instance_id: int, base_id: int | None) -> None:
        """Leaves what an instance has fed into other bases than this one to their users."""
        ...

    async def remove(self, source_id: int, *, keep_files: bool) -> None: ...


class SourceLeases(Protocol):
    """Sources as durable work."""

    async def claim(self, owner: int, *, newcomers_only: bool) -> LeasedSource | None:
        """Leases the source that is due, of the user with the fewest leased ones; begins its pass."""
        ...

    async def release(self, source_id: int, owner: int, pause: float) -> None:
        """Gives a source back, to go on with after so many seconds."""
        ...

    async def finish(self, source: LeasedSource, owner: int, error: str | None = None) -> None:
        """Ends a pass: what it did not find any more is removed, unless it ended with an error."""
        ...

    async def unused_files(self, limit: int) -> Sequence[tuple[int, str]]:
        """Base and hash of files that no page has any more and that are to be deleted."""
        ...


class SourcePages(Protocol):
    """The pages of a source during its pass."""

    async def settle(self, source_id: int) -> int:
        """Puts new versions that are ready in the place of the old ones; how many are still being processed."""
        ...

    async def next(self, source: LeasedSource) -> PageToRead | None: ...

    async def unchanged(self, source: LeasedSource, page: PageToRead) -> None:
        """A list names what it named before; a page is as it was."""
        ...

    async def listed(self, source: LeasedSource, page: PageToRead, listing: Listing) -> None: ...

    async def stored(self, source: LeasedSource, page: PageToRead, content: PageContent) -> None:
        """The content is on its way into the base."""
        ...

    async def refused(self, source: LeasedSource, page: PageToRead, refusal: PageRefused) -> None:
        """Stores why a page is not read, and counts the attempt. Of one that is skipped or gone the file goes too; a
        list that cannot be read names what it named before."""
        ...

    async def has(self, source: LeasedSource, key: bytes) -> bool:
        """Whether this pass lists an address."""
        ...


class SourceOrigin(Protocol):
    """Reads the pages of one kind of source."""

    async def read(self, source: LeasedSource, page: PageToRead) -> PageContent | Listing | None:
        """None: unchanged. Raises `PageRefused`, `PageLater`."""
        ...
