"""Use cases and stores of knowledge bases and their sources."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.access.model import Caller
from domain.knowledge.model import (
    ALL_FILES,
    Base,
    BaseChange,
    Chunk,
    EarlierTurn,
    FileRecord,
    FileState,
    FilesWanted,
    FileText,
    KnowledgeAnswer,
    NewBase,
    Permission,
    SearchResult,
    TextWindow,
    UploadedFile,
    UploadRules,
)
from domain.knowledge.ranking import Explanation
from domain.knowledge.rules import DEFAULT, SearchOptions
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
from domain.paging import Page, Slice


class KnowledgeBases(Protocol):
    """The bases and who may use them. An unknown base is `NotFound`, too low a level `Forbidden`."""

    async def list(self, caller: Caller) -> Sequence[Base]:
        """Those that the caller may access, with the caller's level."""
        ...

    async def create(self, caller: Caller, new: NewBase) -> Base:
        """Raises `Invalid` for an empty name."""
        ...

    async def get(self, caller: Caller, base_id: int) -> Base:
        """Needs READ."""
        ...

    async def update(self, caller: Caller, base_id: int, change: BaseChange) -> None:
        """Needs UPDATE. Raises `Invalid` for an empty name."""
        ...

    async def delete(self, caller: Caller, base_id: int) -> None:
        """Needs DELETE. Removes the base, its files, their chunks and, when set so, its memory nodes."""
        ...

    async def permissions(self, caller: Caller, base_id: int) -> Sequence[Permission]:
        """Needs DELETE."""
        ...

    async def set_permission(self, caller: Caller, base_id: int, user_id: str, level: int) -> None:
        """Needs DELETE; level 0 revokes. Raises `Invalid`."""
        ...


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


class KnowledgeFiles(Protocol):
    """Files into a base, and what became of them out of it."""

    async def upload(
        self, caller: Caller, base_id: int, files: AsyncIterator[IncomingFile], respond_async: bool = False
    ) -> Sequence[UploadedFile]:
        """Stores, parses, chunks and embeds files, all of them or none. Needs UPDATE.

        Returns once every file can be found, with `respond_async` once every file is stored. Raises
        `NotFound`, `Forbidden`, `Invalid` (no files), `TooLarge`, `Unsupported`, `Unreadable`; the last
        three name the file.
        """
        ...

    async def list(
        self, caller: Caller, base_id: int, wanted: FilesWanted = ALL_FILES
    ) -> Sequence[FileRecord]:
        """In the order in which they came. Raises `NotFound`, `Forbidden`, `Invalid`."""
        ...

    async def get(self, caller: Caller, file_hash: str) -> FileRecord:
        """Raises `NotFound`."""
        ...

    async def download(
        self, caller: Caller, file_hash: str, offset: int = 0, length: int | None = None
    ) -> Download:
        """Raises `NotFound`."""
        ...

    async def text(self, caller: Caller, file_hash: str, limit: int, offset: int) -> TextWindow:
        """`limit` characters of the text from `offset` on. Raises `NotFound`, `Invalid`."""
        ...

    async def chunk(self, caller: Caller, chunk_id: str) -> Chunk:
        """Raises `NotFound`."""
        ...

    async def chunks(self, caller: Caller, file_hash: str, limit: int = 5, offset: int = 0) -> Slice[Chunk]:
        """Raises `NotFound`, `Invalid`."""
        ...


class BaseFiles(Protocol):
    """The files of one base: how far they are, what to do with them, their texts. Each method with an id raises
    `NotFound`, `Forbidden`."""

    async def rules(self, caller: Caller) -> UploadRules: ...

    async def states(
        self, caller: Caller, base_id: int, limit: int, cursor: int, name: str = ""
    ) -> Page[FileState, int]:
        """The newest first; `cursor`: 0 for the first page; `name`: only files whose names hold it, in any case."""
        ...

    async def state(self, caller: Caller, base_id: int, file_hash: str) -> FileState: ...

    async def remove(self, caller: Caller, base_id: int, file_hash: str) -> None:
        """Deletes a file with its chunks; one that is being processed is cancelled, with all of its upload where the
        caller of the upload waits. Needs UPDATE."""
        ...

    async def retry(self, caller: Caller, base_id: int, file_hash: str) -> None:
        """Has a file that failed processed again. Needs UPDATE. Raises `Conflict` for another one."""
        ...

    async def text(self, caller: Caller, base_id: int, file_hash: str, limit: int, offset: int) -> FileText:
        """The text around `limit` chunks from `offset` on; fewer where they are very long. Raises `Invalid`."""
        ...


class KnowledgeSearch(Protocol):
    """Search in a base. Each method raises `NotFound`, `Forbidden`, `Invalid`."""

    async def search(
        self, caller: Caller, base_id: int, query: str, options: SearchOptions = DEFAULT
    ) -> Sequence[SearchResult]:
        """At most `top_k` chunks, the most relevant first. None where vectors alone are asked for and the model does
        not know the query's script."""
        ...

    async def explain(
        self, caller: Caller, base_id: int, query: str, options: SearchOptions = DEFAULT
    ) -> Explanation:
        """The same chunks with what each of the two searches says of them, and what only one of them found."""
        ...


class KnowledgeQuestions(Protocol):
    """Questions to a base."""

    async def ask(
        self, caller: Caller, base_id: int, question: str, history: Sequence[EarlierTurn] = ()
    ) -> KnowledgeAnswer:
        """What the model of a rule answers from the base, else the best passages.

        Raises `NotFound`, `Forbidden`, `Invalid`, `TooMany`, `Unavailable` (the model gives no answer).
        """
        ...


class KnowledgeSources(Protocol):
    """The inbound port. Each method raises `NotFound`, `Forbidden`."""

    async def add_pages(self, caller: Caller, base_id: int, url: str, every: float | None) -> Source:
        """Has a web page or a sitemap read into the base, and again every so many minutes; one that the base has
        already gets the new interval and is read again. Needs UPDATE. Raises `Invalid`."""
        ...

    async def list(self, caller: Caller, base_id: int, limit: int, cursor: int) -> Page[Source, int]:
        """The newest first; `cursor`: 0 for the first page."""
        ...

    async def pages(
        self, caller: Caller, base_id: int, source_id: int, status: str, limit: int, cursor: int
    ) -> Page[SourcePage, int]:
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
        """Return True if this pass lists an address."""
        ...


class SourceOrigin(Protocol):
    """Reads the pages of one kind of source."""

    async def read(self, source: LeasedSource, page: PageToRead) -> PageContent | Listing | None:
        """None: unchanged. Raises `PageRefused`, `PageLater`."""
        ...
