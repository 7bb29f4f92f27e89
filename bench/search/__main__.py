"""Search latency: `python -m bench.search [--chunks 5000 100000]`.

For each size a synthetic base is made, then queries of several kinds are asked with their vectors given, so
that no model counts. The floor of the same run is the exact vector scan of the first base alone.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median, quantiles

import numpy

from adapters.outbound.storage.embedded import EmbeddedPostgres
from adapters.outbound.storage.knowledge.bases import PostgresBases
from adapters.outbound.storage.knowledge.search import PostgresChunkIndex
from adapters.outbound.storage.knowledge.vector_indexes import VectorIndexes
from adapters.outbound.storage.migrate import migrate
from adapters.outbound.storage.pool import Database
from bench.search.synthetic import MODEL, Synthetic, fill, unit
from domain.knowledge.bases.service import BaseAccess
from domain.knowledge.model import ReadPolicy
from domain.knowledge.search.service import SearchService
from ports.embedding import EmbeddingModel, Vector

QUERIES = 40


class Given:
    """Answers with the vector that was set: what is measured is the search."""

    vector: Vector = ()

    async def model(self) -> EmbeddingModel:
        return EmbeddingModel(MODEL, MODEL)

    async def embed_query(self, text: str) -> Vector:
        return self.vector

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        raise NotImplementedError


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("--chunks", nargs="+", type=int, default=[5_000, 20_000])
    sizes = parser.parse_args().chunks
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        server = EmbeddedPostgres(Path(folder))
        dsn = server.start()
        try:
            migrate(dsn)
            asyncio.run(_measure(dsn, sizes))
        finally:
            server.stop()


async def _measure(dsn: str, sizes: Sequence[int]) -> None:
    database = Database(dsn)
    await database.open()
    floor = 0.0
    for chunks in sizes:
        started = time.monotonic()
        base = await fill(database, chunks)
        print(f"\n{chunks} chunks, written in {time.monotonic() - started:.0f} s")
        if not floor:
            floor = await _exact(database, base)
        started = time.monotonic()
        if await VectorIndexes(database).maintain():
            print(f"vector index built in {time.monotonic() - started:.0f} s")
            await _recall(database, base)
        await _latencies(database, base, floor)
    await database.close()


async def _exact(database: Database, base: Synthetic) -> float:
    index, vectors = PostgresChunkIndex(database), iter(_vectors(base, QUERIES))
    times = await _timed(lambda: index.nearest(base.base_id, next(vectors), MODEL, 10), QUERIES)
    print(f"floor, exact vector scan alone        p50 {median(times):6.1f} ms")
    return median(times)


async def _latencies(database: Database, base: Synthetic, floor: float) -> None:
    embedder = Given()
    service = SearchService(
        BaseAccess(PostgresBases(database), ReadPolicy.DOCUMENTED), PostgresChunkIndex(database), embedder
    )
    every: list[float] = []
    for kind, texts in _queries(base).items():
        pairs = iter(list(zip(texts, _vectors(base, len(texts)), strict=True)))

        times = await _timed(partial(_ask, service, embedder, base.base_id, pairs), len(texts))
        every.extend(times)
        print(_line(f"hybrid, {kind}", times, floor))
    print(_line("hybrid, all kinds", every, floor), flush=True)


async def _ask(
    service: SearchService, embedder: Given, base_id: int, pairs: Iterator[tuple[str, Vector]]
) -> object:
    text, embedder.vector = next(pairs)
    return await service.find(base_id, text)


def _line(name: str, times: Sequence[float], floor: float) -> str:
    p50, p95 = median(times), quantiles(times, n=20)[-1]
    return (
        f"{name:<36}  p50 {p50:6.1f} ms  p95 {p95:6.1f} ms   {p50 / floor:4.1f} / {p95 / floor:4.1f} floors"
    )


async def _timed(call: Callable[[], Awaitable[object]], count: int) -> list[float]:
    times = []
    for _ in range(count):
        started = time.perf_counter()
        await call()
        times.append((time.perf_counter() - started) * 1000)
    return times


def _queries(base: Synthetic) -> dict[str, list[str]]:
    chance = random.Random(3)
    samples = [chance.choice(base.texts).split() for _ in range(QUERIES)]
    return {
        "code": [f"ERR-{chance.randrange(0, 5000, 50):07d}" for _ in range(QUERIES)],
        "phrase of 4 words": [" ".join(words[at : at + 4]) for at, words in enumerate(samples)],
        "question of 14 words": [" ".join(chance.sample(words, 14)) for words in samples],
        "one typing error": [_misspelt(max(words[:60], key=len), chance) for words in samples],
        "common words": [" ".join(chance.choices(("zalo", "mimi", "kalo", "neka"), k=3)) for _ in samples],
    }


def _misspelt(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word) - 1)
    return word[:at] + "q" + word[at + 1 :]


def _vectors(base: Synthetic, count: int, *, on_topic: bool = True) -> list[Vector]:
    source = numpy.random.default_rng(11)
    noise = source.normal(scale=0.7, size=(count, base.centres.shape[1]))
    if on_topic:
        noise += base.centres[source.integers(len(base.centres), size=count)]
    return [unit(row) for row in noise]


async def _recall(database: Database, base: Synthetic) -> None:
    """Neighbours found through the index among the true ones."""
    index = PostgresChunkIndex(database)
    for name, on_topic in (("on topic", True), ("off topic", False)):
        found = 0
        for vector in _vectors(base, QUERIES, on_topic=on_topic):
            near = {key for key, _ in await index.nearest(base.base_id, vector, MODEL, 10)}
            found += len(near & await _true(database, base, vector))
        print(f"recall of the vector index, {name:<10} {found / QUERIES / 10:.3f}")


async def _true(database: Database, base: Synthetic, vector: Vector) -> set[str]:
    async with database.transaction() as connection:
        await connection.execute("SET LOCAL enable_indexscan = off")
        rows = await connection.execute(
            "SELECT seq FROM chunk_index WHERE kb_id = %s ORDER BY embedding <=> %s::halfvec LIMIT 10",
            (base.base_id, str(list(vector))),
        )
        return {str(seq) for (seq,) in await rows.fetchall()}


if __name__ == "__main__":
    main()
