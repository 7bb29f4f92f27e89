"""Pages whose text PDFium does not tell: of fonts that are not in the file, or without a map to characters."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_GAP, _SAME_LINE = 0.25, 0.5
_MOST_PIECES = 100_000


class OtherReader:
    """The pages of a file by the `pypdf` library, which knows the characters of fonts that are not in the file."""

    def __init__(self, path: Path) -> None:
        from pypdf import PdfReader

        self._reader = PdfReader(path)

    def lines(self, page: int) -> list[str]:
        """The lines of a page, counted from 0."""
        pieces: list[tuple[float, float, float, str]] = []

        def visit(text: str, outer: Sequence[float], inner: Sequence[float], _: Any, size: float) -> None:
            if text.strip() and len(pieces) < _MOST_PIECES:
                x, y = inner[4] * outer[0] + outer[4], inner[5] * outer[3] + outer[5]
                pieces.append((y, x, abs(size * math.hypot(inner[2], inner[3])) or 1.0, text.strip()))

        self._reader.pages[page].extract_text(visitor_text=visit)
        return _lines(pieces)


def _lines(pieces: list[tuple[float, float, float, str]]) -> list[str]:
    """Pieces at one height as a line, with blanks where there are gaps."""
    lines: list[str] = []
    height, end = math.inf, 0.0
    for y, x, size, text in sorted(pieces, key=lambda piece: (-round(piece[0]), piece[1])):
        if abs(height - y) > size * _SAME_LINE:
            lines.append(text)
        else:
            lines[-1] += (" " if x - end > size * _GAP else "") + text
        height, end = y, x + size * len(text)
    return lines
