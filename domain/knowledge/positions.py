"""Where a chunk stands in its document: what is known of it becomes the chunk's metadata."""

from collections.abc import Sequence
from typing import Any

from domain.knowledge.documents import Block


def metadata(blocks: Sequence[Block], title: str, position: int, start: int, end: int) -> dict[str, Any]:
    """The JSON object of a chunk made of `blocks`.

    `position` counts the document's chunks from 0; `start` and `end` are character offsets in the file
    record's text; pages, rows and slides count from 1, ends included; times are in seconds.
    """
    values: dict[str, Any] = {"position": position, "start": start, "end": end}
    if title:
        values["title"] = title
    path = next((block.heading_path for block in reversed(blocks) if block.heading_path), ())
    if path:
        values["headingPath"] = list(path)
    values.update(_range("page", "pageEnd", [block.page for block in blocks]))
    values.update(_first("sheet", [block.sheet for block in blocks]))
    rows = [row for block in blocks for row in (block.row_start, block.row_end)]
    values.update(_range("rowStart", "rowEnd", rows, always=True))
    values.update(_first("slide", [block.slide for block in blocks]))
    times = [time for block in blocks for time in (block.time_start, block.time_end)]
    values.update(_range("timeStart", "timeEnd", times, always=True))
    return values


def _range(
    first: str, last: str, values: Sequence[int | float | None], *, always: bool = False
) -> dict[str, Any]:
    known = [value for value in values if value is not None]
    if not known:
        return {}
    low, high = min(known), max(known)
    return {first: low, last: high} if always or high != low else {first: low}


def _first(name: str, values: Sequence[int | str | None]) -> dict[str, Any]:
    return next(({name: value} for value in values if value is not None), {})
