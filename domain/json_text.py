"""JSON text from outside: how deeply it may be nested, and how it is read."""

import json
import re
import sys
from typing import Any

MAX_DEPTH = 64
"""Levels of arrays and objects within each other. Parsers and serializers give up at 255 to 1,024 levels, with errors
of their own, and what is stored wraps values in a few more levels."""

TOO_DEEP = f"must not be nested more than {MAX_DEPTH} levels deep"

MAX_DIGITS = sys.get_int_max_str_digits()
"""Digits of a whole number: Python reads and writes no longer ones."""

TOO_LONG = f"must not hold a whole number of more than {MAX_DIGITS} digits"

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""A string, or what begins as one and has no end: a pattern that fails there is tried at each quotation mark."""
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class TooDeep(ValueError):
    """A JSON text is nested more deeply than MAX_DEPTH."""


class TooLong(ValueError):
    """A JSON text holds a whole number of more than MAX_DIGITS."""


def is_too_deep(text: bytes) -> bool:
    """Whether a JSON text in UTF-8 is nested more deeply than MAX_DEPTH. Looks at the brackets outside strings."""
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return False
    depth = 0
    for bracket in _STRING.sub(b"", text).translate(None, _NO_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def loads(text: str | bytes, **options: Any) -> Any:
    """The value of a JSON text; `options` are those of `json.loads`. Raises `TooDeep`, `TooLong`, and another
    `ValueError` for what is not JSON."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    if is_too_deep(text.encode("utf-8", "surrogatepass")):
        raise TooDeep(f"JSON {TOO_DEEP}")
    try:
        return json.loads(text, **options)
    except ValueError as error:
        if type(error) is ValueError:  # of `int`; what is not JSON is a JSONDecodeError
            raise TooLong(f"JSON {TOO_LONG}") from error
        raise
