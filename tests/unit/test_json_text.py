"""What crosses as JSON text can be written out again."""

import pytest

from adapters.outbound.channels.common.bodies import json_value
from adapters.rpc.messages import json_object
from domain.json_text import MOST_VALUES, TooMany, loads
from domain.refusals import Invalid
from ports.http import HttpAnswer


def test_numbers_and_the_order_of_keys_stay() -> None:
    assert list(json_object('{"b": 1.0, "a": 123456789012345678901234567890}', "config_json").items()) == [
        ("b", 1.0),
        ("a", 123456789012345678901234567890),
    ]


def test_a_text_that_is_nested_too_deeply_is_refused_in_words() -> None:
    assert json_object('{"a": ' + "[" * 63 + "]" * 63 + "}", "config_json")
    with pytest.raises(Invalid, match="config_json: must not be nested more than 64 levels deep"):
        json_object('{"a": ' + "[" * 64 + "]" * 64 + "}", "config_json")


def test_a_number_that_is_too_long_is_named_as_the_cause() -> None:
    assert json_object('{"a": -' + "9" * 4300 + "}", "config_json")
    with pytest.raises(Invalid, match="config_json: must not hold a whole number of more than 4300 digits"):
        json_object('{"a": [-' + "9" * 4301 + "]}", "config_json")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '"x"',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": "\\ud800"}',
        '{"\\ud800": 1}',
        "[" * 100_000,
    ],
)
def test_anything_else_is_refused_by_the_name_of_its_field(text: str) -> None:
    with pytest.raises(Invalid, match="config_json"):
        json_object(text, "config_json")


def test_a_text_of_too_many_values_is_not_read_by_anybody() -> None:
    body = b"[" + b"[]," * MOST_VALUES + b"1]"

    with pytest.raises(TooMany):
        loads(body)
    with pytest.raises(Invalid, match=f"must not hold more than {MOST_VALUES} values"):
        json_value(body)
    assert HttpAnswer(200, {}, body).json() is None


def test_commas_and_brackets_of_a_string_are_no_values() -> None:
    text = ",[{" * MOST_VALUES

    assert loads(f'["{text}"]') == [text]
