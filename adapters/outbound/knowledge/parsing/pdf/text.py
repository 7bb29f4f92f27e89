"""The text layer of one page: its lines, and where on the page they stand as it is shown."""

import ctypes
import math
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import pypdfium2.raw as pdfium_c

from adapters.outbound.knowledge.parsing.pdf import reading_order
from adapters.outbound.knowledge.parsing.pdf.headline import Line
from adapters.outbound.knowledge.parsing.pdf.letters import in_order, plain, runs_from_right
from adapters.outbound.knowledge.parsing.pdf.margins import Edge

_HYPHEN = re.compile(r"[\ufffe\u00ad\x02]\r?\n?")
_WORD = re.compile(r"\S+")
_EDGE_LINES = 4
_SAMPLED_LETTERS, _UNMAPPED_SHARE = 200, 0.3
_SAMPLED_LINES = 4
_MOST_PARTS, _WIDE = 12, 1.0
_NEAR, _BESIDE = 15.0, 60.0
_UPRIGHT = 0.1


class _Characters:
    """Where the characters of a page stand, by PDFium's numbers."""

    def __init__(self, page: Any, textpage: Any) -> None:
        self._page = page.raw
        self._textpage = textpage.raw

    def baseline(self, index: int) -> float:
        x, y = ctypes.c_double(), ctypes.c_double()
        pdfium_c.FPDFText_GetCharOrigin(self._textpage, index, x, y)
        return y.value

    def box(self, index: int) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of a character, in PDF's own coordinates."""
        box = pdfium_c.FS_RECTF()
        pdfium_c.FPDFText_GetLooseCharBox(self._textpage, index, box)
        return box.left, box.top, box.right, box.bottom

    def extent(self, place: int) -> tuple[float, float]:
        """Top and bottom of a character, from the top of the page as it is shown, in points."""
        begin, high, end, low = self.box(place)
        turns, left, top, _, right, bottom = self.frame
        if turns == 1:
            return begin - left, end - left
        if turns == 2:
            return low - bottom, high - bottom
        if turns == 3:
            return right - end, right - begin
        return top - high, top - low

    @cached_property
    def frame(self) -> tuple[int, float, float, float, float, float]:
        """Quarter turns to the right, then left, top, height as it is shown, right, bottom."""
        box = pdfium_c.FS_RECTF()
        pdfium_c.FPDF_GetPageBoundingBox(self._page, box)
        turns = pdfium_c.FPDFPage_GetRotation(self._page)
        height = box.right - box.left if turns % 2 else box.top - box.bottom
        return turns, box.left, box.top, height, box.right, box.bottom

    def letter_size(self, place: int) -> float:
        matrix = pdfium_c.FS_MATRIX()
        size = pdfium_c.FPDFText_GetFontSize(self._textpage, place)
        if not pdfium_c.FPDFText_GetMatrix(self._textpage, place, matrix):
            return float(size)
        return float(size * math.hypot(matrix.c, matrix.d))

    def is_upright(self, place: int) -> bool:
        turned = pdfium_c.FPDFText_GetCharAngle(self._textpage, place) - self.frame[0] * math.pi / 2
        return math.cos(turned) > 1 - _UPRIGHT

    def index_of(self, place: int) -> int:
        """PDFium's number of the character at a place of its text."""
        return int(pdfium_c.FPDFText_GetCharIndexFromTextIndex(self._textpage, place))


class PageText:
    """The text of a page as PDFium reads it, words joined that are cut at the ends of lines."""

    def __init__(self, page: Any) -> None:
        self._textpage = page.get_textpage()
        self._characters = _Characters(page, self._textpage)
        raw = self._textpage.get_text_range()
        is_from_right = runs_from_right(raw)
        if is_from_right:
            raw = in_order(raw, lambda place: self._characters.box(self._characters.index_of(place))[::2])
        self._cuts = [match.span() for match in _HYPHEN.finditer(raw)]
        self._raw = _HYPHEN.sub("", raw).split("\n")
        lines = [plain(line.rstrip()) for line in self._raw]
        self.lines = lines if any(lines) else []
        self._moved: list[int] | None = None
        if not is_from_right and not self._characters.frame[0]:
            if self._may_have_columns():
                self._put_columns_in_order()
            if self._moved is None:
                self._move_late_lines()

    def close(self) -> None:
        self._textpage.close()

    def is_mapped(self) -> bool:
        """Return True if most letters of a sample have a character: their font says which."""
        count = self._textpage.count_chars()
        sample = range(0, count, count // _SAMPLED_LETTERS + 1)
        unmapped = sum(
            pdfium_c.FPDFText_HasUnicodeMapError(self._textpage.raw, index) == 1 for index in sample
        )
        return bool(unmapped <= len(sample) * _UNMAPPED_SHARE)

    def edges(self, number: int) -> Iterator[Edge]:
        """The first and the last lines, for page `number`."""
        count = len(self.lines)
        for index in sorted({*range(min(_EDGE_LINES, count)), *range(max(count - _EDGE_LINES, 0), count)}):
            if self.lines[index]:
                top, bottom = self._characters.extent(self._start(index))
                height = self._characters.frame[3] or 1.0
                yield Edge(
                    number, index, self.lines[index], (top + bottom) / 2 / height, (bottom - top) / height
                )

    def sized(self) -> list[Line]:
        """All lines with the size of their letters."""
        lines: list[Line] = []
        for index, text in enumerate(self.lines):
            if not text:
                lines.append(Line("", 0.0, 0.0))
                continue
            first = self._start(index)
            places = (first, first + len(text.strip()) // 2, first + len(text.strip()) - 1)
            size = sorted(map(self._characters.letter_size, places))[1]
            top = self._characters.extent(first)[0]
            lines.append(Line(text, top, size, self._characters.is_upright(first)))
        return lines

    def _may_have_columns(self) -> bool:
        """A look at a few lines in the middle: drawn in parts with wide gaps between them, or side by side."""
        begin = max(len(self.lines) // 2 - _SAMPLED_LINES // 2, 0)
        sample = range(begin, min(begin + _SAMPLED_LINES, len(self.lines)))
        if len(sample) < _SAMPLED_LINES // 2:
            return False
        starts = [self._start(index) for index in sample]
        in_parts = sum(self._has_wide_gap(index, start) for index, start in zip(sample, starts, strict=True))
        boxes = [self._characters.box(start) for start in starts]
        beside = sum(
            abs(after[1] - before[1]) < _NEAR and abs(after[0] - before[0]) > _BESIDE
            for before, after in pairwise(boxes)
        )
        return in_parts * 3 >= len(sample) or beside * 2 >= 3

    def _has_wide_gap(self, index: int, start: int) -> bool:
        """Return True if a line is drawn in parts with a gap between them that is wider than between words."""
        parts = pdfium_c.FPDFText_CountRects(self._textpage.raw, start, len(self._raw[index]))
        if parts < 2:
            return "   " in self.lines[index].strip()
        edges: list[tuple[float, float, float]] = []
        for part in range(min(parts, _MOST_PARTS)):
            left, top, right, bottom = (ctypes.c_double() for _ in range(4))
            pdfium_c.FPDFText_GetRect(self._textpage.raw, part, left, top, right, bottom)
            edges.append((left.value, right.value, top.value - bottom.value))
        return any(after[0] - before[1] > _WIDE * before[2] for before, after in pairwise(sorted(edges)))

    def _put_columns_in_order(self) -> None:
        words: list[reading_order.Word] = []
        for index in range(len(self.lines)):
            for match in _WORD.finditer(self._raw[index]):
                first = self._index(self._begins[index] + match.start())
                left, top, _, bottom = self._characters.box(first)
                right = self._characters.box(self._index(self._begins[index] + match.end() - 1))[2]
                baseline = self._characters.baseline(first)
                words.append(reading_order.Word(match[0], left, right, -baseline, top - bottom, first, index))
        cells = reading_order.in_reading_order(words)
        if cells is not None:
            self.lines = [plain(cell.text) for cell in cells]
            self._moved = [cell.place for cell in cells]

    def _move_late_lines(self) -> None:
        """Puts lines that were drawn after what stands below them in front of it, with empty lines behind them."""
        filled = [index for index, line in enumerate(self.lines) if line]
        starts = [self._start(index) for index in filled]
        tops = [-self._characters.baseline(start) for start in starts]
        if all(before <= after for before, after in pairwise(tops)):
            return
        extents: list[reading_order.Extent] = []
        for index, start, top in zip(filled, starts, tops, strict=True):
            left, high, _, low = self._characters.box(start)
            end = self._index(self._begins[index] + len(self._raw[index].rstrip()) - 1)
            right = self._characters.box(end)[2]
            extents.append(reading_order.Extent(top, min(left, right), max(left, right), high - low))
        order = reading_order.late_lines_moved(extents)
        if order is None:
            return
        lines, moved = [], []
        ends = [*filled[1:], len(self.lines)]
        for place in order:
            lines += self.lines[filled[place] : ends[place]]
            moved += [starts[place]] * (ends[place] - filled[place])
        self.lines, self._moved = lines, moved

    def _start(self, index: int) -> int:
        """PDFium's number of the first visible character of a line."""
        if self._moved is not None:
            return self._moved[index]
        return self._index(self._begins[index] + len(self._raw[index]) - len(self._raw[index].lstrip()))

    def _index(self, place: int) -> int:
        """PDFium's number of the character at a place of the text without the marks of cut words."""
        for begin, end in self._cuts:
            if begin > place:
                break
            place += end - begin
        return self._characters.index_of(place)

    @cached_property
    def _begins(self) -> list[int]:
        return list(accumulate((len(line) + 1 for line in self._raw), initial=0))
