"""Whether the database takes writes is found out by writing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from psycopg.conninfo import make_conninfo

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.writing import NotWritable, check_writable
from domain.refusals import StorageAway


@asynccontextmanager
async def connected(dsn: str, **options: str) -> AsyncIterator[Database]:
    given = " ".join(f"-c {name}={value}" for name, value in options.items())
    database = Database(make_conninfo(dsn, options=given), max_size=2)
    await database.open()
    yield database
    await database.close()


async def test_it_leaves_one_row_however_often_it_looks(database: Database) -> None:
    for _ in range(8):
        await check_writable(database)
    assert await database.fetch("SELECT count(*) FROM write_check") == [(1,)]


async def test_a_database_that_only_reads_is_told(database: Database) -> None:
    async with connected(database.dsn, default_transaction_read_only="on") as reading:
        with pytest.raises(NotWritable, match="cannot be written: it is read-only"):
            await check_writable(reading)


async def test_room_for_files_is_needed(database: Database) -> None:
    """A server without room writes no temporary file either; here it is forbidden to."""
    async with connected(database.dsn, temp_file_limit="0") as cramped:
        with pytest.raises(StorageAway):
            await check_writable(cramped)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("53100", "its disk is full"),
        ("25006", "it is read-only"),
        ("42501", "the user of DATABASE_URL may not write to it"),
        ("22012", "an internal error; the log has the details"),
    ],
)
async def test_the_reason_is_told_without_the_servers_own_words(
    database: Database, state: str, reason: str
) -> None:
    await database.execute(
        "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION 'base/16384/2619' USING ERRCODE = '{state}'; END $$"
    )
    await database.execute(
        "CREATE TRIGGER refusing BEFORE INSERT ON write_check FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    with pytest.raises(NotWritable) as caught:
        await check_writable(database)
    assert str(caught.value) == f"the database cannot be written: {reason}"


async def test_it_does_not_wait_long_for_others(database: Database) -> None:
    await check_writable(database)
    async with database.transaction() as connection:
        await connection.execute("LOCK TABLE write_check")
        with pytest.raises(NotWritable, match="took longer than 2 seconds"):
            await asyncio.wait_for(check_writable(database), 60)
    await check_writable(database)
