"""What uploads into the knowledge bases ask of the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.knowledge.model import FileRecord, FileStatus, Piece
from domain.knowledge.sources.model import FileSource
from ports.embedding import Vector


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
    files: Sequence[tuple[int, FileStatus, str]]
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
    files: Sequence[FileRecord]
    """Those of its files that are still to be parsed and staged."""


@dataclass(frozen=True, slots=True)
class StagedPiece:
    """A piece whose vector is still to be made. `seq`: pieces are numbered in the order in which they are staged."""

    file_id: int
    position: int
    text: str
    seq: int = 0


class UploadStore(Protocol):
    """Records of uploads."""

    async def begin(
        self, base_id: int, user_id: str, files: Sequence[NewFile], respond_async: bool
    ) -> Begun | None:
        """Makes the records; a file that the base has already is taken as it is. None: the base is gone."""
        ...

    async def rename(self, base_id: int, names: Mapping[str, str]) -> None:
        """Records names of files of a base, by hash; what it does not have is passed over."""
        ...

    async def statuses(self, file_ids: Sequence[int]) -> Mapping[int, FileStatus]: ...

    async def failure(self, upload_id: int) -> Failure | None: ...

    async def forget_ended(self) -> Sequence[str]:
        """Removes what ended or failed a day ago; the blobs that it used."""
        ...


class UploadLeases(Protocol):
    """Uploads as durable work: the lease and the outcome."""

    async def claim(self, owner: int, *, newcomers_only: bool = False) -> Work | None:
        """Leases the next due upload: that of the user with the fewest running ones first, and of one user's the
        short ones before the long ones.

        `newcomers_only`: of a user who has none running, or a short one of a user who has no short one running.
        """
        ...

    async def renew(self, upload_id: int, owner: int) -> bool:
        """Prolongs the lease; False when it is lost."""
        ...

    async def preparing(self, upload_id: int, owner: int, *, under_way: bool) -> None:
        """Stores whether the upload waits for the embedding model to be prepared; until another leases it."""
        ...

    async def fail(self, work: Work, owner: int, failure: Failure) -> Sequence[str]:
        """Takes all of the upload back; the blobs that it used."""
        ...

    async def remove(self, upload_id: int, failure: Failure) -> None:
        """Removes an upload that takes no outcome; its files stay and say why they failed."""
        ...

    async def retry(self, upload_id: int, owner: int, seconds: float) -> None:
        """Gives the work back, to be taken up after so many seconds."""
        ...


class FileStaging(Protocol):
    """Texts and pieces of files that are being read."""

    async def reading(self, work: Work, file_id: int, share: float) -> None:
        """Stores how far a file has been read, 0 to 1, as the first part of its progress."""
        ...

    async def begin(self, work: Work, file_id: int) -> None:
        """Removes what an earlier try has staged of a file."""
        ...

    async def stage(
        self, work: Work, file_id: int, start: int, text: str, pieces: Sequence[tuple[str, Piece]]
    ) -> bool:
        """Stores the stretch of a file's text that begins at `start`, and pieces, each with its chunk id; False when
        file or lease are gone."""
        ...

    async def finish(self, work: Work, file_id: int, mime_type: str, warnings: Sequence[str] = ()) -> None:
        """Ends the staging of a file: its text is whole, apart from what the warnings name."""
        ...


class Staging(FileStaging, Protocol):
    """Pieces of uploads under way: invisible until all of an upload's are published at once."""

    async def model_of(self, base_id: int) -> str | None:
        """The fingerprint of the model whose vectors the base is searched by; None while it has none."""
        ...

    async def unembedded(
        self, upload_id: int, fingerprint: str, limit: int, after: int = 0
    ) -> Sequence[StagedPiece]:
        """The next pieces behind a `seq` that have no vector of that model. What is staged at the same time may be
        numbered the other way round, so that only a search from the beginning finds all."""
        ...

    async def embedded(
        self, upload_id: int, fingerprint: str, vectors: Sequence[tuple[StagedPiece, Vector]]
    ) -> None:
        """Stores vectors and the files' progress."""
        ...

    async def publish(self, work: Work, owner: int, fingerprint: str, base_model: str | None) -> bool:
        """Makes all chunks of the upload visible at once, with their vectors of that model. False when base or lease
        are gone, or `model_of` the base is no longer `base_model`."""
        ...
