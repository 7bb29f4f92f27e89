"""Sets of ids as short text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.channels.erp_events.watching import packed, unpacked


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([], ""),
        ([5], "5"),
        ([3, 1, 2], "1-3"),
        ([1, 2, 4, 6, 7], "1-2,4,6-7"),
        (range(1, 100_001), "1-100000"),
    ],
)
def test_runs_are_short(ids: list[int], text: str) -> None:
    assert packed(ids) == text


@given(st.sets(st.integers(1, 200)))
def test_nothing_is_lost(ids: set[int]) -> None:
    assert unpacked(packed(ids)) == ids
