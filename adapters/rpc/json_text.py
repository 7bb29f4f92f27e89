"""JSON objects that cross as text."""

import json
from collections.abc import Mapping
from typing import Any

from domain import limits
from domain.json_text import TOO_DEEP, TOO_LONG, TooDeep, TooLong, loads
from domain.refusals import Fault, Invalid


def json_text(value: Mapping[str, Any]) -> str:
    """A JSON object as the text of a field, as short as it can be: its length has a limit."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_object(text: str, field: str) -> dict[str, Any]:
    """The object that a field holds as text. Raises `Invalid`, naming the field, for anything else, for a text that
    is too long, and for what could not be written out again: NaN, infinities, lone surrogates, too many levels.
    """
    if len(text) > limits.JSON_BYTES:
        raise Invalid.of([Fault(field, f"must be at most {limits.JSON_BYTES // 1024} KB of JSON")])
    try:
        value = loads(text)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except TooDeep:
        raise Invalid.of([Fault(field, TOO_DEEP)]) from None
    except TooLong:
        raise Invalid.of([Fault(field, TOO_LONG)]) from None
    except ValueError:  # the errors of decoding and encoding are ValueErrors
        value = None
    if not isinstance(value, dict):
        raise Invalid.of([Fault(field, "must be the JSON text of an object")])
    return value
