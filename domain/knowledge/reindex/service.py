"""Embeds anew what another model has embedded; text search and everything else go on meanwhile."""

from collections.abc import Callable

from ports.embedding import Embedder
from ports.knowledge_storage import Reindexing

BATCH = 256


class ReindexService:
    """Each chunk changes over by itself, so an interrupted run goes on where it stopped."""

    def __init__(self, chunks: Reindexing, embedder: Embedder) -> None:
        self._chunks = chunks
        self._embedder = embedder

    async def run(self, progress: Callable[[int, int], None]) -> int:
        """Embeds every chunk of another model; tells (done, all) now and then; how many there were."""
        fingerprint = (await self._embedder.model()).fingerprint
        total = await self._chunks.count_other(fingerprint)
        done, after = 0, (0, 0)
        while batch := await self._chunks.next_other(fingerprint, after, BATCH):
            vectors = await self._embedder.embed_passages([passage.text for passage in batch])
            await self._chunks.replace(fingerprint, list(zip(batch, vectors, strict=True)))
            after = (batch[-1].base_id, batch[-1].seq)
            done += len(batch)
            progress(done, max(total, done))
        return done
