"""The bodies of adaptive cards: elements that show what a TextBlock's Markdown cannot."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.rendering import Markup, literal_body, render
from domain.channels.model import TextLimit, Unit
from tests.support import markups
from tests.unit.rendering.test_properties import FAMILY, SOUP, numbered, written

NBSP = "\u00a0"
ZERO = "\u200b"


def body(source: str) -> list[dict[str, Any]]:
    (message,) = render(Markup.CARD, source, None)
    elements: list[dict[str, Any]] = json.loads(message.text)
    return elements


def texts(source: str) -> list[str]:
    return [element["text"] for element in body(source)]


def block(text: str, **look: str) -> dict[str, Any]:
    return {"type": "TextBlock", "text": text, "wrap": True, **look}


def test_what_a_text_block_can_show_is_markdown() -> None:
    source = "**b** *i* [t](https://a.b/c_d)\n\n- one\n  - two\n\n1. three"
    assert texts(source) == ["**b** _i_ [t](https://a.b/c_d)\n\n- one\n  - two\n\n1. three"]


def test_code_is_a_fixed_width_block_for_each_line() -> None:
    assert body("Look:\n\n```python\ndef f(a_, *b):\n    return  a_\n\n\tx\n```\n\nDone.") == [
        block("Look:"),
        block(r"def f(a\_, \*b):", fontType="Monospace"),
        block(rf"{ZERO}{NBSP * 4}return{NBSP * 2}a\_", fontType="Monospace", spacing="None"),
        block(ZERO + NBSP, fontType="Monospace", spacing="None"),
        block(f"{ZERO}{NBSP * 4}x", fontType="Monospace", spacing="None"),
        block("Done."),
    ]


def test_code_in_a_list_stands_between_its_items() -> None:
    found = body("- a\n  ```\n  c\n  ```\n- b")
    assert [each["text"] for each in found] == ["- a", "c", "- b"]
    assert found[1]["fontType"] == "Monospace"


def test_a_table_is_aligned_in_fixed_width() -> None:
    found = body("| a | bb |\n|---|---:|\n| one | 2 |")
    assert [each["text"].replace(NBSP, " ") for each in found] == ["a     bb", "---  ---", "one    2"]
    assert all(each["fontType"] == "Monospace" for each in found)


def test_quotes_are_containers_and_headings_are_large() -> None:
    assert body("# One\n\n> two\n>\n> ```\n> c\n> ```\n> > three\n\n### four") == [
        block("One", size="Large", weight="Bolder"),
        {
            "type": "Container",
            "style": "emphasis",
            "items": [
                block("two"),
                block("c", fontType="Monospace"),
                {"type": "Container", "style": "emphasis", "items": [block("three")]},
            ],
        },
        block("four", size="Default", weight="Bolder"),
    ]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("~~old~~ and `a_b *c*`", r"old and a\_b \*c\*".replace(r"a\_b", "a_b")),
        ("a &amp; b &lt;c&gt; &copy;", "a & b <c> ©"),
        (r"\&amp; and \&#35;", "&\u200bamp; and &\u200b#35;"),
        ("line one\nline two", "line one\n\nline two"),
        (r"1\. x", r"1\. x"),
        (r"\- x \# y \> z", r"\- x # y > z"),
        ("![pic](https://a.b/p.png)", "[pic](https://a.b/p.png)"),
        ("see https://a.b/c_d_.", r"see [https://a.b/c\_d](https://a.b/c_d)\_.".replace(r"c\_d]", "c_d]")),
        ("{{DATE(2026-01-01T00:00:00Z)}}", "{\u200b{DATE(2026-01-01T00:00:00Z)}}"),
        ("---", "———"),
    ],
)
def test_the_rest_is_readable_text(source: str, text: str) -> None:
    assert texts(source) == [text]


def test_a_literal_text_has_no_markup() -> None:
    (element,) = json.loads(literal_body('a_*b*_[1] "<x>"'))
    assert markups.card(json.dumps([element])).strip() == 'a_*b*_[1] "<x>"'


LIMIT = TextLimit(1500, Unit.BYTES)


@given(document=written())
def test_every_word_is_there_in_order_and_no_body_is_too_long(document: tuple[str, int]) -> None:
    source, words = document
    parts = render(Markup.CARD, source, LIMIT)
    assert all(
        len(part.text.encode()) <= LIMIT.size and len(part.plain.encode()) <= LIMIT.size for part in parts
    )
    expected = list(range(1, words + 1))
    assert [number for part in parts for number in numbered(markups.card(part.text))] == expected
    assert [number for part in parts for number in numbered(part.plain)] == expected
    assert sum(part.text.count(FAMILY) for part in parts) == source.count(FAMILY)


@given(source=st.lists(SOUP, max_size=150).map("".join) | st.text(max_size=900))
def test_hostile_text_is_a_body_that_all_clients_show_alike(source: str) -> None:
    parts = render(Markup.CARD, source, LIMIT)
    assert bool(parts) == bool(source.strip())
    for part in parts:
        assert len(part.text.encode()) <= LIMIT.size
        markups.card(part.text)


def test_a_long_block_of_code_is_cut_between_lines_and_a_table_shows_its_header_again() -> None:
    code = "\n".join(f"print({at})" for at in range(200))
    rows = "\n".join(f"| name {at} | {at} |" for at in range(100))
    cut = render(Markup.CARD, f"```\n{code}\n```", LIMIT)
    assert [line for part in cut for line in markups.card(part.text).split()] == code.split("\n")
    for part in render(Markup.CARD, f"| Name | Sum |\n|---|---|\n{rows}", LIMIT):
        assert json.loads(part.text)[0]["text"].startswith("Name")
