"""Bytes are kept as long as a file record needs them, and no longer."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from ports.blobs import Blobs
from ports.clock import Clock
from ports.knowledge_storage import BlobReferences, UploadStore

STRAY_AGE = timedelta(hours=1)
"""A blob that no row knows of and that is older than this was left by a process that died."""


class Retention:
    """Deletes blobs that nothing uses."""

    def __init__(self, blobs: Blobs, holds: BlobReferences) -> None:
        self._blobs = blobs
        self._holds = holds

    async def forget(self, keys: Sequence[str]) -> int:
        """Deletes those of the blobs that nothing uses any more; how many that were."""
        if not keys:
            return 0
        async with self._holds.locked_unreferenced(keys) as unused:
            for key in unused:
                await self._blobs.delete(key)
        return len(unused)

    async def release(self, keys: Sequence[str]) -> None:
        """Ends an upload's holds, and deletes what is not used without them."""
        if keys:
            await self._holds.release(keys)
            await self.forget(keys)


class Sweeper:
    """The round that finds what crashes have left behind."""

    def __init__(
        self, blobs: Blobs, holds: BlobReferences, uploads: UploadStore, retention: Retention, clock: Clock
    ) -> None:
        self._blobs = blobs
        self._holds = holds
        self._uploads = uploads
        self._retention = retention
        self._clock = clock

    async def sweep(self) -> int:
        """One round; the number of blobs deleted."""
        await self._holds.keep_unsent()
        gone = await self._retention.forget(await self._uploads.forget_ended())
        gone += await self._retention.forget(await self._holds.left_over(limit=1000))
        strays = [key async for key in self._strays()]
        for key in strays:
            await self._blobs.delete(key)
        return gone + len(strays)

    async def strays(self) -> int:
        """How many blobs no row knows of: they should be none."""
        return sum([1 async for _ in self._strays()])

    async def _strays(self) -> AsyncIterator[str]:
        before = self._clock.now() - STRAY_AGE
        batch: list[str] = []
        async for key, written in self._blobs.keys():
            if written < before:
                batch.append(key)
            if len(batch) >= 500:
                for stray in await self._holds.unknown(batch):
                    yield stray
                batch = []
        for stray in await self._holds.unknown(batch):
            yield stray
