"""The W3C Trace Context (https://www.w3.org/TR/trace-context/) of what a task works on.

It goes on as the header `traceparent`, with the rows of messages and into log lines, also where nothing is exported.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

HEADER = "traceparent"
_VALID = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_current: ContextVar[str] = ContextVar("traceparent", default="")


def current() -> str:
    """The traceparent of the present work; empty if it belongs to no trace."""
    return _current.get()


def trace_id() -> str:
    """The trace id in 32 hexadecimal digits, or "" outside a trace."""
    return current()[3:35]


def begin(traceparent: str) -> None:
    """Makes a traceparent the present one until the task ends, or none if it is not valid."""
    _current.set(traceparent if _VALID.fullmatch(traceparent) else "")


def headers() -> dict[str, str]:
    """The header by which a called service goes on with the trace."""
    traceparent = current()
    return {HEADER: traceparent} if traceparent else {}


@contextmanager
def continued(_name: str, /, traceparent: str = "", **_attributes: object) -> Iterator[None]:
    """Continues the trace of a caller: makes its traceparent the present one, and records nothing. One that is not
    valid is ignored, because it comes from outside."""
    if not _VALID.fullmatch(traceparent):
        yield
        return
    token = _current.set(traceparent)
    try:
        yield
    finally:
        _current.reset(token)
