"""Knowledge bases, their files, chunks and answers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.access.sharing import Level
from domain.channels.provenance import Citation
from domain.knowledge.documents import FormatSupport
from domain.knowledge.places import Place
from domain.paging import Window


class ReadPolicy(StrEnum):
    """Who may read what is in a base: `documented` everybody, as the interface has it, `strict` who has READ."""

    DOCUMENTED = "documented"
    STRICT = "strict"


class FileStatus(StrEnum):
    """How far a file is: its chunks can be found once it is `ready`."""

    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Base:
    """A knowledge base. `level` is the caller's, set in lists alone."""

    id: int
    name: str
    description: str
    created_by: str
    created_at: datetime
    updated_at: datetime
    level: Level | None = None


@dataclass(frozen=True, slots=True)
class NewBase:
    """What a create asks for; `manifest` is the JSON object that came with it, kept as it is."""

    name: str
    description: str = ""
    manifest: Mapping[str, Any] = field(default_factory=lambda: {"files": []})


@dataclass(frozen=True, slots=True)
class BaseChange:
    """What an update asks for; None leaves a field as it is."""

    name: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file of a base. `hash` is the lower-case hex SHA-256 of its bytes and its public id.

    `blob_key` finds its bytes; `size` in bytes; `progress` 0 to 1; `error` says why it failed; `warnings` say what of
    it could not be read; `queue_position` is that of its upload among all that wait, from 1, None once it is worked
    on.
    """

    id: int
    base_id: int
    name: str
    blob_key: str
    hash: str
    size: int
    mime_type: str
    text: str
    uploaded_by: str
    created_at: datetime
    updated_at: datetime
    status: FileStatus = FileStatus.READY
    progress: float = 1.0
    error: str | None = None
    warnings: tuple[str, ...] = ()
    queue_position: int | None = None


@dataclass(frozen=True, slots=True)
class FilesWanted:
    """Which files of a base a list shows: `limit` from `offset` on, None: all; those whose names hold `name`, in any
    case; with their texts or with empty ones."""

    limit: int | None = None
    offset: int = 0
    name: str = ""
    with_text: bool = True


ALL_FILES = FilesWanted()


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """What an upload answers for one file."""

    hash: str
    name: str
    size: int
    mime_type: str
    status: FileStatus


@dataclass(frozen=True, slots=True)
class Chunk:
    """A searchable piece of a file. `metadata` is a JSON text that says where it stands."""

    id: str
    user_id: str
    text: str
    file_hash: str
    metadata: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A chunk that answers a query; `similarity` 0 to 1, higher is more relevant.

    It is the higher of `text_score` and `vector_score`, each None where that search did not find the chunk.
    `highlights` are characters of the text, first and behind the last. `url` is a signed address of the file, which
    needs no key and expires; `source_url` is where a source read it.
    """

    chunk_id: str
    text: str
    file_hash: str
    metadata: str | None
    similarity: float
    file_name: str = ""
    text_score: float | None = None
    vector_score: float | None = None
    highlights: Sequence[tuple[int, int]] = ()
    url: str = ""
    source_url: str | None = None

    @property
    def place(self) -> Place:
        return Place.of(self.metadata)


def searchable(context: str, text: str) -> str:
    """Returns the text of a chunk that is embedded and indexed."""
    return f"{context}\n{text}" if context else text


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk before it is stored. `context` (title and headings) goes into embedding and index alone; `words` are
    those under which it is found."""

    position: int
    text: str
    context: str
    metadata: Mapping[str, Any]
    words: Collection[str]

    @property
    def searchable(self) -> str:
        return searchable(self.context, self.text)


class FileStep(StrEnum):
    """What a file that is being processed waits for, or goes through.

    `PREPARING_MODEL`: it has been read, and the embedding model is being prepared, once on each machine.
    """

    WAITING = "waiting"
    READING = "reading"
    PREPARING_MODEL = "preparing_model"
    EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class FileState:
    """A file of a base without its text.

    `progress` 0 to 1; `error` says why it failed, `warnings` what of it could not be read. `step` and
    `queue_position` are those of a file that is being processed: the position counts the uploads of all users that
    wait, from 1; None once the upload is worked on.
    """

    id: int
    base_id: int
    hash: str
    name: str
    size: int
    mime_type: str
    uploaded_by: str
    created_at: datetime
    updated_at: datetime
    status: FileStatus
    progress: float
    error: str | None
    chunk_count: int
    warnings: tuple[str, ...]
    step: FileStep | None
    queue_position: int | None


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """Where a chunk stands: `start` and `end` are characters of the file's text, None where they are not known."""

    chunk_id: str
    position: int
    start: int | None
    end: int | None
    metadata: str | None

    @property
    def reach(self) -> int:
        """The end of the chunk, 0 if it is unknown."""
        return self.end or 0


@dataclass(frozen=True, slots=True)
class FileText:
    """A stretch of a file's text with the chunks that stand in it.

    `start` is where it begins in the whole text, which has `length` characters; `page` counts chunks. A file that
    cannot be found yet has none.
    """

    file: FileState
    text: str
    start: int
    length: int
    chunks: Sequence[ChunkPlace]
    page: Window


@dataclass(frozen=True, slots=True)
class TextWindow:
    """Characters of a file's text from `offset` on; the whole text has `length`: 0 until the file can be found."""

    file_hash: str
    file_name: str
    text: str
    offset: int
    length: int

    @property
    def remaining(self) -> int:
        """Characters behind the window."""
        return max(0, self.length - self.offset - len(self.text))

    @property
    def next(self) -> int | None:
        """The offset of the window that follows, None behind the last."""
        return self.offset + len(self.text) if self.remaining else None


@dataclass(frozen=True, slots=True)
class UploadRules:
    """What one upload may bring: bytes of each file, files, and the formats that this installation reads."""

    max_bytes: int
    max_files: int
    formats: Sequence[FormatSupport]


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """What was said before a question; `role` is `user` or `assistant`."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class KnowledgeAnswer:
    """Markdown text with marks `[1]`, and the passages that they point to. `searched`: the base was searched for it;
    False for an answer that a model gave without a look at the documents."""

    answer: str
    citations: tuple[Citation, ...]
    searched: bool = True
