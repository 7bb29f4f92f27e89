"""The database as a file, by pg_dump and pg_restore, and what tells whether it came back whole."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from adapters.outbound.storage.embedded.cluster import find_binaries
from adapters.outbound.storage.embedded.data_paths import EmbeddedPostgresError, server_environment
from adapters.outbound.storage.migrate import first_line, schema_version

TABLES = """
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' ORDER BY 1, 2
"""

TIMEOUT_SINCE = 17
UNKNOWN_TIMEOUT = 'unrecognized configuration parameter "transaction_timeout"'
"""pg_restore 17 and newer set it in every session, which servers before 17 answer with this error and no harm."""


class DumpFailed(Exception):
    """The message is one line, which says what to do where that is known."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What the database held at one moment."""

    revision: str | None
    rows: Mapping[str, int]
    blobs: Mapping[str, int]
    snapshot: str = ""


@contextmanager
def snapshot(dsn: str) -> Iterator[Contents]:
    """What the database holds now; `dump` writes that state within the block. Raises `DumpFailed`."""
    try:
        connection = psycopg.connect(dsn, connect_timeout=10)
    except psycopg.Error as error:
        raise DumpFailed(f"the database does not answer: {first_line(error)}") from error
    with connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        rows = {}
        for schema, name in connection.execute(TABLES.encode()).fetchall():
            counting = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, name))
            [rows[f"{schema}.{name}"]] = connection.execute(counting).fetchone() or (0,)
        revision = schema_version(connection).revision
        stored = connection.execute("SELECT key, size FROM blob").fetchall() if revision else []
        [identifier] = connection.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
        yield Contents(revision, rows, dict(stored), identifier)


def contents(dsn: str) -> Contents:
    """What the database holds now. Raises `DumpFailed`."""
    with snapshot(dsn) as snapshot_contents:
        return snapshot_contents


def tables(dsn: str) -> int:
    """How many tables there are. Raises `DumpFailed`."""
    try:
        with psycopg.connect(dsn, connect_timeout=10) as connection:
            return len(connection.execute(TABLES.encode()).fetchall())
    except psycopg.Error as error:
        raise DumpFailed(f"the database does not answer: {first_line(error)}") from error


def dump(dsn: str, bin_dir: Path | None, found: Contents, path: Path) -> None:
    """Raises `DumpFailed`."""
    pg_dump, server = program("pg_dump", bin_dir), _server(dsn)
    output = subprocess.run([pg_dump, "--version"], check=False, capture_output=True, text=True).stdout  # noqa: S603
    version = re.search(r"(\d+)", output)
    if not version or int(version[1]) < server:
        raise DumpFailed(
            f"the server is PostgreSQL {server}, and {pg_dump} is of version {version[1] if version else 'unknown'}:"
            f" set PG_BIN_DIR to the folder with pg_dump of version {server}"
        )
    options = ["-Fc", "--no-owner", "--no-privileges", f"--snapshot={found.snapshot}", f"--file={path}"]
    _run(dsn, [pg_dump, *options])


def restore(dsn: str, bin_dir: Path | None, path: Path) -> None:
    """All of it or nothing, where the server is PostgreSQL 17 or newer. Raises `DumpFailed`."""
    options = ["--no-owner", "--no-privileges", "--no-comments"]
    if _server(dsn) >= TIMEOUT_SINCE:
        options += ["--exit-on-error", "--single-transaction"]
    _run(dsn, [program("pg_restore", bin_dir), *options], str(path))


def forget_processes(dsn: str) -> None:
    """Those that ran when the backup was made. What they had leased is taken over once a worker sees that they hold
    no lock."""
    with psycopg.connect(dsn, connect_timeout=10) as connection:
        connection.execute("DELETE FROM process")


def program(name: str, bin_dir: Path | None) -> str:
    """From PG_BIN_DIR, the package of the embedded database, or the system. Raises `DumpFailed`."""
    try:
        folder = bin_dir or find_binaries(None)
    except EmbeddedPostgresError:
        folder = None
    program = str(folder / name) if folder and (folder / name).is_file() else shutil.which(name)
    if program is None or (bin_dir and folder and not (folder / name).is_file()):
        raise DumpFailed(f"there is no {name} here: set PG_BIN_DIR to a folder that has it")
    return program


def _server(dsn: str) -> int:
    """Its major version."""
    with psycopg.connect(dsn, connect_timeout=10) as connection:
        return connection.info.server_version // 10000


def _run(dsn: str, command: list[str], *arguments: str) -> None:
    """The password goes by the environment, as others can read command lines."""
    words = conninfo_to_dict(dsn)
    password = words.pop("password", None)
    environment = {**os.environ, **server_environment()}
    if password:
        environment["PGPASSWORD"] = str(password)
    full_command = [*command, f"--dbname={make_conninfo(**words)}", *arguments]  # type: ignore[arg-type]
    done = subprocess.run(full_command, env=environment, check=False, stderr=subprocess.PIPE, text=True)  # noqa: S603
    if done.returncode:
        faults = [line for line in done.stderr.splitlines() if "error:" in line]
        if faults and all(UNKNOWN_TIMEOUT in line for line in faults):
            return
        reasons = [line for line in faults if UNKNOWN_TIMEOUT not in line] or done.stderr.splitlines()
        raise DumpFailed(f"{Path(command[0]).name} failed: {reasons[0] if reasons else done.returncode}")
