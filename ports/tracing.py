"""Spans of a trace."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Span(Protocol):
    """Opens a span by its name; keyword arguments are its attributes."""

    def __call__(
        self, name: str, /, traceparent: str = "", **attributes: object
    ) -> AbstractContextManager[object]:
        """`traceparent` names the span that this one belongs to; empty: the present one."""
        ...


def no_span(name: str, /, traceparent: str = "", **attributes: object) -> AbstractContextManager[object]:
    return nullcontext()
