"""What holds of every split, and the corners that the feature file leaves out."""

from __future__ import annotations

import re
import time

import grapheme
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.rendering.cutting import measure
from adapters.outbound.rendering.splitting import split
from domain.channels.model import TextLimit, Unit

WORDS = st.sampled_from(
    ["word", "Ende.", "\U0001f1e9\U0001f1ea", "e\u0301", "中文字。", "a-b", "x" * 45, "``", "*"]
)
GAPS = st.sampled_from([" ", "  ", "\n", "\n\n", "\r\n", "\n \n", "\t", "\n    ", "", "\u00a0"])
PROSE = st.lists(st.tuples(WORDS, GAPS).map("".join), max_size=60).map("".join)
LIMITS = st.builds(TextLimit, st.integers(20, 90), st.sampled_from(list(Unit)))
CODE_LINES = st.lists(
    st.sampled_from(["x = 1", "    if y:", "", "``", "# e\u0301", "y" * 70, "~~"]), max_size=15
)
FENCES = st.sampled_from([("```py", "```"), ("~~~", "~~~"), ("````md extra", "````"), ("   ```", "```  ")])


@st.composite
def documents(draw: st.DrawFn) -> str:
    blocks = []
    for _ in range(draw(st.integers(1, 4))):
        opening, closing = draw(FENCES)
        blocks.append("\n".join([opening, *draw(CODE_LINES), closing]))
        blocks.append(draw(PROSE).strip() or "text")
    return "\n\n".join(blocks)


def visible(text: str) -> str:
    return re.sub(r"\s+", "", text)


@given(PROSE | st.text(max_size=400), LIMITS)
def test_prose_is_within_the_limit_and_whole(text: str, limit: TextLimit) -> None:
    parts = split(re.sub("`{3}|~{3}", "", text), limit)

    assert all(measure(part, limit.unit) <= limit.size for part in parts)
    assert visible("".join(parts)) == visible(re.sub("`{3}|~{3}", "", text))
    assert all(part.strip() for part in parts)


@given(PROSE, LIMITS)
def test_no_cluster_is_cut(text: str, limit: TextLimit) -> None:
    clusters = {each for each in grapheme.graphemes(text) if not each.isspace()}

    for part in split(text, limit):
        assert {each for each in grapheme.graphemes(part) if not each.isspace()} <= clusters


@given(documents(), st.integers(70, 200))
def test_code_blocks_are_balanced_in_every_part(text: str, size: int) -> None:
    parts = split(text, TextLimit(size))

    assert all(len(part) <= size for part in parts)
    for part in parts:
        assert open_fence(part) is None


@given(documents(), st.integers(70, 200))
def test_no_line_of_code_and_no_word_is_lost(text: str, size: int) -> None:
    fence = re.compile(r"^ {0,3}(?:```|~~~|````)(?:py|md extra)?[ ]*$", re.MULTILINE)
    parts = split(text, TextLimit(size))

    assert visible("".join(fence.sub("", part) for part in parts)) == visible(fence.sub("", text))


def open_fence(part: str) -> str | None:
    """The fence that is open at the end of a part, by CommonMark's rules."""
    opened: str | None = None
    for line in part.split("\n"):
        found = re.match(r" {0,3}(`{3,}|~{3,})(.*)$", line)
        if not found:
            continue
        mark, info = found.groups()
        if opened is None:
            opened = None if mark[0] == "`" and "`" in info else mark
        elif mark.startswith(opened) and not info.strip():
            opened = None
    return opened


def test_code_is_cut_between_lines_and_keeps_its_indentation() -> None:
    code = "def f():\n" + "    call_it()\n" * 6
    parts = split(f"```py\n{code}```", TextLimit(60))

    assert parts[0] == "```py\ndef f():\n    call_it()\n    call_it()\n    call_it()\n```"
    assert parts[1].startswith("```py\n    call_it()\n")


def test_a_text_before_a_code_block_is_not_torn_from_its_paragraph() -> None:
    parts = split("One.\n\nTwo two two.\n\n```\ncode code\n```\nEnd.", TextLimit(40))

    assert parts == ["One.\n\nTwo two two.", "```\ncode code\n```\nEnd."]


def test_a_line_outside_of_code_is_a_better_end_than_a_line_of_code() -> None:
    parts = split("One two.\n```\n" + "code\n\n" * 12 + "```", TextLimit(70))

    assert parts[0] == "One two."
    assert parts[1].startswith("```\ncode\n\ncode")


def test_a_block_that_is_never_closed_is_closed_where_it_is_cut() -> None:
    parts = split("```py\n" + "a = 1\n" * 20, TextLimit(70))

    assert len(parts) > 1
    assert all(part.startswith("```py\n") and part.endswith("\n```") for part in parts)


def test_fences_too_long_to_repeat_are_text() -> None:
    text = "```" + "x" * 90 + "\n" + "code " * 30 + "\n```"
    parts = split(text, TextLimit(100))

    assert all(len(part) <= 100 for part in parts)
    assert visible("".join(parts)) == visible(text)


def test_a_block_in_a_list_is_reopened_with_its_indentation() -> None:
    parts = split("- ```py\n" + "  line = 1\n" * 10 + "  ```", TextLimit(80))

    assert parts[0].startswith("- ```py\n  line = 1")
    assert parts[0].endswith("\n  ```")
    assert parts[1].startswith("  ```py\n  line = 1")


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


HOSTILE = {
    "words": "word " * 20_000,
    "one word": "x" * 100_000,
    "combining marks": "\u0301" * 100_000,
    "backticks": "`" * 100_000,
    "fences": "```\n" * 25_000,
    "flags": "\U0001f1e6" * 100_000,
    "joiners": "\U0001f468\u200d" * 50_000,
    "viramas": "\u0915\u094d" * 50_000,
    "spaces": "a" + " " * 100_000 + "b",
    "lines": "a\n" * 50_000,
    "quotes": ">" * 100_000,
    "list markers": "- " * 50_000,
    "code": "```\n" + "    x = 1\n\n" * 10_000 + "```",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_grows_with_length_alone(text: str) -> None:
    limit = TextLimit(2000, Unit.UTF16)
    split(text[: len(text) // 10], limit)
    began = time.process_time()
    split(text, limit)

    assert time.process_time() - began < 5  # 0.1 to 0.4 s where this was written; quadratic would be minutes
