"""Deletes files and memory nodes that nobody needs, and embeds chunks again for another model."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from ports.files import BlobReferences, Blobs
from ports.indexing import Embedders
from ports.knowledge_storage import BaseStore, Reindexing, UploadStore
from ports.system import Clock, MemoryNodes, MemoryRefused

logger = logging.getLogger(__name__)


STRAY_AGE = timedelta(hours=1)
"""A blob that no row knows of and that is older than this was left by a process that died."""


@dataclass(eq=False)
class Retention:
    blobs: Blobs
    references: BlobReferences

    async def delete_unreferenced(self, keys: Sequence[str]) -> int:
        """Deletes those of the blobs that nothing uses any more; returns their number."""
        if not keys:
            return 0
        async with self.references.locked_unreferenced(keys) as unused:
            for key in unused:
                await self.blobs.delete(key)
        return len(unused)

    async def release(self, keys: Sequence[str]) -> None:
        """Ends an upload's references, and deletes what is not used without them."""
        if keys:
            await self.references.release(keys)
            await self.delete_unreferenced(keys)


@dataclass(eq=False)
class Sweeper:
    """Deletes the blobs that crashes have left behind."""

    blobs: Blobs
    references: BlobReferences
    uploads: UploadStore
    retention: Retention
    clock: Clock

    async def sweep(self) -> int:
        """One round; the number of blobs deleted."""
        await self.references.keep_unsent()
        gone = await self.retention.delete_unreferenced(await self.uploads.forget_ended())
        gone += await self.retention.delete_unreferenced(await self.references.left_over(limit=1000))
        strays = [key async for key in self._strays()]
        for key in strays:
            await self.blobs.delete(key)
        return gone + len(strays)

    async def strays(self) -> int:
        """The number of blobs without a row; it should be 0."""
        return sum([1 async for _ in self._strays()])

    async def _strays(self) -> AsyncIterator[str]:
        before = self.clock.now() - STRAY_AGE
        batch: list[str] = []
        async for key, written in self.blobs.keys():
            if written < before:
                batch.append(key)
            if len(batch) >= 500:
                for stray in await self.references.unknown(batch):
                    yield stray
                batch = []
        for stray in await self.references.unknown(batch):
            yield stray


BATCH = 256


@dataclass(eq=False)
class ReindexService:
    """One process at a time. What is there already stays, so an interrupted run goes on where it stopped."""

    chunks: Reindexing
    embedder: Embedders
    owner: int

    async def work(self) -> None:
        """Looks whether there is something to do, and does it."""
        await self.run(lambda done, total: None)

    async def run(self, tell: Callable[[int, int], None]) -> int | None:
        """Embeds every chunk of another model; tells (done, all) now and then; how many there were, None where
        another process is at it."""
        embedder = await self.embedder.of(None)
        fingerprint = (await embedder.model()).fingerprint
        await self.chunks.drop_unused(fingerprint)
        bases = await self.chunks.other_bases(fingerprint)
        if not bases:
            return 0
        done, total = await self.chunks.progress(fingerprint)
        embedded = 0
        for base_id in bases:
            after = 0
            while True:
                if not await self.chunks.lease(self.owner, fingerprint):
                    return None  # another process is at it
                batch = await self.chunks.next_other(base_id, fingerprint, after, BATCH)
                if not batch:
                    if await self.chunks.change_over(base_id, fingerprint):
                        break
                    after = 0  # uploads brought chunks with former vectors meanwhile
                    continue
                vectors = await embedder.embed_passages([chunk.text for chunk in batch])
                await self.chunks.keep(fingerprint, list(zip(batch, vectors, strict=True)))
                after = batch[-1].seq
                embedded += len(batch)
                tell(done + embedded, max(total, done + embedded))
        await self.embedder.release({fingerprint})
        return embedded


LONGEST_PAUSE = 3600.0


@dataclass(eq=False)
class MemoryService:
    bases: BaseStore
    nodes: MemoryNodes

    async def work(self) -> int:
        """Tries every task that is due; how many were acknowledged."""
        done = 0
        for task in await self.bases.due_memory_tasks(limit=20):
            try:
                await self.nodes.delete(task.base_id)
            except MemoryRefused as refusal:
                logger.warning("memory nodes of knowledge base %s: %s", task.base_id, refusal)
                pause = min(LONGEST_PAUSE, 2.0 ** min(task.attempts, 16))
                await self.bases.postpone_memory_task(task.base_id, pause, str(refusal))
            else:
                await self.bases.memory_task_done(task.base_id)
                done += 1
        return done
