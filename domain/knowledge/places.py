"""Where a chunk stands in its document, as its metadata tells it. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_PLACES = (
    ("page", "pageEnd", "page"),
    ("slide", "", "slide"),
    ("sheet", "", "sheet"),
    ("rowStart", "rowEnd", "row"),
    ("timeStart", "timeEnd", "second"),
)


_NAMES = {
    "position": "position",
    "title": "title",
    "headingPath": "heading_path",
    "page": "page",
    "pageEnd": "page_end",
    "slide": "slide",
    "sheet": "sheet",
    "rowStart": "row_start",
    "rowEnd": "row_end",
    "timeStart": "time_start",
    "timeEnd": "time_end",
}
"""Keys of the metadata, and what `Place` calls them."""


@dataclass(frozen=True, slots=True)
class Place:
    """What the metadata of a chunk tells of its place; what is not known is None."""

    position: int | None = None
    title: str | None = None
    heading_path: Sequence[str] = ()
    page: int | None = None
    page_end: int | None = None
    slide: int | None = None
    sheet: str | None = None
    row_start: int | None = None
    row_end: int | None = None
    time_start: float | None = None
    time_end: float | None = None

    @classmethod
    def of(cls, metadata: str | None) -> Place:
        known = known_of(metadata)
        return cls(**{attribute: known[name] for name, attribute in _NAMES.items() if name in known})


def known_of(metadata: str | None) -> dict[str, Any]:
    """The JSON object of a chunk's metadata; empty without one."""
    known = json.loads(metadata) if metadata else {}
    return known if isinstance(known, dict) else {}


def place_of(metadata: str | None) -> str:
    """Where a chunk stands, in words: "page 3", "sheet Prices, rows 2-9"."""
    known = known_of(metadata)
    stretches = [(word, known.get(first), known.get(last)) for first, last, word in _PLACES]
    return ", ".join(_in_words(*stretch) for stretch in stretches if stretch[1] is not None)


def _in_words(word: str, first: object, last: object) -> str:
    return f"{word} {first}" if last in (None, first) else f"{word}s {first}-{last}"


def page_of(metadata: str | None) -> int | None:
    page = known_of(metadata).get("page")
    return page if isinstance(page, int) else None
