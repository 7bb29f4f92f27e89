"""What the knowledge bases ask of the database."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from domain.knowledge.file_states import TextWindow
from domain.knowledge.model import (
    ALL_FILES,
    Base,
    BaseChange,
    Chunk,
    FileRecord,
    FilesWanted,
    Level,
    NewBase,
    Permission,
)
from domain.knowledge.search.options import DEFAULT, SearchOptions
from domain.knowledge.text_match import Query, Statistics, TextMatch
from ports.embedding import Vector
from ports.files import SharedFile


class BaseStore(Protocol):
    """Bases."""

    async def add(self, owner: str, new: NewBase) -> Base:
        """Stores a base; the owner has level 3 on it."""
        ...

    async def find(self, base_id: int, user_id: str) -> Base | None:
        """The base with the level granted to that user."""
        ...

    async def of_user(self, user_id: str, among: Sequence[int] | None = None) -> Sequence[Base]:
        """The bases that the user has a level on, by id; only those `among` some, where they are given."""
        ...

    async def all(self) -> Sequence[Base]: ...

    async def change(self, base_id: int, change: BaseChange) -> bool:
        """False when it is gone."""
        ...

    async def remove(self, base_id: int, *, sync_memory: bool) -> Sequence[str] | None:
        """Removes the base and all that is in it, in one transaction; the blobs it used. None: it is gone.

        With `sync_memory` the task to delete its memory nodes is stored in the same transaction.
        """
        ...


class PermissionStore(Protocol):
    """Who may do what with a base."""

    async def permissions(self, base_id: int) -> Sequence[Permission]: ...

    async def grant(self, base_id: int, user_id: str, level: Level) -> None: ...


class FileStore(Protocol):
    """File records and their chunks, as they are read."""

    async def of_base(self, base_id: int, wanted: FilesWanted = ALL_FILES) -> Sequence[FileRecord]: ...

    async def find(self, file_hash: str, user_id: str, *, readable: bool) -> tuple[FileRecord, Level] | None:
        """The record of that hash: the user's own, else one that the user may READ, else any.

        With `readable` only one that the user may READ.
        """
        ...

    async def text(
        self, file_hash: str, user_id: str, start: int, length: int, *, readable: bool
    ) -> TextWindow | None:
        """A stretch of the text of the record that `find` gives."""
        ...

    async def chunk(self, chunk_id: str, user_id: str) -> tuple[Chunk, Level] | None: ...

    async def chunks(self, file: FileRecord, limit: int, offset: int) -> tuple[Sequence[Chunk], int]:
        """A window of the file's chunks, in document order, and how many there are: none until it is ready."""
        ...


class BlobReferences(Protocol):
    """Which blobs are in use: by file records, or held by uploads under way."""

    async def hold(self, key: str, size: int) -> None:
        """Keeps a blob from being swept while its upload runs."""
        ...

    async def release(self, keys: Sequence[str]) -> None:
        """Ends one hold for each mention of a key."""
        ...

    def locked_unreferenced(self, keys: Sequence[str]) -> AbstractAsyncContextManager[Sequence[str]]:
        """Those of the blobs that nothing uses, locked; they are forgotten when the block ends well."""
        ...

    async def keep_unsent(self) -> None:
        """Prolongs the holds of what replies carry that wait, or are dead letters."""
        ...

    async def left_over(self, limit: int) -> Sequence[str]:
        """Blobs that nothing has used for an hour."""
        ...

    async def unknown(self, keys: Sequence[str]) -> Sequence[str]:
        """Those of the keys that no row knows."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may match, with those of the query's words that it holds. `file_id` is told where the search asks
    for files."""

    key: str
    held: frozenset[str]
    file_id: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A found chunk as it is shown, and what both searches need to judge it."""

    key: str
    chunk_id: str
    text: str
    context: str
    metadata: str | None
    file_hash: str
    file: SharedFile
    held: frozenset[str]
    cosine: float
    source_url: str | None = None

    @property
    def file_name(self) -> str:
        return self.file.name


class ChunkIndex(Protocol):
    """The two searches over the chunks of one base.

    Each finds as many as `top_k`, of the files that the options name, and `per_file` of each: it looks as deep as
    that takes.
    """

    async def model_of(self, base_id: int) -> str | None:
        """The fingerprint of the model whose vectors the base is searched by; None while it has none."""
        ...

    async def statistics(self, base_id: int, query: Query) -> Statistics: ...

    async def matches(
        self, base_id: int, match: TextMatch, statistics: Statistics, options: SearchOptions = DEFAULT
    ) -> Sequence[Candidate]:
        """The chunks that hold most of the query's weight, several times as many as are wanted."""
        ...

    async def nearest(
        self, base_id: int, vector: Vector, fingerprint: str, options: SearchOptions = DEFAULT
    ) -> Sequence[tuple[str, float]]:
        """Keys and cosines of the nearest chunks, among those that the model embedded."""
        ...

    async def passages(
        self,
        base_id: int,
        keys: Sequence[str],
        vocabulary: frozenset[str],
        vector: Vector | None,
        fingerprint: str,
    ) -> Sequence[Passage]: ...


@dataclass(frozen=True, slots=True)
class OtherChunk:
    """A chunk that another model has embedded, with what is to be embedded anew."""

    base_id: int
    seq: int
    text: str


class Reindexing(Protocol):
    """Bases whose vectors come from another model, and the vectors that are to follow.

    These lie beside the others until all of a base are there: then the base changes over at once.
    """

    async def lease(self, owner: int, fingerprint: str) -> bool:
        """Whether this process is the one that embeds anew, for the next minute."""
        ...

    async def drop_unused(self, fingerprint: str) -> None:
        """Removes vectors that are to follow none in use, or are of another model."""
        ...

    async def other_bases(self, fingerprint: str) -> Sequence[int]: ...

    async def progress(self, fingerprint: str) -> tuple[int, int]:
        """How many chunks of those bases have their new vectors, and how many there are."""
        ...

    async def next_other(
        self, base_id: int, fingerprint: str, after: int, limit: int
    ) -> Sequence[OtherChunk]:
        """The next chunks behind a `seq` that lack the model's vector."""
        ...

    async def keep(self, fingerprint: str, vectors: Sequence[tuple[OtherChunk, Vector]]) -> None:
        """Stores vectors beside those that are in use."""
        ...

    async def change_over(self, base_id: int, fingerprint: str) -> bool:
        """Puts the base's new vectors in the place of the old ones; False when some are still missing."""
        ...
