"""Where the bytes of files lie."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol


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
        ...

    def open(self, key: str, offset: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        """The bytes in pieces of at most 64 KiB. Raises `NotFound`."""
        ...

    async def size(self, key: str) -> int:
        """Raises `NotFound`."""
        ...

    async def delete(self, key: str) -> None:
        """Removes it; nothing happens when it is gone already."""
        ...

    def local(self, key: str) -> AbstractAsyncContextManager[Path]:
        """A file of this machine with the bytes, to be read within the block. Raises `NotFound`."""
        ...

    async def check(self) -> None:
        """Raises `Unavailable` if files cannot be stored here, with what to do."""
        ...

    def keys(self) -> AsyncIterator[tuple[str, datetime]]:
        """All blobs with the moment they were written, for finding what nobody knows of."""
        ...
