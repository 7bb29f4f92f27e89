"""The corners of splitting that the feature file leaves out."""

import grapheme
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.rendering import Markup, render
from adapters.outbound.rendering.cutting import measure
from domain.channels.model import TextLimit, Unit

WORDS = st.sampled_from(
    ["word", "Ende.", "\U0001f1e9\U0001f1ea", "e\u0301", "中文字。", "a-b", "x" * 45, "``", "*"]
)
GAPS = st.sampled_from([" ", "  ", "\n", "\n\n", "\r\n", "\n \n", "\t", "\n    ", "", "\u00a0"])
PROSE = st.lists(st.tuples(WORDS, GAPS).map("".join), max_size=60).map("".join)
LIMITS = st.builds(TextLimit, st.integers(20, 90), st.sampled_from(list(Unit)))


def split(text: str, limit: TextLimit | None) -> list[str]:
    return [message.text for message in render(Markup.PLAIN, text, limit)]


@given(PROSE, LIMITS)
def test_no_cluster_is_cut(text: str, limit: TextLimit) -> None:
    clusters = {each for each in grapheme.graphemes(text) if not each.isspace()}

    for part in split(text, limit):
        assert {each for each in grapheme.graphemes(part) if not each.isspace()} <= clusters | {"-"}


def test_a_number_of_a_list_is_not_the_end_of_a_sentence() -> None:
    assert split("1. one two three four five six", TextLimit(20)) == ["1. one two three", "four five six"]


def test_sentences_without_spaces_end_too() -> None:
    assert split("今天天气很好。我们去公园吧。", TextLimit(10)) == ["今天天气很好。", "我们去公园吧。"]


def test_no_break_spaces_hold() -> None:
    assert split("aaaa bbbb\u00a0cccc", TextLimit(10)) == ["aaaa", "bbbb\u00a0cccc"]


@pytest.mark.parametrize("text", ["", " \n\t\n "])
def test_white_space_alone_is_no_message(text: str) -> None:
    assert split(text, TextLimit(10)) == []
    assert split(text, None) == []


@pytest.mark.parametrize("unit", list(Unit))
def test_a_cluster_longer_than_a_message_is_cut_between_code_points(unit: Unit) -> None:
    family = "\U0001f468" + "\u200d\U0001f469" * 30
    parts = split(f"a{family}b", TextLimit(10, unit))

    assert "".join(parts) == f"a{family}b"
    assert all(measure(part, unit) <= 10 for part in parts)


def test_a_surrogate_pair_is_not_cut_even_in_a_cluster_too_long() -> None:
    parts = split("a" + "\ud83d\ude00\u0301" * 9, TextLimit(2))

    assert not any(part.endswith("\ud83d") or part.startswith("\ude00") for part in parts)


def test_a_limit_smaller_than_one_character_still_makes_progress() -> None:
    assert split("\U0001f600\U0001f600", TextLimit(1, Unit.BYTES)) == ["\U0001f600", "\U0001f600"]
