"""Plain text, CSV and its relatives (RFC 4180), JSON (RFC 8259) and JSON lines."""

import csv
import io
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from adapters.outbound.knowledge.parsing.reading import Job, field_blocks
from adapters.outbound.knowledge.parsing.tables import rows_to_blocks
from adapters.outbound.knowledge.parsing.text import clean, decode, one_line, read_unarmored
from domain.knowledge.documents import Block, BlockKind

_BLANK = re.compile(r"\n[ \t]*\n")
_SMALL_FILE_CHARS = 2_000_000
_GATHERED_CHARS = 400


def read_text(job: Job) -> Iterator[Block]:
    """One block for each paragraph; in very long files short neighbours share a block."""
    return paragraphs(read_unarmored(job, decode(job).replace("\f", "\n\n")))


def paragraphs(text: str) -> Iterator[Block]:
    """The paragraphs of plain text."""
    text = clean(text)
    least = 0 if len(text) <= _SMALL_FILE_CHARS else _GATHERED_CHARS
    start = 0
    for gap in _BLANK.finditer(text):
        if gap.start() - start > least:
            yield Block(BlockKind.PARAGRAPH, text[start : gap.start()].strip("\n"))
            start = gap.end()
    yield Block(BlockKind.PARAGRAPH, text[start:])


_DELIMITERS = ",;\t|"
_SAMPLE_CHARS = 65_536
_SAMPLE_ROWS = 200


def read_csv(job: Job) -> Iterator[Block]:
    """One block for each record; quoted fields may hold delimiters and line breaks, records be ragged."""
    text = decode(job).lstrip("\ufeff")
    csv.field_size_limit(job.limits.text_chars)

    def steadiness(candidate: str) -> tuple[float, int]:
        sample = itertools.islice(_records(text[:_SAMPLE_CHARS], candidate), _SAMPLE_ROWS)
        widths = [len(row) for row in sample if row]
        width, times = Counter(widths).most_common(1)[0] if widths else (0, 0)
        return (times / len(widths), width) if width > 1 else (0.0, 0)

    def rows() -> Iterator[tuple[int, Sequence[str]]]:
        for number, row in enumerate(_records(text, delimiter), start=1):
            if number > job.limits.rows:
                raise job.too_large(f"it holds more than {job.limits.rows:,} rows")
            yield number, row

    first = text.lstrip().partition("\n")[0].strip().lower()
    is_named = first.startswith("sep=") and len(first) == 5
    # Else the one that cuts the first records into the steadiest number of columns, above one.
    delimiter = first[4] if is_named else max(_DELIMITERS, key=steadiness)
    return rows_to_blocks(rows())


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text.replace("\x00", ""), newline=""), delimiter=delimiter)


_PLAIN_KEY = re.compile(r"[\w-]+")


class _Members(list[tuple[str, Any]]):
    """The members of an object in their order, repeated names included."""


class _Raw(str):
    """A number, or a word that JSON does not have, as it is written."""

    __slots__ = ()


def read_json(job: Job) -> Iterator[Block]:
    """A block holds the lines of one record: an element of the outer array, or about 1,000 characters."""
    text = decode(job).lstrip("\ufeff")
    try:
        value = _loads(text)
    except ValueError as error:
        value = _lines(text)
        if value is None:
            place = ""
            if isinstance(error, json.JSONDecodeError):
                place = f" at line {error.lineno}, column {error.colno}"
            raise job.unreadable(f"it is not valid JSON{place}") from error
    members = dict(value) if isinstance(value, _Members) else {}
    title = members.get("title", members.get("name", ""))
    job.title = title if isinstance(title, str) and not isinstance(title, _Raw) else ""
    lines = (
        (path.partition("]")[0] if path.startswith("[") else "", f"{path}: {leaf}" if path else leaf)
        for path, leaf in _leaves(job, value, "", 0)
    )
    return field_blocks(lines)


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_Members, parse_int=_Raw, parse_float=_Raw, parse_constant=_Raw)


def _lines(text: str) -> list[Any] | None:
    """JSON lines: one value on each line, at least two of them."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return [_loads(line) for line in lines] if len(lines) > 1 else None
    except ValueError:
        return None


def _leaves(job: Job, value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > job.limits.depth:
        raise job.unreadable(f"it is nested more than {job.limits.depth} levels deep")
    if isinstance(value, _Members) and value:
        for key, member in value:
            name = one_line(key)
            if not _PLAIN_KEY.fullmatch(key):
                name = json.dumps(name, ensure_ascii=False)
            yield from _leaves(job, member, f"{path}.{name}" if path else name, depth + 1)
    elif isinstance(value, list) and value and not isinstance(value, _Members):
        for index, member in enumerate(value):
            yield from _leaves(job, member, f"{path}[{index}]", depth + 1)
    else:
        yield path, _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, _Members):
        return "{}"
    return json.dumps(value)
