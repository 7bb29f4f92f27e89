"""Codes in groups and in one piece, and words with their numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge.codes import (
    codes,
    identifiers,
    joined,
    names_of_programs,
    numbered,
    readings,
    stands_in,
)
from domain.knowledge.index_words import VERSION, index_words
from domain.knowledge.words import normalise, words


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


def test_names_of_programs_are_codes_as_well() -> None:
    text = "call asn1_der_decoding(x), __init__ or readLine for miRNA"
    assert names_of_programs(text) == [("asn1", "der", "decoding"), ("readline",)]
    assert index_words(text) >= {"asn1derdecoding", "readline", "decoding"}


def test_identifiers_are_indexed_in_one_piece_too() -> None:
    assert index_words("Error ERR-4711") == {"error", "err", "4711", "err4711"}
    assert joined(("err", "4711")) == "err4711"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IBAN DE89 3704 0044 0532 0130 00 of the club", "DE89370400440532013000"),
        ("pay to GB29 NWBK 6016 1331 9268 19.", "gb29nwbk60161331926819"),
        ("Phone +49 (0)30 901820-12", "+49 30 90182012"),
        ("card 4111 1111 1111 1111 12/27", "4111111111111111"),
        ("card 4111-1111-1111-1111", "4111 1111 1111 1111"),
        ("Part AB 1001", "ab1001"),
        ("the invoice INV 2024 00317 is paid", "INV-2024-00317"),
        ("the invoice INV-2024-00317 is paid", "inv 2024 00317"),
        ("order 2024.12.00077", "2024-12-00077"),
        ("Größe 10\u202f000\u202f000", "10000000"),
    ],
)
def test_a_code_is_found_whichever_groups_either_side_writes(one: str, other: str) -> None:
    for text, query in ((one, other), (other, one)):
        asked = {joined(phrase) for phrase in [*codes(query), *readings(query)]} | set(words(query))
        longest = max(asked & index_words(text), key=len)
        assert len(longest) >= 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pump 12 and pump no. 7", [("pump", "12"), ("pump", "7")]),
        ("Raum Nr. 5, room #3", [("raum", "5"), ("room", "3")]),
        ("pump 7 holds 12 litres", [("pump", "7"), ("holds", "12")]),
        ("since 2019 about 12.5 or 12,5 v12 pump-12", []),
        ("the end\n12 litres", []),
    ],
)
def test_short_numbers_bind_to_the_word_in_front_of_them(text: str, expected: list[tuple[str, str]]) -> None:
    assert list(numbered(normalise(text))) == expected


def test_figures_of_a_table_do_not_become_one_code() -> None:
    row = " ".join(str(1000 + number) for number in range(12))
    assert all(len(word) <= 16 for word in index_words(row))


@given(st.text(alphabet="aB1_ -./()0\u00b2\u0664", max_size=300))
def test_any_text_has_codes_that_are_words(text: str) -> None:
    for phrase in [*codes(text), *readings(text)]:
        assert phrase or not words(text)
        assert not any(char.isspace() for char in joined(phrase))
    for version in range(1, VERSION + 1):
        assert all(0 < len(word) <= 40 for word in index_words(text, version))


@pytest.mark.parametrize(
    ("standing", "there"),
    [
        ("iban de89 3704 0044 05 now", True),
        ("de 89370400440 5", True),
        ("xde89 3704 0044 05", False),
        ("de89 3704 0044 051", False),
        ("", False),
    ],
)
def test_where_a_code_stands(standing: str, there: bool) -> None:
    assert stands_in(("de89", "3704", "0044", "05"), standing.split()) is there
