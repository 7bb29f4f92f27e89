"""Lists as files: CSV, or lines of JSON."""

import csv
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Literal, TypeVar

from fastapi.responses import StreamingResponse

from adapters.inbound.rest.routing import errors
from domain.paging import Page

T = TypeVar("T")
C = TypeVar("C", int, str)

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What makes a spreadsheet take a cell for a formula; the last four are wide forms of the first."""
Format = Literal["csv", "ndjson"]


def file_responses(description: str, *statuses: int) -> dict[int | str, dict[str, Any]]:
    """The answers of a route that exports a list, for OpenAPI."""
    text = {"schema": {"type": "string"}}
    content = {"text/csv": text, "application/x-ndjson": text}
    return {**errors(*statuses), 200: {"description": description, "content": content}}


async def exported(
    name: str,
    format: Format,
    columns: Sequence[str],
    page_of: Callable[[C | None], Awaitable[Page[T, C]]],
    record: Callable[[T], dict[str, Any]],
    line: Callable[[T], str],
    most_pages: int,
) -> StreamingResponse:
    """The items of a list as a file. `record`: the cells of an item by their columns; `line`: an item as JSON."""
    first = await page_of(None)

    async def written() -> AsyncIterator[str]:
        yield row(columns) if format == "csv" else ""
        page = first
        for _ in range(most_pages):
            yield "".join(
                row([cell(cells[column]) for column in columns]) if format == "csv" else f"{line(item)}\n"
                for item, cells in ((item, record(item)) for item in page.items)
            )
            if page.next is None:
                break
            page = await page_of(page.next)

    media_type = "text/csv; charset=utf-8" if format == "csv" else "application/x-ndjson"
    headers = {
        "content-disposition": f'attachment; filename="{name}.{format}"',
        "cache-control": "no-store",
    }
    return StreamingResponse(written(), media_type=media_type, headers=headers)


def cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def row(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()
