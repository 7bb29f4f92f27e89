"""A year of messages: what retention leaves of them, and whether the service is as fast as on a fresh database.

python -m bench.year fill FOLDER [--messages 10000000] [--days 365]    stores them day by day and cleans
python -m bench.year measure FOLDER [--rounds 7]                       beside a fresh database of the same server

`fill` leaves its database and its figures in FOLDER. The days lie in the past: retention is told each day's end as
the time, and the last one ends now.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from adapters.outbound.storage.conversations.erasure import ConversationExpiry
from adapters.outbound.storage.embedded import EmbeddedPostgres
from adapters.outbound.storage.migrate import migrate
from adapters.outbound.storage.pool import BULK_SECONDS
from adapters.outbound.storage.pool import Database as Pool
from adapters.outbound.storage.retention import Retention, Times
from apps.compose.container import Container
from bench.acknowledgement import HOOK, Case, instances, telegram_script
from bench.database import Database
from bench.engine import dispatched
from bench.measuring import LOAD_CORE, free_port, python, server
from bench.ours import settings
from bench.platform import standing_in
from bench.rounds import Sample, interleaved, ratio
from bench.year_rows import CONVERSATIONS, DUE_FOR_VACUUM, INSTANCES, SEQUENCES, SIZES, TABLES, store_part
from domain.instances.model import NewInstance
from tests.support.postgres import on_database

DAY = timedelta(days=1)
PARTS = 4
"""In so many steps a day's messages are stored."""
NAME = "year"
DISPATCHED = 6000
WAITING = (
    "DELETE FROM inbox WHERE status = 0",
    "DELETE FROM outbox WHERE status = 0",
    "DELETE FROM queue WHERE pending > 0",
    "DELETE FROM channel_instance WHERE channel_id <> 'http-webhook'",
)
"""Removes what an earlier measurement acknowledged, which the worker would take up now, and its instances."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=["fill", "measure"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with _running(options.folder) as database:
        if options.part == "fill":
            for figures in asyncio.run(_fill(database, options.days, options.messages // options.days)):
                print(json.dumps(figures))
        else:
            _measure(database, options.rounds)


@contextmanager
def _running(folder: Path) -> Iterator[Database]:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    postgres = EmbeddedPostgres(folder)
    dsn = postgres.start()
    try:
        migrate(dsn)
        [file] = folder.rglob("postmaster.pid")
        yield Database(dsn, int(file.read_text().split()[0]))
    finally:
        postgres.stop()


async def _fill(database: Database, days: int, count: int) -> list[dict[str, Any]]:
    dsn = database.fresh(NAME)
    container = Container(settings=settings(), dsn=dsn, solitary=True)
    pool = container.database()
    await pool.open()
    await container.storage().instances.add("bench", NewInstance("http-webhook", "first", {}, "agent::bench"))
    await pool.execute(INSTANCES)
    await pool.execute(CONVERSATIONS, {"days": days})
    begin, figures, cleaning = datetime.now(UTC) - days * DAY, [], []
    for day in range(days):
        began = time.monotonic()
        await asyncio.to_thread(_store, dsn, day, begin + day * DAY, count)
        stored = time.monotonic()
        removed = await _cleaned(pool, begin + (day + 1) * DAY)
        cleaning.append(time.monotonic() - stored)
        for table in await pool.fetch_column(DUE_FOR_VACUUM, (TABLES,)):
            await pool.execute(f"VACUUM (ANALYZE) {table}", within=BULK_SECONDS)
        if day < 3 or (day + 1) % 10 == 0 or day + 1 == days:
            figures.append(await _state(pool, day + 1, cleaning))
            took = f"stored in {stored - began:.1f} s, {removed} rows removed in {cleaning[-1]:.1f} s"
            print(f"day {day + 1}: {took}; {figures[-1]['mb']} MB", flush=True)
            if (day + 1) % 90 == 0:
                print(json.dumps(figures[-1]), flush=True)
            cleaning = []
    await pool.close()
    return figures


def _store(dsn: str, day: int, begin: datetime, count: int) -> None:
    with psycopg.connect(dsn, autocommit=True, options="-c synchronous_commit=off") as connection:
        each = count // PARTS
        for part in range(PARTS):
            begins = begin + part * DAY / PARTS
            store_part(connection, day, (day * PARTS + part) * each, each, begins, begins + DAY / PARTS)
        connection.execute(SEQUENCES)


async def _cleaned(pool: Pool, now: datetime) -> int:
    """What the jobs of a worker do."""
    expired = await ConversationExpiry(pool, 30).clean(now)
    retention = Retention(pool, Times(timedelta(days=7)))
    return expired + await retention.clean(now, seconds=3600.0)


async def _state(pool: Pool, day: int, cleaning: list[float]) -> dict[str, Any]:
    rows = await pool.fetch(SIZES, (TABLES,))
    wal = await pool.fetch_value("SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint >> 20")
    names = ("table_mb", "index_mb", "live", "dead", "vacuums")
    size = await pool.fetch_value("SELECT pg_database_size(current_database()) >> 20")
    tables = {name: dict(zip(names, columns, strict=True)) for name, *columns in rows}
    longest = max(cleaning)
    return {"day": day, "mb": size, "wal_mb": wal, "longest_cleaning_s": longest, "tables": tables}


def _measure(database: Database, rounds: int) -> None:
    """The same server holds both databases. Dispatch comes first: acknowledged messages would wait for its worker."""
    database.pin(LOAD_CORE)
    year = on_database(database.dsn, NAME)
    with psycopg.connect(year, autocommit=True) as connection:
        for statement in WAITING:
            connection.execute(statement.encode())
    _dispatch(database, year, rounds)
    _acknowledge(database, year, rounds)


def _dispatch(database: Database, year: str, rounds: int) -> None:
    def on(name: str) -> Sample:
        return dispatched(database, year if name == NAME else database.fresh("dispatch"), DISPATCHED)

    _told("dispatch", interleaved({name: partial(on, name) for name in ("fresh", NAME)}, rounds))


def _acknowledge(database: Database, year: str, rounds: int) -> None:
    with ExitStack() as stack:
        platform = stack.enter_context(standing_in())
        cases = {}
        for name, dsn in (("fresh", database.fresh("fresh")), (NAME, year)):
            telegram, _ = asyncio.run(instances(dsn))
            port = free_port()
            command = [python(), "-m", "bench.ours", "intake", dsn, str(port), platform]
            pid = stack.enter_context(server(command, port))
            case = Case(HOOK(port, "bot-messenger", telegram), telegram_script, [pid])
            cases[name] = partial(case.measure, database, 2.0)
        _told("acknowledgement", interleaved(cases, rounds))


def _told(what: str, samples: dict[str, list[Sample]]) -> None:
    for value, above, below in (
        ("all_us", "fresh", NAME),
        ("database_us", "fresh", NAME),
        ("rate", NAME, "fresh"),
    ):
        print(f"{what}, {value}, {above} / {below}: {ratio(samples, above, below, value)}", flush=True)
    for name, found in samples.items():
        print(
            what,
            name,
            [(round(s.rate), round(s.service_us), round(s.database_us)) for s in found],
            flush=True,
        )


if __name__ == "__main__":
    main()
