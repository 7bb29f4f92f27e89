"""Search quality: `python -m bench.quality [FOLDER ...]`; without a folder, on the small ones beside this.

Each collection goes in as files through the use cases (parser, chunks, model, database) and is asked through
them. A folder without a corpus of its own asks the one before it. `--keep DIR` keeps the database there, so
that a second run only asks.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from apps.compose.container import Container
from apps.processes.starting import embedded_database, migrated
from apps.settings import Settings
from apps.settings_loading import complete, load
from bench.quality.collection import OWN, Collection
from bench.quality.measures import row
from bench.quality.rankings import Rankings
from domain.access.model import Caller
from domain.knowledge.model import NewBase
from ports.knowledge import IncomingFile

JUDGE = Caller("judge")
AT_ONCE = 20


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data = (options.keep or Path(temporary)).absolute()
        data.chmod(0o755) if not options.keep else data.mkdir(parents=True, exist_ok=True)
        settings = complete(load({"DATA_DIR": str(data), "LOG_LEVEL": "error"}, env_file=None))
        with embedded_database(settings) as dsn:
            asyncio.run(_measure(settings, migrated(dsn), options.folders or OWN))


async def _measure(settings: Settings, dsn: str, folders: Sequence[Path]) -> None:
    container = Container(settings=settings, dsn=dsn, solitary=True)
    await container.database().open()
    await container.storage().signals.start()
    documents_of: Path | None = None
    try:
        for folder in folders:
            collection = Collection.read(folder, documents_of)
            if (folder / "corpus.jsonl").is_file():
                documents_of = folder
            base_id = await _base(container, str(documents_of), collection)
            await _report(container, base_id, collection)
    finally:
        await container.uploads().parser.close()
        await container.embedder().close()
        await container.storage().signals.stop()
        await container.database().close()


async def _base(container: Container, name: str, collection: Collection) -> int:
    """The base with the collection's documents, uploaded now or by an earlier run."""
    bases = container.knowledge().bases
    known = {base.name: base.id for base in await bases.list(JUDGE)}
    base_id = known.get(name) or (await bases.create(JUDGE, NewBase(name))).id
    stored = {file.name for file in await container.knowledge().files.list(JUDGE, base_id)}
    missing = [key for key in collection.documents if f"{key}.txt" not in stored]
    started = time.monotonic()
    working = asyncio.create_task(_work(container))
    slots = asyncio.Semaphore(3)

    async def upload(keys: Sequence[str]) -> None:
        async with slots:
            await container.knowledge().files.upload(JUDGE, base_id, _files(collection, keys))

    await asyncio.gather(*(upload(missing[at : at + AT_ONCE]) for at in range(0, len(missing), AT_ONCE)))
    working.cancel()
    if missing:
        took = time.monotonic() - started
        print(f"{len(missing)} documents uploaded in {took:.0f} s", flush=True)
    return base_id


async def _files(collection: Collection, keys: Sequence[str]) -> AsyncIterator[IncomingFile]:
    for key in keys:
        yield IncomingFile(f"{key}.txt", _content(collection.documents[key]))


async def _content(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def _work(container: Container) -> None:
    async def hand() -> None:
        while True:
            work = await container.uploads().ingest.take()
            if work is None:
                await asyncio.sleep(0.02)
            else:
                await container.uploads().ingest.work(work)

    await asyncio.gather(*(hand() for _ in range(3)))


async def _report(container: Container, base_id: int, collection: Collection) -> None:
    rankings = Rankings(container, base_id)
    found: dict[str, dict[str, list[str]]] = {}
    for query, text in collection.queries.items():
        for way, ranked in (await rankings.of(text)).items():
            found.setdefault(way, {})[query] = ranked
    print(f"\n{collection.name}: {len(collection.documents)} documents, {len(collection.queries)} queries")
    print(f"{'':<34} nDCG@10  Recall@10   MRR@10")
    for way, ranked_by_query in found.items():
        print(row(way, ranked_by_query, collection.relevant), flush=True)


if __name__ == "__main__":
    main()
