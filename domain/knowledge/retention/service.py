"""Bytes are kept as long as a file record needs them, and no longer."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from ports.files import Blobs
from ports.knowledge_storage import BlobReferences, UploadStore
from ports.system import Clock

STRAY_AGE = timedelta(hours=1)
"""A blob that no row knows of and that is older than this was left by a process that died."""


class Retention:
    def __init__(self, blobs: Blobs, references: BlobReferences) -> None:
        self._blobs = blobs
        self._references = references

    async def delete_unreferenced(self, keys: Sequence[str]) -> int:
        """Deletes those of the blobs that nothing uses any more; returns their number."""
        if not keys:
            return 0
        async with self._references.locked_unreferenced(keys) as unused:
            for key in unused:
                await self._blobs.delete(key)
        return len(unused)

    async def release(self, keys: Sequence[str]) -> None:
        """Ends an upload's references, and deletes what is not used without them."""
        if keys:
            await self._references.release(keys)
            await self.delete_unreferenced(keys)


class Sweeper:
    """Deletes the blobs that crashes have left behind."""

    def __init__(
        self,
        blobs: Blobs,
        references: BlobReferences,
        uploads: UploadStore,
        retention: Retention,
        clock: Clock,
    ) -> None:
        self._blobs = blobs
        self._references = references
        self._uploads = uploads
        self._retention = retention
        self._clock = clock

    async def sweep(self) -> int:
        """One round; the number of blobs deleted."""
        await self._references.keep_unsent()
        gone = await self._retention.delete_unreferenced(await self._uploads.forget_ended())
        gone += await self._retention.delete_unreferenced(await self._references.left_over(limit=1000))
        strays = [key async for key in self._strays()]
        for key in strays:
            await self._blobs.delete(key)
        return gone + len(strays)

    async def strays(self) -> int:
        """The number of blobs without a row; it should be 0."""
        return sum([1 async for _ in self._strays()])

    async def _strays(self) -> AsyncIterator[str]:
        before = self._clock.now() - STRAY_AGE
        batch: list[str] = []
        async for key, written in self._blobs.keys():
            if written < before:
                batch.append(key)
            if len(batch) >= 500:
                for stray in await self._references.unknown(batch):
                    yield stray
                batch = []
        for stray in await self._references.unknown(batch):
            yield stray
