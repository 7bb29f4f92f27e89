"""Where words of a query stand in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge.highlights import highlights
from domain.knowledge.words import words


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("Die Bücher, cafe\u0301s", {"bucher", "cafes"}, ["Bücher", "cafe\u0301s"]),
        ("图书馆在哪里", {"书馆", "馆在"}, ["书馆在"]),
        ("ERR-4711 and ERR", {"err", "4711"}, ["ERR", "4711", "ERR"]),
        ("مُكتَبة كبيرة", {"مكتبه"}, ["مُكتَبة"]),
        ("ABC图书abc", {"图书"}, ["图书"]),
        ("nothing here", {"pump"}, []),
        ("", {"pump"}, []),
    ],
)
def test_what_is_highlighted(text: str, wanted: set[str], expected: list[str]) -> None:
    assert [text[start:end] for start, end in highlights(text, frozenset(wanted))] == expected


@given(st.text(max_size=80))
def test_highlights_lie_in_the_text_in_order_and_apart(text: str) -> None:
    found = highlights(text, frozenset(words(text)))
    edges = [edge for stretch in found for edge in stretch]
    assert edges == sorted(set(edges))
    assert all(0 <= edge <= len(text) for edge in edges)
