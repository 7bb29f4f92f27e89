"""Files that are cut into pieces while they are read: the same as when they are cut as a whole."""

import asyncio
import csv
import io
import json
import os
import signal
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest
from xlsxwriter import Workbook

from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from adapters.outbound.knowledge.parsing.parser import AHEAD, BoundedQueue, SandboxedParser
from domain.knowledge.chunking import chunk
from domain.refusals import TooLarge, Unavailable
from ports.indexing import ReadPart
from tests.parsing.making import pdf, word
from tests.parsing.making_open import book
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

SENTENCES = [
    f"Turbine {n} of the hall is checked in week {n} by the people of shift {n % 7}." for n in range(900)
]
TEXT = "Handbook of the hall\n\n" + "\n\n".join(" ".join(SENTENCES[n : n + 9]) for n in range(0, 900, 9))
ROWS = [["number", "turbine", "note"], *([n, f"T-{n}", SENTENCES[n % 900]] for n in range(3_000))]


def rows() -> bytes:
    written = io.StringIO()
    csv.writer(written).writerows(ROWS)
    return written.getvalue().encode()


def workbook() -> bytes:
    written = io.BytesIO()
    book = Workbook(written)
    for name in ("Hall", "Yard"):
        sheet = book.add_worksheet(name)
        for number, row in enumerate(ROWS[:300]):
            sheet.write_row(number, 0, row)
    book.close()
    return written.getvalue()


SAMPLES = {
    "hall.txt": TEXT.encode(),
    "lines.log": "\n".join(SENTENCES * 4).encode(),
    "hall.csv": rows(),
    "hall.json": json.dumps([{"turbine": n, "note": note} for n, note in enumerate(SENTENCES)]).encode(),
    "hall.xml": f"<hall>{''.join(f'<turbine>{note}</turbine>' for note in SENTENCES)}</hall>".encode(),
    "hall.md": ("# Hall\n\n" + "\n\n## Part\n\n".join(SENTENCES[:60])).encode(),
    "hall.html": f"<h1>Hall</h1>{''.join(f'<p>{note}</p>' for note in SENTENCES[:60])}".encode(),
    "hall.docx": word(*SENTENCES[:60]),
    "hall.pdf": pdf([SENTENCES[n : n + 20] for n in range(0, 200, 20)], [("Hall", 0), ("Shifts", 4)]),
    "hall.xlsx": workbook(),
    "hall.epub": book("Hall", {"one.xhtml": f"<html><body><p>{SENTENCES[0]}</p></body></html>"}),
}


@pytest.mark.parametrize("name", SAMPLES)
async def test_a_file_is_cut_as_its_whole_document_is(
    parser: SandboxedParser, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "upload"
    path.write_bytes(SAMPLES[name])
    document = await parser.parse(path, name)
    whole = chunk(document, name, ModelFiles().count_tokens)

    async with aclosing(parser.cut(path, name)) as parts:
        made = [part async for part in parts]

    assert "".join(part.text for part in made) == document.text
    pieces = [piece for part in made for piece in part.pieces]
    assert [(p.position, p.text, p.context, p.metadata, set(p.words)) for p in pieces] == [
        (p.position, p.text, p.context, p.metadata, set(p.words)) for p in whole
    ]
    assert all(len(part.text) < 600_000 and len(part.pieces) <= 512 for part in made)


async def cut(parser: SandboxedParser, path: Path, used: Callable[[ReadPart], object]) -> None:
    """Reads a CSV to its end, and tells each part."""
    async with aclosing(parser.cut(path, "hall.csv")) as parts:
        async for part in parts:
            used(part)


async def test_what_is_too_large_is_refused_in_the_middle(limited, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(rows())
    parser = limited(rows=2_500)
    made: list[ReadPart] = []
    with pytest.raises(TooLarge, match="more than 2,500 rows"):
        await cut(parser, path, made.append)
    assert made
    await parser.close()


async def test_a_reading_process_that_is_killed_in_the_middle_is_told(own, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(rows() * 8)

    def kill(_: ReadPart) -> None:
        if own.reading_process is not None:
            os.kill(own.reading_process, signal.SIGKILL)

    with pytest.raises(Unavailable, match="try again"):
        await cut(own, path, kill)


async def test_a_reading_that_is_given_up_leaves_nothing_behind(own, own_server, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(rows() * 8)
    async with aclosing(own.cut(path, "hall.csv")) as parts:
        await anext(parts)
    path.write_bytes(b"The next file.")
    assert (await own.parse(path, "next.txt")).text == "The next file."
    # Nobody waits for the end of a reader that was given up.
    until(lambda: not any(own_server.scratch.iterdir()), "the scratch folders are gone")


async def test_a_thread_is_never_far_ahead_of_the_loop() -> None:
    """However fast parts are read, few are held: those put and not yet used up."""
    queue: BoundedQueue[int] = BoundedQueue()
    put: list[int] = []

    def fill() -> None:
        for number in range(40):
            queue.put(number)
            put.append(number)

    used = []
    async with aclosing(queue.values(asyncio.create_task(asyncio.to_thread(fill)))) as numbers:
        async for number in numbers:
            used.append(number)
            assert len(put) - len(used) < AHEAD + 1
    assert used == list(range(40))
