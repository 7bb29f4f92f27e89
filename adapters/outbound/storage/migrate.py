"""Brings a database to the newest schema. Safe when several processes start at once.

Alembic is imported only if there is something to migrate, in a process of its own. Processes of two versions share a
database while one follows the other: the newer one migrates, the older one goes on. Revisions are named so that they
sort in the order of the chain.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import psycopg

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
            # The lock ends with the connection.
            while connection.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchone() == (False,):
                time.sleep(LOOK_SECONDS)
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


def schema_version(connection: psycopg.Connection) -> SchemaVersion:
    tables = connection.execute(IS_THERE).fetchone()
    for is_there, query in zip(tables or (), (READ, READ_FROZEN), strict=False):
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


VERSIONS = Path(__file__).parent / "migrations" / "versions"

TABLE = "schema_version"
FROZEN_TABLE = "alembic_version"
"""Where version 0.1.0 looks, which neither starts nor is ready unless it finds its own newest revision there. It can
work on every schema that has no part of its own removed, so this table stays as that version left it."""

IS_THERE = f"SELECT to_regclass('{TABLE}') IS NOT NULL, to_regclass('{FROZEN_TABLE}') IS NOT NULL"
READ = f"SELECT version_num, oldest_usable FROM {TABLE}"
READ_FROZEN = f"SELECT version_num, NULL FROM {FROZEN_TABLE}"

BEGIN = f"""
CREATE TABLE IF NOT EXISTS {FROZEN_TABLE} (
    version_num varchar(32) CONSTRAINT alembic_version_pkc PRIMARY KEY
);
-- oldest_usable: a process whose newest revision is an older one cannot work on this schema.
CREATE TABLE IF NOT EXISTS {TABLE} (
    version_num varchar(32) CONSTRAINT {TABLE}_pkc PRIMARY KEY,
    oldest_usable text
);
INSERT INTO {TABLE} (version_num) SELECT version_num FROM {FROZEN_TABLE}
    WHERE NOT EXISTS (SELECT FROM {TABLE});
"""
"""Before the first migration that is outstanding."""


def head() -> str:
    """The newest revision: each is named as its file, and the files of the linear chain are numbered."""
    return max(path.stem for path in VERSIONS.glob("[0-9]*_*.py"))


class SchemaVersion(NamedTuple):
    """What a database says of its schema. `revision`: None before the first migration."""

    revision: str | None
    oldest_usable: str | None = None

    def is_older(self, newest: str) -> bool:
        """Return True if a process whose newest revision is `newest` has to migrate."""
        return self.revision is None or self.revision < newest

    def is_newer(self, newest: str) -> bool:
        """Return True if a newer version than that of such a process has migrated."""
        return self.revision is not None and self.revision > newest

    def fault(self, newest: str) -> str | None:
        """Why such a process cannot work on the schema; None where it can. A schema of the next version will do."""
        if self.is_older(newest):
            return f"the schema is not at {newest}; run: switchboard migrate"
        if self.oldest_usable is not None and newest < self.oldest_usable:
            return (
                f"the schema is at {self.revision}, and versions of the service before {self.oldest_usable} cannot"
                f" work on it; this one is at {newest}: start a newer version"
            )
        return None
