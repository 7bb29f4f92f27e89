"""Words, identifiers and scripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge.words import (
    MAX_WORD,
    identifiers,
    index_words,
    joined,
    mostly_outside_latin,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Error ERR-4711_b!", ["error", "err", "4711", "b"]),
        ("Müller, café, Straße, ﬁne", ["muller", "cafe", "strasse", "fine"]),
        ("Mu\u0308ller \uff2d\uff35", ["muller", "mu"]),
        ("日本語の本", ["日本", "本語", "語の", "の本"]),
        ("型番ABC12です", ["型番", "abc12", "です"]),
        ("한국어 문서를", ["한국", "국어", "문서", "서를"]),
        ("العَرَبِيَّة", ["العربية"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("", []),
        ("... --- !!!", []),
    ],
)
def test_words_of_every_script(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_long_word_is_cut() -> None:
    assert words("a" * 100_000) == ["a" * MAX_WORD]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see INV-2024-00317.", [("inv", "2024", "00317")]),
        ("(ERR#4711), PO/88", [("err", "4711"), ("po", "88")]),
        ("E3413 of 2019", [("e3413",)]),
        ("call 12345 or 1234", [("12345",)]),
        ("查找ERR-4711的信息", [("err", "4711")]),
        ("p53 or a-b", []),
    ],
)
def test_identifiers(text: str, expected: list[tuple[str, ...]]) -> None:
    assert identifiers(text) == expected


def test_identifiers_are_indexed_in_one_piece_too() -> None:
    assert index_words("Error ERR-4711") == {"error", "err", "4711", "err4711"}
    assert joined(("err", "4711")) == "err4711"


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("What is a kubelet?", False),
        ("Müller größer", False),
        ("Что такое поезд", True),
        ("ما هي عاصمة فرنسا", True),
        ("首都 is what", False),
        ("4711", False),
        ("", False),
    ],
)
def test_mostly_outside_latin(text: str, foreign: bool) -> None:
    assert mostly_outside_latin(text) is foreign


@given(st.text(max_size=300))
def test_words_hold_no_blank_and_survive_being_read_again(text: str) -> None:
    for word in words(text):
        assert word
        assert not any(char.isspace() for char in word)
        assert len(word) <= MAX_WORD
