"""What an error of the database comes to: an outage for all, or a failure of the statement that caused it."""

import asyncio
from contextlib import nullcontext

import psycopg
import pytest

from adapters.outbound.storage.failures import AWAY, BUSY, NO_ROOM, TRIES, retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.batching import Batcher
from domain.refusals import Invalid, StorageAway, Unavailable

RAISED = "DO $$ BEGIN RAISE EXCEPTION 'as told' USING ERRCODE = '{}'; END $$"

OUTAGES = (
    *(
        "08000",
        "08003",
        "08006",
        "53000",
        "53100",
        "53200",
        "53300",
        "57P01",
        "57P02",
        "57P03",
        "57P04",
        "57P05",
    ),
    *("58000", "58030", "25006"),
)
OTHERS = (
    *(
        "54000",
        "54001",
        "22000",
        "22001",
        "22003",
        "22021",
        "22P02",
        "22P05",
        "23502",
        "23505",
        "40001",
        "40P01",
    ),
    *("42601", "42883", "55000", "55P03", "57014", "58P01", "0A000", "21000", "P0001", "XX000", "XX001"),
)


async def raised(database: Database, state: str) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one it is, is what is looked at
        await database.execute(RAISED.format(state))
    return caught.value


@pytest.mark.parametrize("state", OUTAGES)
async def test_a_server_that_cannot_work_is_an_outage(shared_database: Database, state: str) -> None:
    found = await raised(shared_database, state)
    assert isinstance(found, StorageAway)
    assert found.message == (NO_ROOM if state == "53100" else AWAY)


@pytest.mark.parametrize("state", OTHERS)
async def test_any_other_error_is_the_statements_own(shared_database: Database, state: str) -> None:
    assert not isinstance(await raised(shared_database, state), StorageAway)


@pytest.mark.parametrize("state", ["40001", "40P01", "55P03", "57014"])
async def test_a_conflict_that_does_not_end_asks_the_caller_to_try_again(
    shared_database: Database, state: str
) -> None:
    found = await raised(shared_database, state)
    assert isinstance(found, Unavailable)
    assert found.message == BUSY


@pytest.mark.parametrize("in_unit", [False, True], ids=["alone", "in a unit"])
@pytest.mark.parametrize(("state", "tries"), [("40P01", TRIES), ("40001", TRIES), ("54000", 1), ("57014", 1)])
async def test_only_a_statement_in_conflict_is_run_again(
    database: Database, state: str, tries: int, in_unit: bool
) -> None:
    await database.execute("CREATE SEQUENCE tries")
    counting = RAISED.format(state).replace("BEGIN", "BEGIN PERFORM nextval('tries');")
    with pytest.raises((Unavailable, Invalid)):
        async with database.unit() if in_unit else nullcontext():
            await database.execute(counting)
    assert await database.fetch_one("SELECT last_value FROM tries") == (tries,)


async def test_a_deadlock_costs_nobody_anything(database: Database) -> None:
    await database.execute("CREATE TABLE lock_order AS SELECT n FROM (VALUES (1), (2)) AS v (n)")
    await database.execute(
        "CREATE FUNCTION touch(first int, second int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
        " UPDATE lock_order SET n = n WHERE n = first; PERFORM pg_sleep(0.2);"
        " UPDATE lock_order SET n = n WHERE n = second; END $$"
    )
    both = database.execute("SELECT touch(1, 2)"), database.execute("SELECT touch(2, 1)")
    assert await asyncio.wait_for(asyncio.gather(*both), 60) == [1, 1]


async def test_a_deadlock_within_a_unit_costs_nobody_anything(database: Database) -> None:
    await database.execute("CREATE TABLE lock_order AS SELECT n, 0 AS times FROM (VALUES (1), (2)) AS v (n)")
    meeting = asyncio.Barrier(2)

    async def change(first: int, second: int) -> None:
        tried = 0

        @retried
        async def both() -> None:
            nonlocal tried
            tried += 1
            async with database.transaction() as connection:
                await connection.execute("UPDATE lock_order SET times = times + 1 WHERE n = %s", (first,))
                if tried == 1:
                    await meeting.wait()
                await connection.execute("UPDATE lock_order SET times = times + 1 WHERE n = %s", (second,))

        async with database.unit():
            await both()

    await asyncio.wait_for(asyncio.gather(change(1, 2), change(2, 1)), 60)
    assert await database.fetch("SELECT times FROM lock_order") == [(2,), (2,)]


async def test_a_value_that_no_index_holds_is_refused_and_no_outage(database: Database) -> None:
    await database.execute("CREATE TABLE keyed (key text PRIMARY KEY)")
    with pytest.raises(Invalid, match="too long"):
        await database.execute(
            "INSERT INTO keyed SELECT string_agg(md5(n::text), '') FROM generate_series(1, 300) n"
        )
    await database.fetch_one("SELECT 1")


async def test_a_connection_that_breaks_is_an_outage(database: Database) -> None:
    with pytest.raises(StorageAway):
        await database.execute("SELECT pg_terminate_backend(pg_backend_pid())")


async def test_a_fault_of_the_client_is_none(database: Database) -> None:
    with pytest.raises(psycopg.Error):
        await database.fetch("SELECT %s", ())
    many = " ".join(["SELECT 1", *("UNION SELECT %s" for _ in range(70_000))])
    with pytest.raises(psycopg.Error):
        await database.fetch(many, range(70_000))


async def test_a_row_that_cannot_be_stored_fails_alone_within_a_batch(database: Database) -> None:
    await database.execute("CREATE TABLE keyed (key text PRIMARY KEY)")
    statements = 0

    async def flush(batch: list[str]) -> list[int]:
        nonlocal statements
        statements += 1
        await database.execute("INSERT INTO keyed SELECT * FROM unnest(%s::text[])", (batch,))
        return [len(batch)] * len(batch)

    batcher: Batcher[str, int] = Batcher(flush, writers=1)  # type: ignore[arg-type]
    long = "".join(chr(0x4E00 + number) for number in range(10_000))
    texts = ["first", *(f"key {number}" for number in range(60)), long, *(f"no {n}" for n in range(60))]
    results = await asyncio.gather(
        *(batcher.submit(number, text) for number, text in enumerate(texts)), return_exceptions=True
    )
    bad = [number for number, result in enumerate(results) if isinstance(result, BaseException)]
    assert bad == [61]
    assert isinstance(results[61], Invalid)
    assert await database.fetch_one("SELECT count(*) FROM keyed") == (121,)
    assert statements <= 17, "the batch is halved, not taken apart row by row"
