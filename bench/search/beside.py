"""Uploads that run beside the searches: `python -m bench.search.beside DSN`, until it is ended.

Everything of an upload is real but the reading of formats and the model, in whose place a hash makes vectors at the
pace of several cores.
"""

import asyncio
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.search.synthetic import vocabulary
from domain.access.model import Caller
from ports.indexing import Vector
from tests.support.hashed_embedder import HashedEmbedder
from tests.support.knowledge import Knowledge, opened

CHUNKS_A_SECOND = 100


class Paced(HashedEmbedder):
    """Takes its time for passages."""

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        made, _ = await asyncio.gather(
            super().embed_passages(texts), asyncio.sleep(len(texts) / CHUNKS_A_SECOND)
        )
        return made


async def main(dsn: str) -> None:
    words, chance = vocabulary()[:5000], random.Random(5)
    with tempfile.TemporaryDirectory() as folder:
        async with opened(dsn) as database:
            knowledge = Knowledge(database, Path(folder), embedder=Paced("beside"))
            uploader = Caller("beside")
            base = await knowledge.base(uploader, "Uploads")
            print("uploading", flush=True)
            for number in range(1_000_000):
                text = "\n\n".join(
                    " ".join(chance.choices(words, k=100)).capitalize() + "." for _ in range(300)
                )
                await knowledge.upload(uploader, base, **{f"file{number}_txt": text})


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
