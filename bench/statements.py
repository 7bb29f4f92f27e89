"""The statements of a message, counted by PostgreSQL: what "Growth on paper" in docs/performance.md is made of.

python -m bench.statements [--workers 1] [--conversations 1000] [--messages 2000] [--rate 400]

Without a rate all messages come at once.
"""

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path

import psycopg
import uvloop

from adapters.outbound.storage.embedded import EmbeddedPostgres
from bench.database import running_database
from bench.throughput import Load, measure

MODULE = "pg_stat_statements"
KINDS = {
    "storing": "INSERT INTO inbox",
    "outcome": "UPDATE inbox i SET error",
    "mark of the sent message": "UPDATE outbox o SET ref",
    "lease of a conversation": "draft, failures FROM inbox r",
    "lease of replies": "AS late, trace",
    "notice": "pg_notify",
}
"""What the text of each statement holds."""
COUNTED = """
SELECT query, calls, total_exec_time FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
WHERE d.datname = current_database()
"""
WAL = "SELECT wal_records, wal_bytes FROM pg_stat_wal"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, choices=(1, 2), default=1)
    parser.add_argument("--conversations", type=int, default=1000)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--rate", type=float)
    options = parser.parse_args()
    load = Load(options.conversations, options.messages, 1000, options.rate)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        _preload(folder)
        with running_database(folder) as database:
            dsn = database.fresh("statements")
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(f"CREATE EXTENSION {MODULE}".encode())
                before: list[tuple[int, int]] = []

                def begin() -> None:
                    connection.execute(f"SELECT {MODULE}_reset()".encode())
                    before.append(_wal(connection))

                made = uvloop.run(measure(database, dsn, options.workers, load, begin=begin))
                print(
                    f"{made.per_second:,.0f}/s, {made.cpu_us:.0f} + {made.database_us:.0f} µs of CPU a message"
                )
                _tell(connection, before[0], load.count)


def _preload(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder, tcp_port=None)
    with psycopg.connect(postgres.start(), autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET shared_preload_libraries = '{MODULE}'".encode())
    postgres.stop()


def _wal(connection: psycopg.Connection) -> tuple[int, int]:
    row = connection.execute(WAL).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def _tell(connection: psycopg.Connection, before: tuple[int, int], messages: int) -> None:
    calls, spent = defaultdict[str, int](int), defaultdict[str, float](float)
    for query, number, milliseconds in connection.execute(COUNTED):
        kind = next((kind for kind, part in KINDS.items() if part in query), "all others")
        calls[kind] += number
        spent[kind] += milliseconds
    for kind in (*KINDS, "all others"):
        print(f"{kind}: {calls[kind] / messages:.3f} a message, {spent[kind] * 1000 / messages:.0f} µs")
    records, size = (now - then for now, then in zip(_wal(connection), before, strict=True))
    print(f"WAL: {size / messages / 1000:.1f} kB, {records / messages:.0f} records a message")


if __name__ == "__main__":
    main()
