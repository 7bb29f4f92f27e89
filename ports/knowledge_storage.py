"""Stores of knowledge bases: files, chunks, uploads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.access.sharing import Grantee, Level, Permission
from domain.knowledge import model
from domain.knowledge.rules import DEFAULT, SearchOptions
from domain.knowledge.sources.model import FileSource
from domain.knowledge.text_match import Query, Statistics, TextMatch
from ports.files import SharedFile
from ports.indexing import Vector
from ports.system import MemoryTask


class BaseStore(Protocol):
    """Bases and the permissions on them, and what is left to do for removed ones."""

    async def add(self, owner: str, new: model.NewBase) -> model.Base:
        """Stores a base; the owner has level 3 on it."""

    async def find(self, base_id: int, user_id: str) -> model.Base | None:
        """The base with the level granted to that user."""

    async def of_user(self, user_id: str, among: Sequence[int] | None = None) -> Sequence[model.Base]:
        """The bases that the user has a level on, by id; only those `among` some, where they are given."""

    async def all(self) -> Sequence[model.Base]: ...

    async def change(self, base_id: int, change: model.BaseChange) -> bool:
        """False when it is gone."""

    async def drop_indexes(self, base_id: int) -> None:
        """Drops the vector indexes of a base that is about to be removed, as deleting its rows one by one from them
        takes far longer. They are built again where it stays."""

    async def remove(self, base_id: int, *, sync_memory: bool) -> Sequence[str] | None:
        """Removes the base and all that is in it, in one transaction; the blobs it used. None: it is gone.

        With `sync_memory` the task to delete its memory nodes is stored in the same transaction.
        """

    async def permissions(self, base_id: int) -> Sequence[Permission]: ...

    async def grant(self, base_id: int, grantee: Grantee, level: Level) -> bool:
        """NONE revokes. False where the team or the base is not there."""

    async def due_memory_tasks(self, limit: int) -> Sequence[MemoryTask]:
        """Takes tasks that are due, to delete nodes of the memory service; they are due again after a while unless
        they are done by then."""

    async def memory_task_done(self, base_id: int) -> None: ...

    async def postpone_memory_task(self, base_id: int, seconds: float, error: str) -> None: ...


class KnowledgeFileStore(Protocol):
    """Files of bases: their records, chunks, texts and states, and their removal."""

    async def of_base(
        self, base_id: int, wanted: model.FilesWanted = model.ALL_FILES
    ) -> Sequence[model.FileRecord]: ...

    async def find(
        self, file_hash: str, user_id: str, *, readable: bool
    ) -> tuple[model.FileRecord, Level] | None:
        """The record of that hash: the user's own, else one that the user may READ, else any.

        With `readable` only one that the user may READ.
        """

    async def text(
        self, file_hash: str, user_id: str, start: int, length: int, *, readable: bool
    ) -> model.TextWindow | None:
        """A stretch of the text of the record that `find` gives."""

    async def chunk(self, chunk_id: str, user_id: str) -> tuple[model.Chunk, Level] | None: ...

    async def chunks(
        self, file: model.FileRecord, limit: int, offset: int
    ) -> tuple[Sequence[model.Chunk], int]:
        """A window of the file's chunks, in document order, and how many there are: none until it is ready."""

    async def states(self, base_id: int, limit: int, before: int, name: str) -> Sequence[model.FileState]:
        """The newest first, with ids below `before` (0: all) and names that hold `name` in any case."""

    async def state(self, base_id: int, file_hash: str) -> model.FileState | None: ...

    async def places(self, file: model.FileState, limit: int, offset: int) -> Sequence[model.ChunkPlace]:
        """A window of the file's chunks, in document order."""

    async def text_of(self, file: model.FileState, start: int, length: int) -> tuple[str, int]:
        """Returns a part of the text, and the length of the whole text."""

    async def remove(self, base_id: int, file_hash: str) -> Sequence[str] | None:
        """Removes a file with its chunks; the blobs it used. None: it is gone.

        Where the caller of its upload waits, all of the upload is taken back.
        """

    async def retry(self, base_id: int, file_hash: str, user_id: str) -> model.FileStatus | None:
        """Makes an upload of a file that failed; the status before. None: it is gone."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may match, with the words of the query that it holds. `file_id` is set if the search asks for
    files."""

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

    async def statistics(self, base_id: int, query: Query) -> Statistics: ...

    async def matches(
        self, base_id: int, match: TextMatch, statistics: Statistics, options: SearchOptions = DEFAULT
    ) -> Sequence[Candidate]:
        """The chunks that hold most of the query's weight, several times as many as are wanted."""

    async def nearest(
        self, base_id: int, vector: Vector, fingerprint: str, options: SearchOptions = DEFAULT
    ) -> Sequence[tuple[str, float]]:
        """Keys and cosines of the nearest chunks, among those that the model embedded."""

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
        """Return True if this process embeds the chunks again for the next minute."""

    async def drop_unused(self, fingerprint: str) -> None:
        """Removes vectors that are to follow none in use, or are of another model."""

    async def other_bases(self, fingerprint: str) -> Sequence[int]: ...

    async def progress(self, fingerprint: str) -> tuple[int, int]:
        """How many chunks of those bases have their new vectors, and how many there are."""

    async def next_other(
        self, base_id: int, fingerprint: str, after: int, limit: int
    ) -> Sequence[OtherChunk]:
        """The next chunks behind a `seq` that lack the model's vector."""

    async def keep(self, fingerprint: str, vectors: Sequence[tuple[OtherChunk, Vector]]) -> None:
        """Stores vectors beside those that are in use."""

    async def change_over(self, base_id: int, fingerprint: str) -> bool:
        """Puts the base's new vectors in the place of the old ones; False when some are still missing."""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A stored file on its way into a base."""

    name: str
    blob_key: str
    hash: str
    size: int
    mime_type: str
    source: FileSource | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """The records of an upload's files, in the upload's order. `upload_id` is None when all were there."""

    upload_id: int | None
    files: Sequence[tuple[int, model.FileStatus, str]]
    """Id, status and name of each record."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an upload failed: the refusal's reason and its sentence."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Work:
    """A leased upload. `attempts` counts the tries, this one included."""

    upload_id: int
    base_id: int
    attempts: int
    files: Sequence[model.FileRecord]
    """Those of its files that are still to be parsed and staged."""


@dataclass(frozen=True, slots=True)
class StagedPiece:
    """A piece whose vector is still to be made. `seq`: pieces are numbered in the order in which they are staged."""

    file_id: int
    position: int
    text: str
    seq: int = 0


class UploadStore(Protocol):
    """Records of uploads, and leases on the work on them."""

    async def begin(
        self, base_id: int, user_id: str, files: Sequence[NewFile], respond_async: bool
    ) -> Begun | None:
        """Makes the records; a file that the base has already is taken as it is. None: the base is gone."""

    async def rename(self, base_id: int, names: Mapping[str, str]) -> None:
        """Records names of files of a base, by hash; what it does not have is passed over."""

    async def statuses(self, file_ids: Sequence[int]) -> Mapping[int, model.FileStatus]: ...

    async def failure(self, upload_id: int) -> Failure | None: ...

    async def forget_ended(self) -> Sequence[str]:
        """Removes what ended or failed a day ago; the blobs that it used."""

    async def claim(self, owner: int, *, newcomers_only: bool = False) -> Work | None:
        """Leases the next due upload: that of the user with the fewest running ones first, and of one user's the
        short ones before the long ones.

        `newcomers_only`: of a user who has none running, or a short one of a user who has no short one running.
        """

    async def renew(self, upload_id: int, owner: int) -> bool:
        """Prolongs the lease; False when it is lost."""

    async def preparing(self, upload_id: int, owner: int, *, under_way: bool) -> None:
        """Stores whether the upload waits for the embedding model to be prepared; until another leases it."""

    async def fail(self, work: Work, owner: int, failure: Failure) -> Sequence[str]:
        """Takes all of the upload back; the blobs that it used."""

    async def remove(self, upload_id: int, failure: Failure) -> None:
        """Removes an upload that takes no outcome; its files stay and say why they failed."""

    async def retry(self, upload_id: int, owner: int, seconds: float) -> None:
        """Gives the work back, to be taken up after so many seconds."""


class Staging(Protocol):
    """Pieces of uploads under way: invisible until all of an upload's are published at once."""

    async def model_of(self, base_id: int) -> str | None:
        """The fingerprint of the model whose vectors the base is searched by; None while it has none."""

    async def unembedded(
        self, upload_id: int, fingerprint: str, limit: int, after: int = 0
    ) -> Sequence[StagedPiece]:
        """The next pieces behind a `seq` that have no vector of that model. What is staged at the same time may be
        numbered the other way round, so that only a search from the beginning finds all."""

    async def embedded(
        self, upload_id: int, fingerprint: str, vectors: Sequence[tuple[StagedPiece, Vector]]
    ) -> None:
        """Stores vectors and the files' progress."""

    async def publish(self, work: Work, owner: int, fingerprint: str, base_model: str | None) -> bool:
        """Makes all chunks of the upload visible at once, with their vectors of that model. False when base or lease
        are gone, or `model_of` the base is no longer `base_model`."""

    async def reading(self, work: Work, file_id: int, share: float) -> None:
        """Stores how far a file has been read, 0 to 1, as the first part of its progress."""

    async def begin(self, work: Work, file_id: int) -> None:
        """Removes what an earlier try has staged of a file."""

    async def stage(
        self, work: Work, file_id: int, start: int, text: str, pieces: Sequence[tuple[str, model.Piece]]
    ) -> bool:
        """Stores the stretch of a file's text that begins at `start`, and pieces, each with its chunk id; False when
        file or lease are gone."""

    async def finish(self, work: Work, file_id: int, mime_type: str, warnings: Sequence[str] = ()) -> None:
        """Ends the staging of a file: its text is whole, apart from what the warnings name."""
