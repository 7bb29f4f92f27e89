"""Markdown as a tree of elements: every tag and attribute is one that is meant."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.rendering import markdown_nodes

TAGS = {
    *("p", "br", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a", "hr"),
    *("table", "tr", "th", "td"),
    *(f"h{level}" for level in range(1, 7)),
}
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, "pre": {"language"}, "th": {"align"}, "td": {"align"}}


@pytest.mark.parametrize(
    ("markdown", "nodes"),
    [
        ("", []),
        ("a **b *c*** `d`", [["p", {}, "a ", ["strong", {}, "b ", ["em", {}, "c"]], " ", ["code", {}, "d"]]]),
        ("one\ntwo", [["p", {}, "one", ["br", {}], "two"]]),
        ("## Title", [["h2", {}, "Title"]]),
        ("- a\n- b", [["ul", {}, ["li", {}, "a"], ["li", {}, "b"]]]),
        ("3. a", [["ol", {"start": 3}, ["li", {}, "a"]]]),
        ("> a", [["blockquote", {}, ["p", {}, "a"]]]),
        ("```py\n<b>\n```", [["pre", {"language": "py"}, "<b>\n"]]),
        ("[x](https://e.example)", [["p", {}, ["a", {"href": "https://e.example"}, "x"]]]),
        ("![x](https://e.example/p.png)", [["p", {}, ["a", {"href": "https://e.example/p.png"}, "x"]]]),
        (
            "[![x](https://a.example)](https://b.example)",
            [["p", {}, ["a", {"href": "https://b.example"}, "x"]]],
        ),
        ("---", [["hr", {}]]),
    ],
)
def test_each_element(markdown: str, nodes: object) -> None:
    assert markdown_nodes(markdown) == nodes


def test_a_table_has_its_alignment() -> None:
    (table,) = markdown_nodes("| a | b |\n|---|--:|\n| 1 | 2 |")
    assert table == [
        "table",
        {},
        ["tr", {}, ["th", {}, "a"], ["th", {"align": "right"}, "b"]],
        ["tr", {}, ["td", {}, "1"], ["td", {"align": "right"}, "2"]],
    ]


@pytest.mark.parametrize(
    "markdown",
    [
        "[x](javascript:alert(1))",
        "[x](data:text/html,x)",
        "![x](javascript:alert(1))",
        '<a href="javascript:alert(1)">x</a>',
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(1)">',
        '<a href="https://e.example" onclick="alert(1)">x</a>',
        "<https://e.example> <javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
    ],
)
def test_markup_makes_nothing_but_what_is_meant(markdown: str) -> None:
    check(markdown)


@given(st.text(alphabet="[]()<>!*_`~#-|>\n \t1.ahjs:/\\\"='&;", max_size=80))
def test_no_text_makes_another_element(markdown: str) -> None:
    check(markdown)


def check(markdown: str) -> None:
    for tag, attributes, _ in elements(markdown_nodes(markdown)):
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES.get(tag, set())
        address = str(attributes.get("href", "https://"))
        assert address.lower().startswith(("https://", "http://", "mailto:", "tel:"))


def elements(nodes: object) -> Iterator[tuple[str, dict[str, object], list[object]]]:
    assert isinstance(nodes, list)
    for node in nodes:
        if isinstance(node, list):
            tag, attributes, *inner = node
            yield tag, attributes, inner
            yield from elements(inner)
        else:
            assert isinstance(node, str)
