"""Where a chunk stands in its document, as its metadata tells it. Pure."""

import json
from typing import Any

_PLACES = (
    ("page", "page"),
    ("slide", "slide"),
    ("sheet", "sheet"),
    ("rowStart", "row"),
    ("timeStart", "second"),
)


def known_of(metadata: str | None) -> dict[str, Any]:
    """The JSON object of a chunk's metadata; empty without one."""
    known = json.loads(metadata) if metadata else {}
    return known if isinstance(known, dict) else {}


def place_of(metadata: str | None) -> str:
    """Where a chunk stands, in words: "page 3"."""
    known = known_of(metadata)
    return ", ".join(f"{word} {known[name]}" for name, word in _PLACES if name in known)


def page_of(metadata: str | None) -> int | None:
    page = known_of(metadata).get("page")
    return page if isinstance(page, int) else None
