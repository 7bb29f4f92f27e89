"""DOC: Word 97 to 2003, read from its compound file by piece table and formatted disk pages.

Facts and names are those of [MS-DOC], Word (.doc) Binary File Format.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any

import olefile

from adapters.outbound.knowledge.parsing.containers import title_of
from adapters.outbound.knowledge.parsing.reading import Job, Sections
from adapters.outbound.knowledge.parsing.tables import rows_to_blocks
from domain.knowledge.documents import Block, BlockKind

_STORIES = (
    BlockKind.PARAGRAPH,  # the main text
    BlockKind.NOTE,  # footnotes
    BlockKind.MARGIN,  # running headers and footers
    BlockKind.NOTE,  # macros' text, unused
    BlockKind.NOTE,  # comments
    BlockKind.NOTE,  # endnotes
    BlockKind.PARAGRAPH,  # text boxes
    BlockKind.MARGIN,  # text boxes in running headers
)


def read(job: Job) -> Iterator[Block]:
    """Headings, paragraphs and table rows; then notes, running headers, comments and text boxes."""
    with olefile.OleFileIO(str(job.path)) as ole:
        word = WordFile(job, ole)
        job.title = title_of(ole)
        if any(len(entry) > 1 and entry[0] == "ObjectPool" for entry in ole.listdir()):
            job.warn("embedded objects of DOC files, such as charts, are not read")
    seen: set[str] = set()
    for kind, paragraphs in zip(_STORIES, word.stories(), strict=True):
        if kind is BlockKind.PARAGRAPH:
            yield from _running(paragraphs)
            continue
        for paragraph in paragraphs:
            if paragraph.text.strip() and (kind is BlockKind.NOTE or paragraph.text not in seen):
                seen.add(paragraph.text)
                yield Block(kind, paragraph.text.strip())


@dataclass(slots=True)
class _Table:
    """The rows of the table so far, the cells of its present row, the paragraphs of its present cell."""

    rows: list[tuple[int, list[str]]]
    cells: list[str]
    cell: list[str]

    def add(self, paragraph: Paragraph) -> None:
        if paragraph.ends_row:
            self.rows.append((len(self.rows) + 1, self.cells))
            self.cells = []
            return
        self.cell.append(paragraph.text)
        if paragraph.ends_cell:
            self.cells.append(" ".join(self.cell))
            self.cell = []

    def blocks(self, path: tuple[str, ...]) -> Iterator[Block]:
        """Ends the table."""
        if self.cell or self.cells:
            self.rows.append((len(self.rows) + 1, [*self.cells, " ".join(self.cell)]))
        rows, self.rows, self.cells, self.cell = self.rows, [], [], []
        yield from rows_to_blocks(rows, heading_path=path)


def _running(paragraphs: Iterator[Paragraph]) -> Iterator[Block]:
    sections = Sections()
    table = _Table([], [], [])
    for paragraph in paragraphs:
        if paragraph.in_table:
            table.add(paragraph)
            continue
        yield from table.blocks(sections.path)
        text = paragraph.text.strip()
        if paragraph.is_listing:
            yield Block(BlockKind.CONTENTS, text)
        elif paragraph.heading and text:
            level = min(paragraph.heading, 6)
            path = sections.enter(level, text)
            yield Block(BlockKind.HEADING, text, heading_path=path, level=level)
        else:
            yield Block(BlockKind.PARAGRAPH, text, heading_path=sections.path)
    yield from table.blocks(sections.path)


_WORD_97 = 0x00C1
_ENCRYPTED, _TABLE_1 = 0x0100, 0x0200
_COUNTS_AT = 0x4C
_CLX_AT, _PAPX_AT = 0x01A2, 0x0102
_COMPRESSED = 0x4000_0000
_PAGE = 512
_BX_BYTES = 13
_IN_TABLE, _ROW_END = b"\x16\x24\x01", b"\x17\x24\x01"  # sprmPFInTable, sprmPFTtp, both set
_MARKS = re.compile("[\r\x07\x0c]")
_HYPHENS = str.maketrans({"\x1e": "-", "\x1f": None, "\x0b": "\n"})
_FIELD_BEGIN, _FIELD_SEPARATOR, _FIELD_END = "\x13", "\x14", "\x15"
_FIELD = re.compile(r"\x13\s*(?P<listing>(?:TOC|INDEX|TOA)\b)?|\x15")
_STSH_AT = 0x00A2
_STI_TITLE = 62
_STI_LISTINGS = frozenset({*range(10, 28), 33, 35, 44, 46})
"""Index 1 to 9, table of contents 1 to 9, heading of an index, table of figures, table and heading of authorities."""
_LISTING = re.compile(r"(?:toc|index) (?:\d|heading)|table of (?:figures|authorities)", re.IGNORECASE)
_LONGEST_LINE_OF_STYLES = 20


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`heading` is the level of a heading style (1 for the style Title, 0 for none); `is_listing`: the paragraph is a
    line of a table of contents or an index."""

    text: str
    heading: int
    in_table: bool
    ends_cell: bool
    ends_row: bool
    is_listing: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    begin: int
    end: int
    offset: int
    width: int


class WordFile:
    """One document. Raises the job's refusals for what is encrypted, older than Word 97 or damaged."""

    def __init__(self, job: Job, ole: Any) -> None:
        self._main: bytes = ole.openstream("WordDocument").read()
        if len(self._main) < _CLX_AT + 8:
            raise job.unreadable("it is damaged: its first block is cut off")
        version, flags = struct.unpack_from("<H6xH", self._main, 2)
        if flags & _ENCRYPTED:
            raise job.unreadable("it is encrypted; remove its password and upload it again")
        if version < _WORD_97:
            raise job.unreadable("it is older than Word 97; save it as DOCX")
        try:
            self._table: bytes = ole.openstream("1Table" if flags & _TABLE_1 else "0Table").read()
            self._pieces = self._piece_table()
            self._runs = _property_runs(self._main, self._table)
            self._sheet = _style_sheet(self._main, self._table)
        except (OSError, struct.error, IndexError, ValueError) as error:
            raise job.unreadable("it is damaged: its tables cannot be read") from error

    def stories(self) -> Iterator[Iterator[Paragraph]]:
        """Main text, footnotes, headers, macros, comments, endnotes, text boxes, text boxes in headers.

        One character stands for each position: surrogates stay apart, so that positions hold.
        """
        texts: list[str] = []
        for piece in self._pieces:
            data = self._main[piece.offset : piece.offset + (piece.end - piece.begin) * piece.width]
            if piece.width == 1:
                texts.append(data.decode("cp1252", "replace"))
            else:
                units = struct.unpack(f"<{len(data) // 2}H", data[: len(data) // 2 * 2])
                texts.append("".join(map(chr, units)))
        text = "".join(texts)
        position = 0
        for count in struct.unpack_from(f"<{len(_STORIES)}i", self._main, _COUNTS_AT):
            yield self._paragraphs(text, position, position + max(count, 0))
            position += max(count, 0)

    def _piece_table(self) -> list[_Piece]:
        begin, size = struct.unpack_from("<II", self._main, _CLX_AT)
        clx = self._table[begin : begin + size]
        at = 0
        while clx[at] == 0x01:  # Prc: properties that pieces share
            at += 3 + struct.unpack_from("<H", clx, at + 1)[0]
        length = struct.unpack_from("<I", clx, at + 1)[0]
        plc = clx[at + 5 : at + 5 + length]
        count = (len(plc) - 4) // 12
        edges = struct.unpack_from(f"<{count + 1}I", plc)
        pieces = []
        for number, (first, last) in enumerate(pairwise(edges)):
            location = struct.unpack_from("<I", plc, 4 * (count + 1) + 8 * number + 2)[0]
            packed = bool(location & _COMPRESSED)
            offset = location & ~_COMPRESSED
            pieces.append(_Piece(first, last, offset // 2 if packed else offset, 1 if packed else 2))
        return pieces

    def _paragraphs(self, text: str, begin: int, end: int) -> Iterator[Paragraph]:
        start, listing = begin, _Listing()
        for mark in _MARKS.finditer(text, begin, end):
            index = bisect_right(self._pieces, mark.start(), key=lambda piece: piece.begin) - 1
            piece = self._pieces[max(index, 0)]
            offset = piece.offset + (mark.start() - piece.begin) * piece.width
            run = bisect_right(self._runs, offset, key=itemgetter(0)) - 1
            _, style, properties = self._runs[run] if run >= 0 else (0, 0, b"")
            kind = self._sheet.get(style, _PLAIN)
            is_cell = mark[0] == "\x07"
            shown = text[start : mark.start()]
            yield Paragraph(
                _visible(shown),
                kind.heading,
                is_cell or _IN_TABLE in properties,
                is_cell,
                _ROW_END in properties,
                listing.holds(shown) or kind.is_listing,
            )
            start = mark.end()
        if start < end:
            yield Paragraph(_visible(text[start:end]), 0, False, False, False, is_listing=False)


def _property_runs(main: bytes, table: bytes) -> list[tuple[int, int, bytes]]:
    """Paragraph properties by place in the main stream (PlcBtePapx, PapxFkp): the begin of each run, its style and
    further properties."""
    begin, size = struct.unpack_from("<II", main, _PAPX_AT)
    count = max((size - 4) // 8, 0)
    numbers = struct.unpack_from(f"<{count}I", table, begin + 4 * (count + 1)) if count else ()
    runs: list[tuple[int, int, bytes]] = []
    for number in numbers:
        at = (number & 0x3FFFFF) * _PAGE
        page = main[at : at + _PAGE]
        if len(page) < _PAGE:
            continue
        entries = page[-1]
        edges = struct.unpack_from(f"<{entries + 1}I", page)
        for entry in range(entries):
            properties = b""
            if place := page[4 * (entries + 1) + _BX_BYTES * entry] * 2:
                length = page[place] * 2 - 1 if page[place] else page[place + 1] * 2
                begin = place + 1 if page[place] else place + 2
                properties = page[begin : begin + length]
            runs.append((edges[entry], int.from_bytes(properties[:2], "little"), properties[2:]))
    return sorted(runs, key=itemgetter(0))


@dataclass(frozen=True, slots=True)
class _Style:
    heading: int = 0
    is_listing: bool = False


_PLAIN = _Style()
_USUAL = {level: _Style(level) for level in range(1, 10)}


def _style_sheet(main: bytes, table: bytes) -> dict[int, _Style]:
    """The meaning of each style of a document by its index (STSH, [MS-DOC] 2.9.271): by what it is built in as or
    called, else by the style that it is based on."""
    begin, size = struct.unpack_from("<II", main, _STSH_AT)
    sheet = table[begin : begin + size]
    if len(sheet) < 6:
        return _USUAL
    at = 2 + struct.unpack_from("<H", sheet)[0]
    count, base = struct.unpack_from("<HH", sheet, 2)
    own: dict[int, _Style | None] = {}
    based: dict[int, int] = {}
    for index in range(count):
        if at + 2 > len(sheet):
            break
        length = struct.unpack_from("<H", sheet, at)[0]
        style = sheet[at + 2 : at + 2 + length]
        at += 2 + length + length % 2
        if len(style) >= max(base, 4):
            number, based_on = struct.unpack_from("<HH", style)
            own[index] = _own_style(number & 0x0FFF, style[base:])
            based[index] = based_on >> 4
    styles: dict[int, _Style] = {}
    for index in own:
        ancestor = index
        for _ in range(_LONGEST_LINE_OF_STYLES - 1):
            if own.get(ancestor) is None and ancestor in based:
                ancestor = based[ancestor]
        styles[index] = own.get(ancestor) or _PLAIN
    return styles


def _own_style(number: int, name: bytes) -> _Style | None:
    """A style by its number among those that Word has itself ([MS-DOC] 2.9.258, sti), or by its name."""
    if 1 <= number <= 9 or number == _STI_TITLE:
        return _Style(1 if number == _STI_TITLE else number)
    text = name[2 : 2 + 2 * int.from_bytes(name[:2], "little")].decode("utf-16-le", "replace")
    return _Style(is_listing=True) if number in _STI_LISTINGS or _LISTING.match(text) else None


class _Listing:
    """Follows the fields of a text: the result of a table of contents or an index goes over many paragraphs."""

    def __init__(self) -> None:
        self._fields: list[bool] = []

    def holds(self, text: str) -> bool:
        """Return True if the paragraph stands in such a field, or begins one."""
        is_inside = any(self._fields)
        for match in _FIELD.finditer(text):
            if match[0] != _FIELD_END:
                self._fields.append(match["listing"] is not None)
                is_inside = is_inside or self._fields[-1]
            elif self._fields:
                self._fields.pop()
        return is_inside


def _visible(text: str) -> str:
    """Without the instructions of fields; what they show stays."""
    if _FIELD_BEGIN in text or _FIELD_END in text:
        shown, hidden = [], 0
        for char in text:
            if char == _FIELD_BEGIN:
                hidden += 1
            elif char == _FIELD_SEPARATOR:
                hidden = max(hidden - 1, 0)
            elif char == _FIELD_END:
                continue
            elif not hidden:
                shown.append(char)
        text = "".join(shown)
    return text.translate(_HYPHENS)
