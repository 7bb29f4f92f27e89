"""Checks that the database takes writes."""

import psycopg

from adapters.outbound.storage.pool import Database
from domain.refusals import INTERNAL, Refusal

TRY = """
SET LOCAL statement_timeout = 2000;
SET LOCAL work_mem = '64kB';
SELECT count(*) FROM generate_series(1, 5000);
INSERT INTO write_check VALUES (1, now()) ON CONFLICT (id) DO UPDATE SET written_at = now();
"""
"""One transaction. The series is larger than the memory for it, so that the server writes a temporary file and
deletes it: a full disk refuses that, while a row may still fit into a page that exists. It is always the same row."""

REASONS = {
    "25006": "it is read-only",
    "42501": "the user of DATABASE_URL may not write to it",
    "53100": "its disk is full",
    "57014": "a write took longer than 2 seconds",
}
"""By SQLSTATE. The server's own words may hold paths, and everybody may ask for readiness."""


class NotWritable(Exception):
    """The database answers, and takes no writes."""


async def check_writable(database: Database) -> None:
    """Writes. Raises `NotWritable`, or `StorageAway` when the server does not answer."""
    try:
        async with database.connection() as connection:
            await connection.execute(TRY, prepare=False)
    except (Refusal, psycopg.Error) as error:
        caused = error if isinstance(error, psycopg.Error) else error.__cause__
        state = caused.sqlstate if isinstance(caused, psycopg.Error) else None
        if state in REASONS:
            raise NotWritable(f"the database cannot be written: {REASONS[state]}") from error
        if isinstance(error, Refusal):
            raise
        raise NotWritable(f"the database cannot be written: {INTERNAL}") from error
