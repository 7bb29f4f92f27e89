"""Packed arrays arrive in PostgreSQL as the lists that they were made of."""

import struct
from typing import Any

import pytest

from adapters.outbound.storage.arrays import Bigints, Doubles, Texts
from adapters.outbound.storage.pool import Database


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (Texts([]), []),
        (
            Texts(["", '{"a": "b\\"c"}', "NULL", None, "grüße 🙂"]),
            ["", '{"a": "b\\"c"}', "NULL", None, "grüße 🙂"],
        ),
        (Texts([b"\xc3\xa9", "é"]), ["é", "é"]),
        (Bigints([0, -1, 2**63 - 1, -(2**63), None]), [0, -1, 2**63 - 1, -(2**63), None]),
        (Doubles([None, 0.0, -1.5, 30.0]), [None, 0.0, -1.5, 30.0]),
    ],
)
async def test_an_array_arrives_as_it_is(shared_database: Database, array: Any, expected: list[Any]) -> None:
    assert await shared_database.fetch(
        "SELECT each FROM unnest(%s) WITH ORDINALITY AS t(each, n) ORDER BY n", (array,)
    ) == [(each,) for each in expected]


async def test_all_batches_of_a_statement_have_the_same_types(shared_database: Database) -> None:
    """Otherwise each combination would be planned on its own."""
    query = "SELECT pg_typeof(%s)::text, pg_typeof(%s)::text, pg_typeof(%s)::text"
    for batch in ((Texts([]), Bigints([]), Doubles([])), (Texts(["a"]), Bigints([2**40]), Doubles([None]))):
        assert await shared_database.fetch(query, batch) == [("text[]", "bigint[]", "double precision[]")]


def test_a_number_that_is_too_large_is_refused() -> None:
    with pytest.raises(struct.error):
        Bigints([2**63])
