"""What platforms send is read without trusting its shape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.channels.common.bodies import (
    at,
    clean,
    fields_of,
    form,
    items,
    json_object,
    json_value,
    same,
    text,
)
from domain.channels.messages import RawCall
from domain.refusals import Invalid


def test_reads_an_object() -> None:
    assert json_object(b'{"a": {"b": [1, "x"]}}') == {"a": {"b": [1, "x"]}}


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"a": NaN}', b"[" * 100_000]
)
def test_refuses_what_is_no_object(body: bytes) -> None:
    with pytest.raises(Invalid):
        json_object(body)


@pytest.mark.parametrize("body", [b'{"a": %s}' % (b"9" * 5000), b'{"a": [{"b": -%s}]}' % (b"9" * 5000)])
def test_a_number_that_is_too_long_is_named_as_the_cause(body: bytes) -> None:
    with pytest.raises(Invalid, match="The body must not hold a whole number of more than 4300 digits"):
        json_object(body)


def test_a_word_that_json_does_not_have_is_not_taken_for_a_long_number() -> None:
    with pytest.raises(Invalid, match="not valid JSON"):
        json_object(b'{"a": NaN, "b": 123456789012345678901234567890}')


@pytest.mark.parametrize("number", [2**64, 12345678901234567890123, -(2**70), 10**19, 2**63 - 1, 10**25 + 7])
def test_ids_of_any_length_are_read_exactly(number: int) -> None:
    assert json_object(b'{"id": %d, "text": "x"}' % number)["id"] == number


def test_half_a_surrogate_pair_becomes_storable() -> None:
    assert json_object(b'{"text": "cut \\ud83d"}') == {"text": "cut ?"}


def test_nul_characters_are_dropped() -> None:
    assert json_object(b'{"te\\u0000xt": ["a\\u0000b"]}') == {"text": ["ab"]}


def test_a_form_keeps_blank_values_and_takes_broken_bytes() -> None:
    assert form(b"a=&b=%ff%00&c=1&c=2") == {"a": "", "b": "\N{REPLACEMENT CHARACTER}", "c": "2"}


def test_a_query_is_as_clean_as_a_form() -> None:
    call = RawCall("r", "GET", "webhook", "https://x.example/?a=%ff%00&b=1&%00c=2", {}, b"")
    assert fields_of(call) == {"a": "\N{REPLACEMENT CHARACTER}", "b": "1", "c": "2"}


def test_a_form_with_too_many_fields_is_refused() -> None:
    with pytest.raises(Invalid):
        form(b"&".join(b"a%d=1" % number for number in range(2000)))


@pytest.mark.parametrize(
    ("value", "expected"),
    [("x", "x"), (12, "12"), (True, ""), (None, ""), ([], ""), ({}, "")],
)
def test_text_is_a_string_or_nothing(value: object, expected: str) -> None:
    assert text({"a": {"b": value}}, "a", "b") == expected


def test_paths_break_off_softly() -> None:
    assert at({"a": [1]}, "a", "b") is None
    assert items({"a": "x"}, "a") == []
    assert items({"a": [1]}, "a") == [1]
    assert text(None, "a") == ""


def test_secrets_are_compared_whole() -> None:
    assert same("s\N{LATIN SMALL LETTER E WITH ACUTE}", "s\N{LATIN SMALL LETTER E WITH ACUTE}")
    assert not same("", "")
    assert not same("a", "b")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    form(body)
    try:
        json_value(body)
    except Invalid:
        return


@given(st.text(max_size=50))
def test_clean_text_can_be_stored(value: str) -> None:
    assert "\0" not in clean(value)
    clean(value).encode()
