"""Embeds anew what another model has embedded; searches go on with a base's former vectors until all are there."""

from collections.abc import Callable
from dataclasses import dataclass

from ports.indexing import Embedder, Embedders
from ports.knowledge_storage import Reindexing

BATCH = 256


@dataclass(slots=True)
class _Progress:
    done: int
    total: int
    tell: Callable[[int, int], None]
    embedded: int = 0

    def add(self, count: int) -> None:
        self.embedded += count
        self.tell(self.done + self.embedded, max(self.total, self.done + self.embedded))


class ReindexService:
    """One process at a time. What is there already stays, so an interrupted run goes on where it stopped."""

    def __init__(self, chunks: Reindexing, embedder: Embedders, owner: int) -> None:
        self._chunks = chunks
        self._embedder = embedder
        self._owner = owner

    async def work(self) -> None:
        """Looks whether there is something to do, and does it."""
        await self.run(lambda done, total: None)

    async def run(self, tell: Callable[[int, int], None]) -> int | None:
        """Embeds every chunk of another model; tells (done, all) now and then; how many there were, None where
        another process is at it."""
        embedder = await self._embedder.of(None)
        fingerprint = (await embedder.model()).fingerprint
        await self._chunks.drop_unused(fingerprint)
        bases = await self._chunks.other_bases(fingerprint)
        if not bases:
            return 0
        progress = _Progress(*await self._chunks.progress(fingerprint), tell)
        for base_id in bases:
            if not await self._change_over(base_id, embedder, progress):
                return None
        await self._embedder.release({fingerprint})
        return progress.embedded

    async def _change_over(self, base_id: int, embedder: Embedder, progress: _Progress) -> bool:
        """Uploads may bring chunks with former vectors until the end. False where another process is at it."""
        fingerprint = (await embedder.model()).fingerprint
        while await self._embed(base_id, fingerprint, embedder, progress):
            if await self._chunks.change_over(base_id, fingerprint):
                return True
        return False

    async def _embed(self, base_id: int, fingerprint: str, embedder: Embedder, progress: _Progress) -> bool:
        """Embeds what lacks a vector. False where another process is at it."""
        after = 0
        while await self._chunks.lease(self._owner, fingerprint):
            batch = await self._chunks.next_other(base_id, fingerprint, after, BATCH)
            if not batch:
                return True
            vectors = await embedder.embed_passages([chunk.text for chunk in batch])
            await self._chunks.keep(fingerprint, list(zip(batch, vectors, strict=True)))
            after = batch[-1].seq
            progress.add(len(batch))
        return False
