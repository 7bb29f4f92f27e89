"""Ranges and names of downloads."""

import pytest

from adapters.inbound.rest.ranges import Span, Unsatisfiable, asked_range, attachment, is_known


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("bytes=0-0", Span(0, 1)),
        ("bytes=2-8", Span(2, 7)),
        ("bytes=90-1000", Span(90, 10)),
        ("bytes=5-", Span(5, 95)),
        ("bytes=-7", Span(93, 7)),
        ("bytes=-700", Span(0, 100)),
        ("Bytes= 5-6", Span(5, 2)),
        ("bytes=\u0665-", None),
        ("bytes=8-2", None),
        ("bytes=0-1,5-6", None),
        ("items=0-1", None),
        ("bytes=-", None),
        ("bytes=a-b", None),
    ],
)
def test_the_one_range_asked_for(header: str | None, expected: Span | None) -> None:
    assert asked_range(header, 100) == expected


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=9999999999999999999-"])
def test_outside_the_file(header: str) -> None:
    with pytest.raises(Unsatisfiable):
        asked_range(header, 100)


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("plan.pdf", 'attachment; filename="plan.pdf"'),
        ('a"b\\c.txt', "attachment; filename=\"a_b_c.txt\"; filename*=UTF-8''a%22b%5Cc.txt"),
        ("Pläne.pdf", "attachment; filename=\"Pl_ne.pdf\"; filename*=UTF-8''Pl%C3%A4ne.pdf"),
        ("50%.txt", "attachment; filename=\"50_.txt\"; filename*=UTF-8''50%25.txt"),
        ("a\r\nX: y", "attachment; filename=\"a__X: y\"; filename*=UTF-8''a%0D%0AX%3A%20y"),
    ],
)
def test_a_name_in_a_header(name: str, header: str) -> None:
    assert attachment(name) == header


@pytest.mark.parametrize(
    ("header", "known"),
    [(None, False), ("", False), ('"b"', False), ('"a"', True), ('"b", W/"a"', True), ("*", True)],
)
def test_a_version_that_is_known(header: str | None, known: bool) -> None:
    assert is_known(header, '"a"') is known
