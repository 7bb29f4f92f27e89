"""How far the files of a base are, what may be uploaded, and a file's text with its chunks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.instances.model import Page
from domain.knowledge.documents import FormatSupport
from domain.knowledge.model import FileStatus


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
class FileStatePage:
    """The newest files first; `next` is the cursor of the following page, None after the last."""

    files: Sequence[FileState]
    next: int | None


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """Where a chunk stands: `start` and `end` are characters of the file's text, None where they are not known."""

    chunk_id: str
    position: int
    start: int | None
    end: int | None
    metadata: str | None


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
    page: Page


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
