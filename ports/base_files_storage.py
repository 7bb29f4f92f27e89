"""What the files of a base ask of the database: their states, their texts, changes."""

from collections.abc import Sequence
from typing import Protocol

from domain.knowledge.file_states import ChunkPlace, FileState
from domain.knowledge.model import FileStatus


class FileStates(Protocol):
    """How far the files of a base are, and their texts."""

    async def states(self, base_id: int, limit: int, before: int, name: str) -> Sequence[FileState]:
        """The newest first, with ids below `before` (0: all) and names that hold `name` in any case."""
        ...

    async def state(self, base_id: int, file_hash: str) -> FileState | None: ...

    async def places(self, file: FileState, limit: int, offset: int) -> Sequence[ChunkPlace]:
        """A window of the file's chunks, in document order."""
        ...

    async def text(self, file: FileState, start: int, length: int) -> tuple[str, int]:
        """That stretch of the text, and the length of the whole."""
        ...


class FileChanges(Protocol):
    """What is done with a file of a base after its upload."""

    async def remove(self, base_id: int, file_hash: str) -> Sequence[str] | None:
        """Removes a file with its chunks; the blobs it used. None: it is gone.

        Where the caller of its upload waits, all of the upload is taken back.
        """
        ...

    async def retry(self, base_id: int, file_hash: str, user_id: str) -> FileStatus | None:
        """Makes an upload of a file that failed; the status before. None: it is gone."""
        ...
