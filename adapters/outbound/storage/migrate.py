"""Brings a database to the newest schema. Safe when several processes start at once.

Alembic and SQLAlchemy are imported only when there is something to migrate, and by a process of its own: the
service spares their time and memory.
"""

import logging
import os
import subprocess
import sys
import time

import psycopg

from adapters.outbound.storage.schema_version import IS_THERE, READ, READ_FROZEN, SchemaVersion, head

log = logging.getLogger(__name__)

LOCK = 7_020_631_156
"""Key of the advisory lock that lets one process migrate at a time."""
LOOK_SECONDS = 0.1
"""Pause between two tries to get that lock. A statement that waited for it would be waited for by an index that is
made concurrently, and so by itself."""

NEEDED = {"vector": (0, 7), "pg_trgm": (1, 5)}


class MigrationError(Exception):
    """The database cannot be brought to the newest schema; the message says why and what to do."""


def migrate(dsn: str) -> None:
    """Raises `MigrationError`. A schema that is newer already is left as it is."""
    newest = head()
    try:
        with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection:
            _wait_for_turn(connection)
            _check_server(connection)
            version = schema_version(connection)
            if version.is_older(newest):
                _upgrade(dsn)
            elif fault := version.fault(newest):
                raise MigrationError(fault)
            elif version.revision != newest:
                log.warning("the schema is at %s, newer than this version's %s", version.revision, newest)
    except psycopg.OperationalError as error:
        raise MigrationError(f"the database does not answer: {first_line(error)}") from error


def _wait_for_turn(connection: psycopg.Connection) -> None:
    """Until this process alone migrates; the lock ends with the connection."""
    while connection.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchone() == (False,):
        time.sleep(LOOK_SECONDS)


def schema_version(connection: psycopg.Connection) -> SchemaVersion:
    found = connection.execute(IS_THERE).fetchone()
    for is_there, query in zip(found or (), (READ, READ_FROZEN), strict=False):
        if is_there and (row := connection.execute(query).fetchone()):
            return SchemaVersion(*row)
    return SchemaVersion(None)


def revision_of(dsn: str) -> str | None:
    with psycopg.connect(dsn, connect_timeout=10) as connection:
        return schema_version(connection).revision


def first_line(error: BaseException) -> str:
    """The first line of a driver's message, which is what a person needs."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _check_server(connection: psycopg.Connection) -> None:
    if connection.info.server_version < 150000:
        raise MigrationError(
            f"PostgreSQL 15 or newer is needed, this is {connection.info.server_version // 10000}"
        )
    if connection.execute("SHOW transaction_read_only").fetchone() == ("on",):
        raise MigrationError(
            "the database takes no writes: it is a standby or set to read only; name the writable one in DATABASE_URL"
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise MigrationError(
            f"the database has the encoding {encoding}, which cannot hold every message; make one with:"
            " CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0"
        )
    for name, least in NEEDED.items():
        _check_extension(connection, name, least)


def _check_extension(connection: psycopg.Connection, name: str, least: tuple[int, int]) -> None:
    row = connection.execute(
        "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = %s",
        (name,),
    ).fetchone()
    if row is None:
        raise MigrationError(f"the PostgreSQL extension '{name}' is not installed on the database server")
    version = tuple(int(piece) for piece in row[0].split(".")[:2])
    if version < least:
        raise MigrationError(
            f"the extension '{name}' is {row[0]}; {'.'.join(map(str, least))} or newer is needed"
        )
    try:
        connection.execute(f'CREATE EXTENSION IF NOT EXISTS "{name}"')
    except psycopg.Error as error:
        raise MigrationError(
            f"the extension '{name}' cannot be created ({first_line(error)}); "
            f'have a superuser run: CREATE EXTENSION "{name}"'
        ) from error


def _upgrade(dsn: str) -> None:
    """In a process of its own, so that the memory that Alembic and SQLAlchemy take ends with it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "adapters.outbound.storage.upgrade"]
    done = subprocess.run(  # noqa: S603 - our own interpreter and module
        command, input=dsn, env=environment, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        log.error("the migrations failed:\n%s", done.stderr)
        reason = next(iter(done.stderr.strip().splitlines()[-1:]), f"status {done.returncode}")
        raise MigrationError(f"the database cannot be brought to {head()}: {reason}")
