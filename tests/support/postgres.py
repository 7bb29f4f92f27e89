"""A real PostgreSQL for tests: one server per session, a fresh migrated database per test (about 30 ms).

TEST_DATABASE_URL names another server to run them on instead, as a superuser; databases are made there.
"""

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from adapters.outbound.storage.embedded import EmbeddedPostgres
from adapters.outbound.storage.migrate import migrate
from tests.support.folders import folder_of_databases, remove

_PREFIX = "switchboard-tests-"
_TEMPLATE = f"switchboard_test_{os.getpid()}"
_NOTHING = "template0 ENCODING UTF8"
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_dsn() -> Iterator[str]:
    """The DSN of the session's server; its database is the template and takes no connections from tests."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield from _template_on(given)
        return
    folder = _own_folder()
    server = EmbeddedPostgres(folder, fast_and_unsafe=True)
    try:
        dsn = server.start()
        migrate(dsn)
        yield dsn
    finally:
        server.stop()
        remove(folder)


def _template_on(server: str) -> Iterator[str]:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {_TEMPLATE} TEMPLATE {_NOTHING}")
        dsn = on_database(server, _TEMPLATE)
        migrate(dsn)
        yield dsn
        _insist(connection, f"DROP DATABASE {_TEMPLATE} WITH (FORCE)")


@pytest.fixture
def database_url(postgres_dsn: str) -> Iterator[str]:
    """The DSN of a database of this test's own, migrated and empty; dropped after the test."""
    with fresh_database(postgres_dsn) as dsn:
        yield dsn


@contextmanager
def fresh_database(postgres_dsn: str, *, migrated: bool = True) -> Iterator[str]:
    """The DSN of an empty database, migrated unless told otherwise; dropped at the end."""
    template = urlsplit(postgres_dsn).path.removeprefix("/") if migrated else _NOTHING
    name = f"switchboard_test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(on_database(postgres_dsn, "postgres"), autocommit=True) as connection:
        _insist(connection, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        yield on_database(postgres_dsn, name)
        _insist(connection, f"DROP DATABASE {name} WITH (FORCE)")


def _insist(connection: psycopg.Connection, statement: str) -> None:
    """Runs a statement that waits five seconds for what is still connected, as often as a busy machine needs."""
    for last in [False] * 11 + [True]:
        try:
            connection.execute(statement.encode())
        except psycopg.errors.ObjectInUse:
            if last:
                raise
        else:
            return


def on_database(dsn: str, name: str) -> str:
    """`dsn` with another database."""
    return urlsplit(dsn)._replace(path=f"/{name}").geturl()


def _own_folder() -> Path:
    """A folder that the server's account can enter also when we are root, where pytest's own is closed to it.

    Removes those of earlier sessions that were killed.
    """
    root = folder_of_databases()
    for old in root.glob(f"{_PREFIX}*"):
        pid = old.name.removeprefix(_PREFIX).split("-")[0]
        if pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=root))
    folder.chmod(0o755)
    return folder


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
