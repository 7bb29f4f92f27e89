"""JSON text from outside: how deeply it may be nested, and how it is read."""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 64
"""Levels of arrays and objects within each other. Parsers and serializers give up at 255 to 1,024 levels, with errors
of their own, and what is stored wraps values in a few more levels."""

TOO_DEEP = f"must not be nested more than {MAX_DEPTH} levels deep"

MAX_DIGITS = sys.get_int_max_str_digits()
"""Digits of a whole number: Python reads and writes no longer ones."""

TOO_LONG = f"must not hold a whole number of more than {MAX_DIGITS} digits"

MOST_VALUES = 2**18
"""In one text, as far as commas and brackets outside strings tell: small values take many times the time and memory
of their text."""

TOO_MANY = f"must not hold more than {MOST_VALUES} values"

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""A string, or what begins as one and has no end: a pattern that fails there is tried at each quotation mark."""
_PART = re.compile(rb'[^"]*+(?:' + _STRING.pattern + rb'[^"]*+){0,10000}+', re.DOTALL)
"""The next strings and what stands around them: a pattern holds all threads up until it has come to its end."""
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class TooDeep(ValueError):
    """A JSON text is nested more deeply than MAX_DEPTH."""


class TooLong(ValueError):
    """A JSON text holds a whole number of more than MAX_DIGITS."""


class TooMany(ValueError):
    """A JSON text holds more than MOST_VALUES."""


def has_too_many(text: bytes, most: int = MOST_VALUES) -> bool:
    """Return True if a JSON text in UTF-8 holds more values than `most`."""
    if len(text) <= most or _values_at_most(text) <= most:
        return False
    values = strings = 0
    for part, count in _outside_strings(text):
        values, strings = values + _values_at_most(part), strings + count
        if max(values, strings // 2) > most:  # a string is a value, or the name of one
            return True
    return False


def _values_at_most(text: bytes) -> int:
    return sum(map(text.count, (b",", b"[", b"{")))


def _outside_strings(text: bytes) -> Iterator[tuple[bytes, int]]:
    """The text without its strings, part by part, and how many strings each part has."""
    at = 0
    while at < len(text) and (part := _PART.match(text, at)):
        yield _STRING.subn(b"", part[0])
        at = part.end()


def is_too_deep(text: bytes) -> bool:
    """Return True if a JSON text in UTF-8 is nested more deeply than MAX_DEPTH. Counts the brackets outside
    strings."""
    if text.count(b"[") + text.count(b"{") <= MAX_DEPTH:
        return False
    depth = 0
    for part, _ in _outside_strings(text):
        for bracket in part.translate(None, _NO_BRACKETS):
            depth += 1 if bracket in b"[{" else -1
            if depth > MAX_DEPTH:
                return True
    return False


def loads(text: str | bytes, **options: Any) -> Any:
    """The value of a JSON text; `options` are those of `json.loads`. Raises `TooMany`, `TooDeep`, `TooLong`,
    and another `ValueError` for what is not JSON."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    encoded = text.encode("utf-8", "surrogatepass")
    if has_too_many(encoded):
        raise TooMany(f"JSON {TOO_MANY}")
    if is_too_deep(encoded):
        raise TooDeep(f"JSON {TOO_DEEP}")
    try:
        return json.loads(text, **options)
    except ValueError as error:
        if type(error) is ValueError:  # of `int`; what is not JSON is a JSONDecodeError
            raise TooLong(f"JSON {TOO_LONG}") from error
        raise
