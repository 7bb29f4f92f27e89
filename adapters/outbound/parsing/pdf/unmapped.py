"""Pages whose text PDFium does not tell: of fonts that are not in the file, without a map to characters, damaged."""

import io
import math
import zlib
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

    def is_damaged(self, page: int) -> bool:
        """Return True for a page whose content is no stream, or one that cannot be unpacked."""
        contents = self._reader.pages[page].get("/Contents")
        whole = contents.get_object() if contents is not None else []
        streams = whole if isinstance(whole, list) else [whole]
        return any(_is_damaged(stream.get_object()) for stream in streams)


def _is_damaged(stream: Any) -> bool:
    if not hasattr(stream, "get_data"):
        return stream is not None
    stored = io.BytesIO()
    stream.write_to_stream(stored)
    packed = stored.getvalue().partition(b"\nstream\n")[2].rpartition(b"\nendstream")[0]
    filters = stream.get("/Filter")
    try:
        if filters in ("/FlateDecode", ["/FlateDecode"]):
            zlib.decompress(packed)
        else:
            stream.get_data()
    except (zlib.error, ValueError, LookupError, NotImplementedError):
        return True
    return False


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
