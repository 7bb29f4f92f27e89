"""Uploads end to end through the REST API of a running service.

`python -m bench.ingest [--only model|reading] [--quick] [--record]`

With the model, against the bare model on the same texts in turn: chunks a second, a file of one page, searches
while an upload runs. Without it (the same vector for every text), against the bare library: what reading, cutting,
storing and indexing take, and how much memory. A file counts as there when the answer says that it can be found.
"""

import argparse
import asyncio
import itertools
import random
import re
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from bench import parsing
from bench.ingest.bare import Bare, bare_model
from bench.ingest.service import Service, running
from bench.measuring import ROOT, cpu_seconds, family
from domain.knowledge.chunking import chunk
from domain.knowledge.documents import Block, BlockKind, FileType, Format
from tests.parsing.making import pdf
from tests.support.documents import document_of

RESULTS = Path(__file__).parent.parent / "results" / "ingest.md"
TEXT = FileType(Format.TXT, "text/plain")
QUESTIONS = 30


class Bench:
    """The rows of the table; `quick` only checks that everything works."""

    def __init__(self, folder: Path, *, quick: bool) -> None:
        self._folder = folder
        self._rounds, self._chunks = (1, 48) if quick else (3, 192)
        self._share = 20 if quick else 1
        self._numbers = itertools.count()
        self._sentences = _sentences()
        self.lines = ["| What | Measured | Goal | Figures |", "|---|---|---|---|"]

    async def with_model(self, service: Service, bare: Bare) -> None:
        first = await service.upload(self._text(2)[0], "first.txt")
        self._say("first upload of a process, the model is loaded", f"{first:.1f} s", "", "")
        shares, by_cpu, rates = [], [], []
        for _ in range(self._rounds):
            path, texts = self._text(self._chunks)
            alone, alone_cpu = bare.seconds(texts)
            used = cpu_seconds(*family(service.memory.pid))
            took = await service.upload(path, path.name)
            used = cpu_seconds(*family(service.memory.pid)) - used
            shares.append(alone / took)
            by_cpu.append(alone_cpu / used)
            rates.append(f"{len(texts) / took:.1f}/{len(texts) / alone:.1f}")
        self._say(
            f"chunks/s to be found against bare encode, files of about {self._chunks} chunks",
            f"{median(shares):.2f}",
            ">= 1.8",
            f"{'; '.join(rates)}; by CPU of all processes, database included, {median(by_cpu):.2f}",
        )
        self._say(
            "memory with the model, MB, peak",
            f"{service.memory.own:.0f}",
            "<= 350",
            f"largest child {service.memory.child:.0f}",
        )
        await self._one_page(service)
        await self._searches(service)

    async def _one_page(self, service: Service) -> None:
        times = []
        for _ in range(3 if self._share > 1 else 15):
            path = self._path("pdf")
            lines = [" ".join(next(self._sentences).split()[:12]) for _ in range(40)]
            path.write_bytes(pdf([[*lines, f"This is page {path.stem}."]]))
            times.append(await service.upload(path, path.name))
        figures = f"{min(times) * 1000:.0f} to {max(times) * 1000:.0f} ms"
        self._say("PDF of one page, upload to be found, p50", f"{median(times) * 1000:.0f} ms", "", figures)

    async def _searches(self, service: Service) -> None:
        quiet = [(await service.search(self._question()))[0] for _ in range(QUESTIONS)]
        path, _ = self._text(self._chunks * 2)
        await service.upload(path, path.name, wait=False)
        beside: list[float] = []
        while len(beside) < QUESTIONS and await service.busy():
            beside.append((await service.search(self._question()))[0])
        while await service.busy():
            await asyncio.sleep(0.2)
        one, other = median(quiet) * 1000, median(beside) * 1000
        self._say(
            "search with its query's embedding beside an upload against quiet, p50",
            f"{other / one:.2f}",
            "<= 2",
            f"{other:.0f} ms ({len(beside)} searches) / {one:.0f} ms",
        )

    async def without_model(self, service: Service) -> None:
        for name, suffix, goal in (
            ("PDF, 200 pages", "pdf", ">= 0.5"),
            ("CSV, 50,000 rows", "csv", ""),
            ("XLSX, 50,000 rows", "xlsx", ""),
            ("text, 5 MB", "txt", ""),
            ("text, 20 MB", "txt", ""),
        ):
            await self._file(service, name, suffix, goal)

    async def _file(self, service: Service, name: str, suffix: str, goal: str) -> None:
        case = next(each for each in parsing.CASES if name.split(",")[0] == each.name.split(",")[0])
        shares, memory, took, alone, count = [], "", 0.0, 0.0, 0
        for number in range(self._rounds if suffix == "pdf" else 1):
            path = self._path(suffix)
            if suffix == "txt":
                self._prose(path, count := 5 if "5 MB" in name else 20)
            else:
                case.make(path)
                count = case.count
            if suffix == "pdf" and number == 0:  # the reading process is started, its libraries are imported
                await service.upload(path, path.name)
                case.make(path)
            service.memory.reset()
            started = time.perf_counter()
            case.bare(path)
            alone = time.perf_counter() - started
            took = await service.upload(path, path.name)
            shares.append(alone / took)
            memory = f"peak {service.memory.own:.0f} MB, reading child {service.memory.child:.0f} MB"
        self._say(
            f"{name}, upload to be found without embedding, against the bare library",
            f"{median(shares):.2f}",
            goal,
            f"{count / took:,.2f} {case.unit}/s ({took:.1f} s) / {count / alone:,.0f}; {memory}",
        )

    def _prose(self, path: Path, megabytes: int) -> None:
        with path.open("w") as file:
            written = 0
            while written < megabytes * 1_000_000 - 2_000:
                written += file.write(" ".join(itertools.islice(self._sentences, 6)) + "\n\n")

    def _text(self, chunks: int) -> tuple[Path, list[str]]:
        """A text of about so many chunks, and what is embedded of it."""
        path = self._path("txt")
        body = "\n\n".join(" ".join(itertools.islice(self._sentences, 6)) for _ in range(chunks))
        path.write_text(f"Bench text number {path.stem}.\n\n{body}")
        blocks = [Block(BlockKind.PARAGRAPH, each) for each in path.read_text().split("\n\n")]
        pieces = chunk(document_of(path.name, blocks, TEXT), path.name, ModelFiles().count_tokens)
        return path, [piece.searchable for piece in pieces]

    def _question(self) -> str:
        return next(self._sentences)[:80]

    def _path(self, suffix: str) -> Path:
        return self._folder / f"{next(self._numbers)}.{suffix}"

    def _say(self, *cells: str) -> None:
        self.lines.append(f"| {' | '.join(cells)} |")
        print(self.lines[-1], flush=True)


def _sentences() -> Iterator[str]:
    """Words of this project's own pages, in sentences that are never the same twice."""
    pages = [path.read_text() for path in sorted((ROOT / "docs").rglob("*.md"))]
    words = re.findall(r"[A-Za-z]{2,}", "\n".join(pages))
    chance = random.Random(4)
    while True:
        at = chance.randrange(len(words) - 40)
        yield " ".join(words[at : at + chance.randrange(8, 30)]).capitalize() + "."


async def measure(only: str | None, *, quick: bool) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), quick=quick)
        if only != "reading":
            with bare_model() as bare:
                async with running("apps.cli", "up") as service:
                    await bench.with_model(service, bare)
        if only != "model":
            async with running("bench.ingest.unembedded") as service:
                await bench.without_model(service)
        return bench.lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ingest", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few chunks and one round: whether it works")
    parser.add_argument("--only", choices=("model", "reading"), help="one half of the table")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    lines = asyncio.run(measure(options.only, quick=options.quick))
    if options.record:
        head = f"# Ingest\n\nMeasured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC by `python -m bench.ingest`.\n\n"
        RESULTS.write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
