"""Search latency and recall: `python -m bench.search [--chunks 10000 100000 1000000] [--beside] [--record]`.

Each size has one base of nine tenths of its chunks and a thousand small ones; queries of several kinds are asked with
their vectors given, so that no model counts. The floor, asked in turn with them, is the exact vector scan
alone of a base of 5,000 chunks in the same database. With `--data FOLDER` the databases are kept there.
"""

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles

import uvloop

from adapters.outbound.storage.embedded import EmbeddedPostgres
from adapters.outbound.storage.knowledge.bases import PostgresBases
from adapters.outbound.storage.knowledge.search import PostgresChunkIndex
from adapters.outbound.storage.knowledge.vector_indexes import VectorIndexes
from adapters.outbound.storage.migrate import migrate
from adapters.outbound.storage.pool import Database
from bench.search.loading import MODEL, base_named, bulk, load, texts_of
from bench.search.queries import KINDS, Given, Question, ask, questions
from bench.search.synthetic import Synthetic, asked
from domain.knowledge.bases import BaseAccess
from domain.knowledge.model import ReadPolicy
from domain.knowledge.search import SearchService
from ports.files import SharedFile

FLOOR_CHUNKS = 5_000
SMALL_BASES = 1_000
OF_EACH_KIND = 40
RECALLED = 40
RESULTS = Path(__file__).parent.parent / "results" / "search.md"
HEAD = "| What | p50 ms | p95 ms | p99 ms | p50 / p95 in floors |\n|---|---|---|---|---|"


class NoLinks:
    """Addresses of files are not measured."""

    def address(self, file: SharedFile) -> str:
        return file.name


class Bench:
    """One size of database."""

    def __init__(self, database: Database, chunks: int) -> None:
        self._database = database
        self._embedder = Given()
        self._index = PostgresChunkIndex(database)
        self._service = SearchService(
            BaseAccess(PostgresBases(database), ReadPolicy.DOCUMENTED, ReadPolicy.DOCUMENTED),
            self._index,
            self._embedder,
            NoLinks(),
        )
        each = max(1, chunks // 10 // SMALL_BASES)
        self._bases: dict[str, Synthetic] = {
            "floor": Synthetic(FLOOR_CHUNKS, 7),
            "large": Synthetic(chunks * 9 // 10, 8),
        }
        self._small = [(f"small {number}", Synthetic(each, 100 + number)) for number in range(SMALL_BASES)]
        self._ids: dict[str, int] = {}
        self.lines: list[str] = [f"\n## {chunks:,} chunks\n"]

    async def prepare(self) -> None:
        """Loads what is not there yet and builds the vector index."""
        started = time.monotonic()
        everything = [*self._bases.items(), *self._small]
        if await base_named(self._database, everything[-1][0]) is None:
            async with bulk(self._database):
                for name, made in everything:
                    await load(self._database, name, made)
            print(f"loaded in {time.monotonic() - started:.0f} s", flush=True)
        for name, _ in everything:
            base_id = await base_named(self._database, name)
            assert base_id is not None
            self._ids[name] = base_id
        started = time.monotonic()
        if await VectorIndexes(self._database).maintain():
            self._say(f"Vector index of the large base built in {time.monotonic() - started:.0f} s.")

    async def recall(self) -> None:
        """Neighbours found through the index among the true ones."""
        base_id = self._ids["large"]
        for name, on_topic in (("on topic", True), ("off topic", False)):
            found = 0
            for vector in asked(self._bases["large"], RECALLED, on_topic=on_topic):
                near = {key for key, _ in await self._index.nearest(base_id, vector, MODEL)}
                found += len(near & await self._true(base_id, vector))
            self._say(f"Recall of the vector index, {name}: {found / RECALLED / 10:.3f}.")

    async def _true(self, base_id: int, vector: Sequence[float]) -> set[str]:
        async with self._database.transaction() as connection:
            await connection.execute("SET LOCAL enable_indexscan = off")
            rows = await connection.execute(
                "SELECT seq FROM chunk_index WHERE kb_id = %s ORDER BY embedding <=> %s::halfvec LIMIT 10",
                (base_id, str(list(vector))),
                prepare=False,
            )
            return {str(seq) for (seq,) in await rows.fetchall()}

    async def latencies(self, note: str = "") -> float:
        """The table; the median over the large base."""
        sets = [await self._asked("floor"), await self._asked("large"), await self._asked_small()]
        times: dict[str, list[float]] = {}
        vectors = asked(self._bases["floor"], len(sets[0]))
        for vector, *three in zip(vectors, *sets, strict=True):
            floor = self._index.nearest(self._ids["floor"], vector, MODEL)
            times.setdefault("exact vector scan alone, 5,000 chunks", []).append(await _timed(floor))
            for where, question in zip(("5,000 chunks", "large base", "small bases"), three, strict=True):
                took = await _timed(ask(self._service, self._embedder, question))
                times.setdefault(f"hybrid, {where}", []).append(took)
                if where == "large base":
                    times.setdefault(f"hybrid, {where}: {question.kind}", []).append(took)
        floor_p50 = median(next(iter(times.values())))
        self._say(f"\n{note}{HEAD}" if not note else f"\n{note}\n\n{HEAD}")
        for name in sorted(times, key=lambda name: (name.count(":"), list(times).index(name))):
            self._say(_line(name, times[name], floor_p50))
        return median(times["hybrid, large base"])

    async def _asked(self, name: str) -> list[Question]:
        made, base_id = self._bases[name], self._ids[name]
        places = random.Random(1).sample(range(made.chunks), 200)
        return questions(base_id, made, await texts_of(self._database, base_id, places), OF_EACH_KIND)

    async def _asked_small(self) -> list[Question]:
        found = []
        for name, made in random.Random(2).sample(self._small, OF_EACH_KIND):
            texts = await texts_of(self._database, self._ids[name], range(made.chunks))
            found.extend(questions(self._ids[name], made, texts, 1))
        assert len(found) == OF_EACH_KIND * len(KINDS)
        return found

    def _say(self, line: str) -> None:
        self.lines.append(line)
        print(line, flush=True)


async def _timed(asking: object) -> float:
    started = time.perf_counter()
    await asking  # type: ignore[misc]
    return (time.perf_counter() - started) * 1000


def _line(name: str, times: Sequence[float], floor: float) -> str:
    p50, cuts = median(times), quantiles(times, n=100)
    shares = f"{p50 / floor:.1f} / {cuts[94] / floor:.1f}"
    return f"| {name} | {p50:.1f} | {cuts[94]:.1f} | {cuts[98]:.1f} | {shares} |"


@asynccontextmanager
async def _uploads(dsn: str) -> AsyncIterator[None]:
    """Uploads beside, in a process of their own."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.search.beside", dsn, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert child.stdout is not None
        await child.stdout.readline()
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()


async def _measure(dsn: str, chunks: int, *, beside: bool) -> list[str]:
    database = Database(dsn)
    await database.open()
    try:
        bench = Bench(database, chunks)
        await bench.prepare()
        quiet = await bench.latencies()
        await bench.recall()
        if beside:
            async with _uploads(dsn):
                busy = await bench.latencies("With uploads of 100 chunks a second beside:")
            bench.lines.append(f"\nLatency beside uploads against quiet: {busy / quiet:.2f}.")
            print(bench.lines[-1])
    finally:
        await database.close()
    return bench.lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("--chunks", nargs="+", type=int, default=[10_000])
    parser.add_argument("--beside", action="store_true", help="measure a second time while uploads run")
    parser.add_argument("--data", type=Path, help="keep the databases in this folder")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    lines = [f"# Search\n\nMeasured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC by `python -m bench.search`."]
    with tempfile.TemporaryDirectory() as temporary:
        for chunks in options.chunks:
            folder = (options.data or Path(temporary)) / str(chunks)
            folder.mkdir(parents=True, exist_ok=True)
            for each in (folder, folder.parent):
                each.chmod(0o755)
            server = EmbeddedPostgres(folder)
            dsn = server.start()
            try:
                migrate(dsn)
                lines += uvloop.run(_measure(dsn, chunks, beside=options.beside))
            finally:
                server.stop()
            if options.record:
                RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
