"""Reads bodies that platforms send. Values of a wrong type read as absent."""

import hmac
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson

from domain.channels.messages import RawCall
from domain.json_text import TOO_DEEP, TOO_LONG, TOO_MANY, TooLong, has_too_many, is_too_deep, loads
from domain.refusals import Invalid

MAX_FORM_FIELDS = 1000

_CAMEL = re.compile(r"(?<=[^_])_+([a-z0-9])")
_NUMBER = (int, float)
_AS_NULLS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER = b"0" * 20


def json_object(body: bytes) -> dict[str, Any]:
    """The body as a JSON object, its strings cleaned (see `clean`). Raises `Invalid`."""
    value = json_value(body)
    if not isinstance(value, dict):
        raise Invalid("The body must be a JSON object.")
    return value


def json_value(body: bytes) -> Any:
    """The body as JSON, its strings cleaned (see `clean`). Raises `Invalid`."""
    if has_too_many(body):
        raise Invalid(f"The body {TOO_MANY}.")
    if is_too_deep(body):
        raise Invalid(f"The body {TOO_DEEP}.")
    try:
        value = _exact(body) if _LONG_NUMBER in body.translate(_AS_NULLS) else orjson.loads(body)
    except orjson.JSONDecodeError:
        value = _exact(body)
    return (
        _cleaned(value) if b"\\" in body and b"\\u0000" in body else value
    )  # the test for one byte is faster


def frame_object(frame: str | bytes) -> Mapping[str, Any]:
    """A message of a WebSocket as a JSON object, empty for any other message."""
    try:
        body = json_value(frame.encode() if isinstance(frame, str) else frame)
    except Invalid:
        return {}
    return body if isinstance(body, dict) else {}


def _exact(body: bytes) -> Any:
    """Parses half surrogate pairs, which orjson refuses and platforms send, and integers of over 64 bits, which
    orjson rounds so that two ids could become one."""
    try:
        return _cleaned(loads(body, parse_constant=_refused))
    except TooLong:
        raise Invalid(f"The body {TOO_LONG}.") from None
    except ValueError:
        raise Invalid("The body is not valid JSON.") from None


def _refused(name: str) -> Any:
    raise json.JSONDecodeError("is not JSON", name, 0)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(name): _cleaned(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return value


def clean(text: str) -> str:
    """The text as it can be stored and sent: no NUL, no lone surrogate."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def form(body: bytes) -> dict[str, str]:
    """The fields of a form-urlencoded body; the last one wins if a name repeats. Raises `Invalid`."""
    try:
        pairs = parse_qsl(
            body.decode("utf-8", "replace"),
            keep_blank_values=True,
            errors="replace",
            max_num_fields=MAX_FORM_FIELDS,
        )
    except ValueError:
        raise Invalid("The body is not a valid form.") from None
    return {clean(name): clean(value) for name, value in pairs}


def fields_of(call: RawCall) -> Mapping[str, Any]:
    """The fields of a call that may come as a query, as a form or as a JSON object, cleaned. Raises `Invalid`."""
    if call.method == "GET":
        return {clean(name): clean(value) for name, value in call.query.items()}
    content_type = call.headers.get("content-type", "").lower()
    is_json = "json" in content_type or ("form" not in content_type and call.body.lstrip()[:1] == b"{")
    return json_object(call.body) if is_json else form(call.body)


def text(source: object, *path: str) -> str:
    """The string or number at the end of the path as a string, "" if it is absent."""
    for name in path:
        if not isinstance(source, dict):
            return ""
        source = source.get(name)
    if isinstance(source, str):
        return source
    if isinstance(source, _NUMBER) and not isinstance(source, bool):
        return str(source)
    return ""


def first_text(source: object, *names: str) -> str:
    """The first of these strings and numbers that is there and not empty, as a string; "" without one."""
    return next(filter(None, (text(source, name) for name in names)), "")


def at(source: object, *path: str) -> Any:
    """The value at the end of the path of keys, None if it is absent."""
    for name in path:
        if not isinstance(source, dict):
            return None
        source = source.get(name)
    return source


def items(source: object, *path: str) -> list[Any]:
    """The list at the end of the path, empty if it is absent."""
    value = at(source, *path)
    return value if isinstance(value, list) else []


def camel_case(value: object) -> Any:
    """The value with the keys of its objects as this service writes them: `sourceId` for `source_id`."""
    if isinstance(value, dict):
        return {
            _CAMEL.sub(lambda gap: gap[1].upper(), name): camel_case(item) for name, item in value.items()
        }
    return [camel_case(item) for item in value] if isinstance(value, list) else value


def size(source: object, *path: str) -> int | None:
    """The number of bytes at the end of the path, None if it is absent."""
    value = integer(source, *path)
    return value if value is not None and value >= 0 else None


def integer(source: object, *path: str) -> int | None:
    """The integer at the end of the path, None if it is absent."""
    value = at(source, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def same(secret: str, expected: str) -> bool:
    """Return True if two secrets are equal, in constant time. An empty secret equals nothing."""
    if not expected:
        return False
    return hmac.compare_digest(secret.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))
