"""Where words of a query stand in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge.index_words import highlights, index_words
from domain.knowledge.ranking import telling_words
from domain.knowledge.text_match import Query, Statistics, TextMatch
from domain.knowledge.words import normalise, words


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("Die Bücher, cafe\u0301s", {"bucher", "cafes"}, ["Bücher", "cafe\u0301s"]),
        ("图书馆在哪里", {"书馆", "馆在"}, ["书馆在"]),
        ("ERR-4711 and ERR", {"err", "4711"}, ["ERR", "4711", "ERR"]),
        ("مُكتَبة كبيرة", {"مكتبه"}, ["مُكتَبة"]),
        ("ABC图书abc", {"图书"}, ["图书"]),
        ("To DE89 3704 0044 0532 0130 00.", {"de89370400440532013000"}, ["DE89 3704 0044 0532 0130 00"]),
        ("To DE89370400440532013000.", {"de89370400440532013000"}, ["DE89370400440532013000"]),
        ("Call (089) 12 34-56, not 089, 123456", {"089123456"}, ["089) 12 34-56"]),
        ("ERR-4711 and ERR 47", {"err4711"}, ["ERR-4711"]),
        ("cooling pump", {"coolingpump"}, []),
        ("1.2 or 20.24", {"12", "2024"}, []),
        ("nothing here", {"pump"}, []),
        ("", {"pump"}, []),
    ],
)
def test_what_is_highlighted(text: str, wanted: set[str], expected: list[str]) -> None:
    assert [text[start:end] for start, end in highlights(text, frozenset(wanted))] == expected


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("DE89370400440532013000", "Pay to DE89 3704 0044 0532 0130 00 in time."),
        ("DE89 3704 0044 0532 0130 00", "Pay to DE89370400440532013000 in time."),
        ("DE89 37040044 05320130 00", "Pay to DE89 3704 0044 0532 0130 00 in time."),
    ],
)
def test_a_code_is_highlighted_however_its_groups_are_written(asked: str, text: str) -> None:
    statistics = Statistics(1, dict.fromkeys(index_words(text), 1))
    [(start, end)] = highlights(text, telling_words(TextMatch(Query.of(asked), statistics), statistics))
    assert normalise(text[start:end]).replace(" ", "") == "de89370400440532013000"


@given(st.text(max_size=80))
def test_highlights_lie_in_the_text_in_order_and_apart(text: str) -> None:
    found = highlights(text, frozenset(words(text)))
    edges = [edge for stretch in found for edge in stretch]
    assert edges == sorted(set(edges))
    assert all(0 <= edge <= len(text) for edge in edges)
