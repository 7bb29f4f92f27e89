"""Bodies of calls, described in words: `"message" says "a", "text" in "payload" says "b"`."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

FIELD = r'"(?P<name>\w+)"(?: in "(?P<outer>\w+)")?'
VALUES: Mapping[str, Callable[..., Any]] = {
    r'says "(?P<text>[^"]*)"': lambda text: text,
    r"says nothing": lambda: None,
    r"is the number (?P<number>\d+)": lambda number: int(number),
    r"is empty": dict,
    r'lists "(?P<text>[^"]*)"': lambda text: [text],
    r'are two, whose "(?P<key>\w+)" is "(?P<first>\w+)" and "(?P<second>\w+)"': lambda key, first, second: [
        {key: first},
        {key: second},
    ],
}


def body_of(words: str) -> bytes:
    """The JSON body that the words describe, its fields in the order of the words."""
    texts = re.fullmatch(r'the body lists "(\w+)" and "(\w+)"', words)
    return json.dumps(list(texts.groups()) if texts else _fields(words)).encode()


def _fields(words: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for clause in re.split(r', (?=")', words):
        name, outer, value = _field(clause)
        (fields.setdefault(outer, {}) if outer else fields)[name] = value
    return fields


def _field(clause: str) -> tuple[str, str | None, Any]:
    for pattern, value in VALUES.items():
        if match := re.fullmatch(f"{FIELD} {pattern}", clause):
            groups = match.groupdict()
            return groups.pop("name"), groups.pop("outer"), value(**groups)
    raise ValueError(f"no field is described by: {clause}")
