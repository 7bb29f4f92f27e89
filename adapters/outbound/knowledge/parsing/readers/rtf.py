"""RTF 1.9, by the `striprtf` library: paragraphs, rows of tables, notes, running headers and footers.

The library passes by notes, headers and footers; their groups are given to it one by one.
"""

import codecs
import contextlib
import re
from collections.abc import Iterator

from striprtf.striprtf import rtf_to_text

from adapters.outbound.knowledge.parsing.reading import Job
from adapters.outbound.knowledge.parsing.tables import rows_to_blocks
from adapters.outbound.knowledge.parsing.text import one_line
from domain.knowledge.documents import Block, BlockKind

_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_CODE_PAGE = re.compile(rb"\\ansicpg(\d+)")
_BINARY = re.compile(rb"\\bin(\d{1,9}) ?")
_OBJECT = re.compile(r"\{\\(?:\*\\)?(?:object|pict|themedata|datastore|fontemb)\b")
_GROUPS = {
    BlockKind.NOTE: re.compile(r"\{\\(?:\*\\)?(?:footnote|annotation)\b"),
    BlockKind.MARGIN: re.compile(r"\{\\(?:header|footer)[lrf]?\b"),
}
_TITLE = re.compile(r"\{\\title\b")
_FIRST = re.compile(r"\\(?:header|footer)[lrf]?|\\(?:\*\\)?(?:footnote|annotation)|\\title")
_CELL_END = "|"


def read(job: Job) -> Iterator[Block]:
    source = job.path.read_bytes()
    if len(source) > job.limits.inflated_bytes:
        raise job.too_large(f"it holds more than {job.limits.inflated_bytes // 2**20} MB")
    if not source.rstrip(b"\0\r\n\t ").endswith(b"}"):
        raise job.unreadable("it is cut off: its last brace is missing")
    page = "cp1252"
    if match := _CODE_PAGE.search(source):
        with contextlib.suppress(LookupError):
            page = codecs.lookup(f"cp{match[1].decode()}").name
    # Without the bytes of pictures and objects: braces among them would open groups.
    plain, behind = [], 0
    while binary := _BINARY.search(source, behind):
        plain.append(source[behind : binary.start()])
        behind = binary.end() + int(binary[1])
    markup = b"".join([*plain, source[behind:]]).decode(page, "replace")
    kept, end = [], 0
    for start, stop in _spans(markup, _OBJECT):
        kept.append(markup[end:start])
        end = stop
    markup = "".join([*kept, markup[end:]])
    prefix = f"{{\\rtf1\\ansicpg{page[2:]} "
    job.title = one_line(next((_text(f"{prefix}{group}}}") for group in _groups(markup, _TITLE)), ""))
    return _blocks(markup, prefix)


def _blocks(markup: str, prefix: str) -> Iterator[Block]:
    """One block for each paragraph; lines that end in a cell are rows, neighbours of them one table."""
    rows: list[tuple[int, list[str]]] = []
    for line in _text(markup).split("\n"):
        if line.endswith(_CELL_END):
            rows.append((len(rows) + 1, line[:-1].split(_CELL_END)))
        elif line.strip():
            yield from rows_to_blocks(rows)
            rows = []
            yield Block(BlockKind.PARAGRAPH, line)
    yield from rows_to_blocks(rows)
    for kind, opening in _GROUPS.items():
        for text in dict.fromkeys(_text(f"{prefix}{group}}}").strip() for group in _groups(markup, opening)):
            yield Block(kind, text)


def _groups(markup: str, opening: re.Pattern[str]) -> Iterator[str]:
    """What stands in the groups that open so."""
    for start, stop in _spans(markup, opening):
        yield _FIRST.sub("", markup[start + 1 : stop - 1], count=1)


def _spans(markup: str, opening: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Begin and end of the groups that open so; a group without a closing brace ends with the text."""
    end = 0
    while match := opening.search(markup, end):
        depth, end = 0, len(markup)
        for brace in _BRACE.finditer(markup, match.start()):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if not depth and brace[0] == "}":
                end = brace.end()
                break
        yield match.start(), end


def _text(markup: str) -> str:
    return str(rtf_to_text(markup, errors="replace"))
