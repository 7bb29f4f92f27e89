"""Server-sent events, however they are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.resources.answers import Lines, ServerEvents
from adapters.outbound.resources.messages import BadAnswer

STREAM = b": hello\nevent: message\nid: 7\ndata: one\n\ndata:two\r\ndata: three\r\n\r\n\n\ndata: half"


def read(pieces: list[bytes], limit: int = 1000) -> list[bytes]:
    events = ServerEvents(limit)
    return [data for piece in pieces for data in events.feed(piece)]


def test_the_data_of_whole_events_is_read() -> None:
    assert read([STREAM]) == [b"one", b"two\nthree"]


@given(st.lists(st.integers(0, len(STREAM)), max_size=8).map(sorted))
def test_cuts_change_nothing(cuts: list[int]) -> None:
    edges = [0, *cuts, len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(edges)]
    assert read(pieces) == [b"one", b"two\nthree"]


def test_a_line_without_end_is_refused() -> None:
    lines = Lines(10)
    assert list(lines.feed(b"0123456789")) == []
    with pytest.raises(BadAnswer, match="line of the stream is too long"):
        list(lines.feed(b"x"))


def test_an_event_of_many_lines_is_refused() -> None:
    with pytest.raises(BadAnswer, match="event of the stream is too long"):
        read([b"data: 12345\n"] * 3, limit=15)


def test_comments_cost_nothing_that_stays() -> None:
    assert read([b": " + b"x" * 90 + b"\n"] * 100, limit=100) == []
