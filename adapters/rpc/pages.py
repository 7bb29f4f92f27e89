"""Lists that cross in as many messages as they need: gRPC clients take messages of 4 MB by default."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from google.protobuf.message import Message

from domain.refusals import Fault, Invalid

M = TypeVar("M", bound=Message)

PAGE_BYTES = 3 * 1024 * 1024
"""Of the entries of one answer together; a single entry may be larger, up to about the same."""
PIECE = 500_000
"""Characters of a long text in one message: at most 2 MB in UTF-8."""


def fitting(messages: Iterable[M]) -> list[M]:
    """The first messages, as many as fit one answer together; at least one."""
    first: list[M] = []
    size = 0
    for message in messages:
        size += message.ByteSize()
        if first and size > PAGE_BYTES:
            break
        first.append(message)
    return first


def page(messages: Sequence[M], token: str) -> tuple[list[M], str]:
    """The page of a list that `token` names, and the token of the next one, empty after the last."""
    start = position(token)
    entries = fitting(messages[start:])
    end = start + len(entries)
    return entries, str(end) if entries and end < len(messages) else ""


def position(token: str) -> int:
    """The number that a page token stands for; 0 for the first page. Raises `Invalid`."""
    if not token:
        return 0
    if not (token.isascii() and token.isdigit() and len(token) < 19):
        raise Invalid.of([Fault("page_token", "must be the next_page_token of the answer before")])
    return int(token)


def pieces(text: str) -> Iterator[str]:
    """A text in pieces that fit a message each; one empty piece for an empty text."""
    for start in range(0, len(text) or 1, PIECE):
        yield text[start : start + PIECE]
