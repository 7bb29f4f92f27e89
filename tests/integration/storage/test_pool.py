"""Statements through the pool."""

from adapters.outbound.storage.pool import Database


async def test_what_gives_no_rows_is_fetched_as_none(shared_database: Database) -> None:
    assert await shared_database.fetch("SET application_name TO 'tests'") == []
    assert await shared_database.fetch("SELECT 1 WHERE false") == []
