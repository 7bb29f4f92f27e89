"""Files of messages, blobs, and links to them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from domain.routing.model import InputFile


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A stored file behind a signed address: `blob` is its key in the blob store. `record`: the record that it has in
    a knowledge base; its addresses end with that."""

    blob: str
    name: str
    mime_type: str
    record: int | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An attachment that is not handed on. `by_limit`: it is over a limit, so that its sender has to send it
    otherwise."""

    name: str
    size: int | None
    reason: str
    by_limit: bool


@dataclass(frozen=True, slots=True)
class FetchedFiles:
    """The attachments of an event that could be fetched; `complete`: fetching none of them failed. `recordings` are
    those of `files` that the sender spoke."""

    files: Sequence[InputFile] = ()
    complete: bool = True
    recordings: Sequence[SharedFile] = ()
    left_out: Sequence[LeftOut] = ()


class Transcriber(Protocol):
    """Recognises speech."""

    async def transcribe(self, recording: SharedFile) -> str:
        """What was said, empty for nothing that can be recognised. Raises a `Refusal` that says why a recording
        cannot be read."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """The conversation that files belong to, and the stored event that they came with or that they answer; None for a
    message that answers none. `inbound`: they came with it."""

    instance_id: int
    session_id: str
    inbox_id: int | None = None
    inbound: bool = False


class BlobReferences(Protocol):
    """Which blobs are in use: by files of messages and of bases, or held by uploads under way."""

    async def hold(self, key: str, size: int) -> None:
        """Keeps a blob from being swept while its upload runs."""

    async def release(self, keys: Sequence[str]) -> None:
        """Ends one hold for each mention of a key."""

    def locked_unreferenced(self, keys: Sequence[str]) -> AbstractAsyncContextManager[Sequence[str]]:
        """Those of the blobs that nothing uses, locked; they are forgotten when the block ends well."""

    async def keep_unsent(self) -> None:
        """Prolongs the holds of what replies carry that wait, or are dead letters."""

    async def left_over(self, limit: int) -> Sequence[str]:
        """Blobs that nothing has used for an hour."""

    async def unknown(self, keys: Sequence[str]) -> Sequence[str]:
        """Those of the keys that no row knows."""

    async def add_message_file(self, place: FilePlace, file: SharedFile, size: int) -> None:
        """Records a file of a message, which is kept as long as its conversation. Raises `NotFound` where the event
        was erased."""

    async def is_in_base(self, record: int) -> bool:
        """Return True if a knowledge base still has the file of this record."""


class FileTokens(Protocol):
    """Makes and checks what a signed address holds."""

    def sign(self, file: SharedFile, until: datetime) -> str: ...

    def read(self, token: str, now: datetime) -> SharedFile | None:
        """None if the token is forged or expired."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is being served. `size` in bytes."""

    name: str
    mime_type: str
    size: int
    content: AsyncIterator[bytes]


class SharedFiles(Protocol):
    """The use case behind signed addresses."""

    async def open(self, token: str) -> OpenFile:
        """Raises `NotFound`."""


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """`key` finds the blob again; `sha256` is lower-case hex; `size` in bytes."""

    key: str
    sha256: str
    size: int


class Blobs(Protocol):
    """Content-addressed storage: the key is derived from the SHA-256, the same bytes are stored once."""

    async def put(
        self,
        content: AsyncIterator[bytes],
        max_bytes: int,
        reference: Callable[[StoredBlob], Awaitable[None]] | None = None,
    ) -> StoredBlob:
        """Streams content in, hashing on the way; nothing stays behind on failure. Raises `TooLarge`,
        `StorageFull`.

        `reference` is called once key and size are known, before the blob stands in its place: whoever marks it
        as used there cannot lose it to somebody who is just deleting the same bytes.
        """

    def open(self, key: str, offset: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        """The bytes in pieces of at most 64 KiB. Raises `NotFound`."""

    async def size(self, key: str) -> int:
        """Raises `NotFound`."""

    async def delete(self, key: str) -> None:
        """Removes it; nothing happens when it is gone already."""

    def local(self, key: str) -> AbstractAsyncContextManager[Path]:
        """A file of this machine with the bytes, to be read within the block. Raises `NotFound`."""

    async def check(self) -> None:
        """Raises `Unavailable` if files cannot be stored here, with what to do."""

    def keys(self) -> AsyncIterator[tuple[str, datetime]]:
        """All blobs with the moment they were written, for finding what nobody knows of."""
