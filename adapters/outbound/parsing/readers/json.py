"""JSON (RFC 8259) and JSON lines, as "path: value" lines; numbers stay as they are written."""

import json
import re
from collections.abc import Iterator
from typing import Any

from adapters.outbound.parsing.cleaning import one_line
from adapters.outbound.parsing.reading import Job, Reading
from adapters.outbound.parsing.text import decode
from domain.knowledge.documents import Block, BlockKind

_RECORD_CHARS = 1_000
_PLAIN_KEY = re.compile(r"[\w-]+")


class _Members(list[tuple[str, Any]]):
    """The members of an object in their order, repeated names included."""


class _Raw(str):
    """A number, or a word that JSON does not have, as it is written."""

    __slots__ = ()


def read(job: Job) -> Reading:
    """A block holds the lines of one record: an element of the outer array, or about 1,000 characters."""
    text = decode(job).lstrip("\ufeff")
    try:
        value = _loads(text)
    except ValueError as error:
        value = _lines(text)
        if value is None:
            place = (
                f" at line {error.lineno}, column {error.colno}"
                if isinstance(error, json.JSONDecodeError)
                else ""
            )
            raise job.unreadable(f"it is not valid JSON{place}") from error
    return Reading(_blocks(job, value), title=_title(value))


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_Members, parse_int=_Raw, parse_float=_Raw, parse_constant=_Raw)


def _lines(text: str) -> list[Any] | None:
    """JSON lines: one value on each line, at least two of them."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return [_loads(line) for line in lines] if len(lines) > 1 else None
    except ValueError:
        return None


def _blocks(job: Job, value: Any) -> Iterator[Block]:
    lines: list[str] = []
    size, top = 0, ""
    for path, leaf in _leaves(job, value, "", 0):
        line = f"{path}: {leaf}" if path else leaf
        here = _record(path)
        if lines and (size + len(line) > _RECORD_CHARS or (here != top and here.startswith("["))):
            yield Block(BlockKind.FIELD, "\n".join(lines))
            lines, size = [], 0
        lines.append(line)
        size += len(line)
        top = here
    if lines:
        yield Block(BlockKind.FIELD, "\n".join(lines))


def _record(path: str) -> str:
    return path.partition("]")[0] if path.startswith("[") else ""


def _leaves(job: Job, value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > job.limits.depth:
        raise job.unreadable(f"it is nested more than {job.limits.depth} levels deep")
    if isinstance(value, _Members) and value:
        for key, member in value:
            name = (
                one_line(key) if _PLAIN_KEY.fullmatch(key) else json.dumps(one_line(key), ensure_ascii=False)
            )
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


def _title(value: Any) -> str:
    members = dict(value) if isinstance(value, _Members) else {}
    title = members.get("title", members.get("name", ""))
    return title if isinstance(title, str) and not isinstance(title, _Raw) else ""
