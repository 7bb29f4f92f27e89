import pytest

from ports.http import HttpAnswer

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:30:00 GMT", "date": DATE}, 120.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:00:00 GMT", "date": DATE}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:30:00 GMT"}, None),
        ({"retry-after": "Wed, 99 Oct 2026 07:30:00 GMT", "date": DATE}, None),
    ],
)
def test_retry_after_is_read_as_seconds(headers: dict[str, str], seconds: float | None) -> None:
    assert HttpAnswer(429, headers, b"").retry_after == seconds


def test_a_body_that_is_not_json_reads_as_none() -> None:
    assert HttpAnswer(200, {}, b"<html>").json() is None
    assert HttpAnswer(200, {}, b'{"a": 1}').json() == {"a": 1}
