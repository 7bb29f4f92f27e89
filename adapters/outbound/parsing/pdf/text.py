"""The text layer of one page: its lines, and where on the page they stand as it is shown."""

import math
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any

import pypdfium2.raw as pdfium_c

from adapters.outbound.parsing.layout.headline import Line
from adapters.outbound.parsing.layout.ligatures import in_order, plain, runs_from_right
from adapters.outbound.parsing.layout.margins import Edge

_HYPHEN = re.compile(r"[\ufffe\u00ad\x02]\r?\n?")
_EDGE_LINES = 4
_UPRIGHT = 0.1


class PageText:
    """The text of a page as PDFium reads it, words joined that are cut at the ends of lines."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._textpage = page.get_textpage()
        raw = self._textpage.get_text_range()
        if runs_from_right(raw):
            raw = in_order(raw, self._across)
        self._cuts = [match.span() for match in _HYPHEN.finditer(raw)]
        text = _HYPHEN.sub("", raw) if self._cuts else raw
        self._raw = text.split("\n")
        lines = [line.rstrip() for line in self._raw]
        if not text.isascii():
            lines = [plain(line) for line in lines]
        self.lines = lines if any(lines) else []

    def close(self) -> None:
        self._textpage.close()

    def edges(self, number: int) -> Iterator[Edge]:
        """The first and the last lines, for page `number`."""
        count = len(self.lines)
        for index in sorted({*range(min(_EDGE_LINES, count)), *range(max(count - _EDGE_LINES, 0), count)}):
            if self.lines[index]:
                top, bottom = self._extent(self._start(index))
                height = self._frame[3] or 1.0
                yield Edge(
                    number, index, self.lines[index], (top + bottom) / 2 / height, (bottom - top) / height
                )

    def sized(self) -> list[Line]:
        """All lines with the size of their letters."""
        return [self._sized(index) for index in range(len(self.lines))]

    def _sized(self, index: int) -> Line:
        text = self.lines[index]
        if not text:
            return Line("", 0.0, 0.0)
        first = self._start(index)
        places = (first, first + len(text.strip()) // 2, first + len(text.strip()) - 1)
        size = sorted(self._letter_size(place) for place in places)[1]
        return Line(text, self._extent(first)[0], size, self._is_upright(first))

    def _start(self, index: int) -> int:
        """PDFium's number of the first visible character of a line."""
        place = self._begins[index] + len(self._raw[index]) - len(self._raw[index].lstrip())
        for begin, end in self._cuts:
            if begin > place:
                break
            place += end - begin
        return int(pdfium_c.FPDFText_GetCharIndexFromTextIndex(self._textpage.raw, place))

    def _across(self, place: int) -> tuple[float, float]:
        """Left and right of a character, by its place in the text."""
        box = pdfium_c.FS_RECTF()
        index = pdfium_c.FPDFText_GetCharIndexFromTextIndex(self._textpage.raw, place)
        pdfium_c.FPDFText_GetLooseCharBox(self._textpage.raw, index, box)
        return box.left, box.right

    @cached_property
    def _begins(self) -> list[int]:
        return list(accumulate((len(line) + 1 for line in self._raw), initial=0))

    def _extent(self, place: int) -> tuple[float, float]:
        """Top and bottom of a character, from the top of the page as it is shown, in points."""
        box = pdfium_c.FS_RECTF()
        pdfium_c.FPDFText_GetLooseCharBox(self._textpage.raw, place, box)
        turns, left, top, _, right, bottom = self._frame
        if turns == 1:
            return box.left - left, box.right - left
        if turns == 2:
            return box.bottom - bottom, box.top - bottom
        if turns == 3:
            return right - box.right, right - box.left
        return top - box.top, top - box.bottom

    @cached_property
    def _frame(self) -> tuple[int, float, float, float, float, float]:
        """Quarter turns to the right, then left, top, height as it is shown, right, bottom."""
        box = pdfium_c.FS_RECTF()
        pdfium_c.FPDF_GetPageBoundingBox(self._page.raw, box)
        turns = pdfium_c.FPDFPage_GetRotation(self._page.raw)
        height = box.right - box.left if turns % 2 else box.top - box.bottom
        return turns, box.left, box.top, height, box.right, box.bottom

    def _letter_size(self, place: int) -> float:
        matrix = pdfium_c.FS_MATRIX()
        size = pdfium_c.FPDFText_GetFontSize(self._textpage.raw, place)
        if not pdfium_c.FPDFText_GetMatrix(self._textpage.raw, place, matrix):
            return float(size)
        return float(size * math.hypot(matrix.c, matrix.d))

    def _is_upright(self, place: int) -> bool:
        turned = pdfium_c.FPDFText_GetCharAngle(self._textpage.raw, place) - self._frame[0] * math.pi / 2
        return math.cos(turned) > 1 - _UPRIGHT
