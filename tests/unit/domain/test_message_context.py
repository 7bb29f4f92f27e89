"""The context of a message: bounded, and joined with that of others."""

import json
from typing import Any

import pytest

from domain.channels.context import LONGEST_TEXT, MAX_BYTES, MOST_ITEMS, bounded, merged


def nested(levels: int) -> Any:
    return {"inner": nested(levels - 1)} if levels else "deep"


@pytest.mark.parametrize(
    "value",
    [
        ["x" * 1000] * 1000,
        {f"key {n}": "\0" * 500 for n in range(500)},
        ["🦜" * 1900] * 50,
        [[]] * 100_000,
        [{"a": [{"b": [{"c": "x" * 50}] * 90}] * 90}] * 90,
        "x" * 1_000_000,
        {"k" * 1_000_000: 1},
        nested(60),
        list(range(10**5)),
        10**400,
        "\ud800" * 50,
    ],
    ids=lambda value: str(value)[:20],
)
def test_whatever_a_platform_sends_a_context_is_small_and_keeps_the_other_keys(value: object) -> None:
    context = bounded({"platform": value, "order": value, "language": "en"})
    stored = json.dumps(context, ensure_ascii=False, separators=(",", ":"))
    assert len(stored.encode("utf-8", "surrogatepass")) <= MAX_BYTES
    assert context["language"] == "en"


def test_long_texts_and_lists_are_cut() -> None:
    context = bounded({"subject": "x" * 3000, "to": ["a@b.example"] * 300})
    assert context == {"subject": f"{'x' * (LONGEST_TEXT - 1)}…", "to": ["a@b.example"] * MOST_ITEMS}


def test_what_is_empty_is_left_out_and_zero_is_not_empty() -> None:
    location = {"latitude": 0, "longitude": 0.0, "name": "", "live": False, "address": None}
    context = bounded({"location": location, "cc": [], "contact": {"phones": [{}, ""]}, "subject": ""})
    assert context == {"location": {"latitude": 0, "longitude": 0.0, "live": False}}


def test_numbers_that_javascript_rounds_become_texts() -> None:
    assert bounded({"platform": {"id": 2**53, "small": 7}}) == {
        "platform": {"id": "9007199254740992", "small": 7}
    }


def test_of_messages_that_are_handed_on_as_one_the_first_value_of_each_key_counts() -> None:
    contexts = [{"language": "", "subject": "a"}, {"language": "de", "subject": "b"}, {"payload": "p"}]
    assert merged(contexts) == {"language": "de", "subject": "a", "payload": "p"}
