"""Limits and cursors of lists. Pure."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from domain import limits
from domain.json_text import loads
from domain.refusals import Fault, Invalid

DEFAULT_LIMIT = 50
LARGEST_LIMIT = 200
LARGEST = 2**63

T = TypeVar("T")
C = TypeVar("C", int, str)


@dataclass(frozen=True, slots=True)
class Page(Generic[T, C]):
    """Part of a list. `next`: cursor of the page that follows, None on the last one.

    A page of a search may hold fewer items than asked for, even none, while others follow."""

    items: Sequence[T]
    next: C | None


@dataclass(frozen=True, slots=True)
class Window:
    """Part of a list of `total` items: `limit` of them from `offset` on."""

    limit: int
    offset: int
    total: int

    @property
    def current(self) -> int:
        """1-based number of the page."""
        return self.offset // self.limit + 1

    @property
    def pages(self) -> int:
        return -(-self.total // self.limit)


@dataclass(frozen=True, slots=True)
class Slice(Generic[T]):
    """The items of a window."""

    items: Sequence[T]
    window: Window


def checked_limit(limit: int) -> int:
    """Raises `Invalid`."""
    if not 1 <= limit <= LARGEST_LIMIT:
        raise Invalid.of([Fault("limit", f"must be a whole number from 1 to {LARGEST_LIMIT}")])
    return limit


def cursor_of(*position: int | str) -> str:
    """A position in a list as text for the caller."""
    return urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def read_cursor(cursor: str | None, *kinds: type[int] | type[str]) -> tuple[int | str, ...] | None:
    """The position that a cursor stands for, None for the beginning. Raises `Invalid`."""
    if not cursor:
        return None
    try:
        if len(cursor) > limits.CURSOR:
            raise ValueError
        position = loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        raise unknown_cursor() from None
    if not isinstance(position, list) or [type(value) for value in position] != [*kinds]:
        raise unknown_cursor()
    if any(isinstance(value, int) and not -LARGEST < value < LARGEST for value in position):
        raise unknown_cursor()
    return tuple(position)


def unknown_cursor() -> Invalid:
    return Invalid.of([Fault("cursor", "must be the value of next in the answer before")])
