"""The place of a chunk in its document, as stored in its metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from domain.knowledge.documents import Block

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
    return ", ".join(
        f"{word} {first}" if last in (None, first) else f"{word}s {first}-{last}"
        for word, first, last in stretches
        if first is not None
    )


def page_of(metadata: str | None) -> int | None:
    page = known_of(metadata).get("page")
    return page if isinstance(page, int) else None


def metadata(blocks: Sequence[Block], title: str, position: int, start: int, end: int) -> dict[str, Any]:
    """The JSON object of a chunk made of `blocks`.

    `position` counts the document's chunks from 0; `start` and `end` are character offsets in the file
    record's text; pages, rows and slides count from 1, ends included; times are in seconds.
    """
    pages, rows = _known(blocks, "page"), _known(blocks, "row_start", "row_end")
    times = _known(blocks, "time_start", "time_end")
    values = {
        "position": position,
        "start": start,
        "end": end,
        "title": title or None,
        "headingPath": next(
            (list(block.heading_path) for block in reversed(blocks) if block.heading_path), None
        ),
        "page": min(pages, default=None),
        "pageEnd": max(pages) if len(set(pages)) > 1 else None,
        "sheet": next(iter(_known(blocks, "sheet")), None),
        "rowStart": min(rows, default=None),
        "rowEnd": max(rows, default=None),
        "slide": next(iter(_known(blocks, "slide")), None),
        "timeStart": min(times, default=None),
        "timeEnd": max(times, default=None),
    }
    return {name: value for name, value in values.items() if value is not None}


def _known(blocks: Iterable[Block], *attributes: str) -> list[Any]:
    values = (getattr(block, name) for block in blocks for name in attributes)
    return [value for value in values if value is not None]
