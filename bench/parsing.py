"""Reading files end to end, through the sandbox, against the bare library doing the same: `python -m bench.parsing`.

Both sides of a case run in turn, in the same minute; the ratio of their medians is what counts (1 is as fast as the
bare library, 0.5 takes twice its time). CPU is that of the reading child and of the service together.
"""

import asyncio
import csv
import io
import logging
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
from python_calamine import CalamineWorkbook
from xlsxwriter import Workbook

from adapters.outbound.knowledge.parsing.parser import SandboxedParser
from tests.parsing.making import pdf

ROUNDS = 5
PAGES, LINES, WORDS = 200, 45, 12
ROWS = 50_000
TEXT_BYTES = 19_990_000


@dataclass(frozen=True)
class Case:
    """One kind of file, how the bare library reads it, and what is counted in it."""

    name: str
    unit: str
    count: int
    make: Callable[[Path], None]
    bare: Callable[[Path], object]


class Costs(logging.Handler):
    """What each child cost, as the parser logs it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.cpu_seconds = 0.0
        self.peak_kilobytes = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.cpu_seconds += getattr(record, "cpu_seconds", 0.0)
        self.peak_kilobytes = max(self.peak_kilobytes, getattr(record, "peak_kilobytes", 0))


def make_pdf(path: Path) -> None:
    pages = [[" ".join(_words(WORDS)) for _ in range(LINES)] for _ in range(PAGES)]
    path.write_bytes(pdf(pages))


def bare_pdf(path: Path) -> int:
    size = 0
    for page in pypdfium2.PdfDocument(path):
        textpage = page.get_textpage()
        size += len(textpage.get_text_range())
        textpage.close()
        page.close()
    return size


def rows() -> list[list[object]]:
    body = [[n, f"customer {n}", *_words(2), n / 8, " ".join(_words(8))] for n in range(ROWS)]
    return [["id", "name", "city", "state", "amount", "note"], *body]


def make_csv(path: Path) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows())


def bare_csv(path: Path) -> int:
    return sum(len(row) for row in csv.reader(io.StringIO(path.read_text())))


def make_xlsx(path: Path) -> None:
    book = Workbook(path, {"constant_memory": True})
    sheet = book.add_worksheet()
    for number, row in enumerate(rows()):
        sheet.write_row(number, 0, row)
    book.close()


def bare_xlsx(path: Path) -> int:
    return len(CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python())


def make_text(path: Path) -> None:
    with path.open("w") as file:
        written = 0
        while written < TEXT_BYTES - 1_000:
            written += file.write(" ".join(_words(80)) + ".\n\n")


def bare_text(path: Path) -> int:
    return len(path.read_bytes().decode().split("\n\n"))


CASES = (
    Case("PDF, 200 pages (pypdfium2)", "pages", PAGES, make_pdf, bare_pdf),
    Case("CSV, 50,000 rows (csv)", "rows", ROWS, make_csv, bare_csv),
    Case("XLSX, 50,000 rows (calamine)", "rows", ROWS, make_xlsx, bare_xlsx),
    Case("text, 20 MB (decode and split)", "MB", round(TEXT_BYTES / 1_000_000), make_text, bare_text),
)


async def measure(case: Case, parser: SandboxedParser, folder: Path) -> str:
    """One line of the table."""
    path = folder / "file"
    case.make(path)
    name = f"file.{case.name.partition(',')[0].lower().replace('text', 'txt')}"
    await parser.parse(path, name)  # the fork server imports what it needs
    bare, bare_cpu, ours, ours_cpu = [], [], [], []
    costs = Costs()
    log = logging.getLogger("adapters.outbound.knowledge.parsing.parser")
    log.setLevel(logging.DEBUG)
    log.addHandler(costs)
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        case.bare(path)
        bare.append(time.perf_counter() - wall)
        bare_cpu.append(time.process_time() - cpu)
        wall, cpu, costs.cpu_seconds = time.perf_counter(), time.process_time(), 0.0
        await parser.parse(path, name)
        ours.append(time.perf_counter() - wall)
        ours_cpu.append(time.process_time() - cpu + costs.cpu_seconds)
    log.removeHandler(costs)
    middle = statistics.median
    return (
        f"{case.name:32} {case.count / middle(bare):>10,.0f} {case.count / middle(ours):>10,.0f} {case.unit:6}"
        f"{middle(bare) / middle(ours):>8.2f} {middle(bare_cpu) / middle(ours_cpu):>8.2f}"
        f" {costs.peak_kilobytes / 1024:>9.0f} MB"
    )


async def main() -> None:
    """Prints the table."""
    parser = SandboxedParser()
    print(f"{'':32} {'bare/s':>10} {'ours/s':>10} {'':6}{'ratio':>8} {'by CPU':>8} {'child peak':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            print(await measure(case, parser, Path(folder)), flush=True)
    if sys.platform == "linux":
        print(f"reading process, idle: {resident_megabytes(parser.reading_process):.0f} MB")
    await parser.close()


def resident_megabytes(pid: int | None) -> float:
    """The resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _words(count: int) -> list[str]:
    return [_VOCABULARY[int(_CHANCE.random() * len(_VOCABULARY))] for _ in range(count)]


_CHANCE = random.Random(1)
_VOCABULARY = [
    "".join(_CHANCE.choices("abcdefghijklmnopqrstuvwxyz", k=_CHANCE.randint(2, 9))) for _ in range(3_000)
]

if __name__ == "__main__":
    asyncio.run(main())
