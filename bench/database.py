"""The database of the bench: on the core of the load, with its CPU time of all processes."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from adapters.outbound.storage.embedded import EmbeddedPostgres
from adapters.outbound.storage.migrate import migrate
from bench.measuring import LOAD_CORE, cpu_seconds, family
from tests.support.postgres import on_database


@dataclass(frozen=True)
class Database:
    """An embedded server; `pid` is its first process."""

    dsn: str
    pid: int

    def fresh(self, name: str) -> str:
        """A migrated and empty database of that name."""
        with psycopg.connect(on_database(self.dsn, "postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            connection.execute(f"CREATE DATABASE {name} TEMPLATE switchboard".encode())
        return on_database(self.dsn, name)

    def cpu(self) -> float:
        """Seconds of all its processes, those that have ended included."""
        first, *others = family(self.pid)
        return cpu_seconds(*others) + cpu_seconds(first)

    @contextmanager
    def on(self, *cores: int) -> Iterator[None]:
        """On other cores meanwhile."""
        self.pin(*cores)
        try:
            yield
        finally:
            self.pin(LOAD_CORE)

    def pin(self, *cores: int) -> None:
        """All its processes, and those that they start later, on these cores."""
        if (os.cpu_count() or 1) > 1:
            for pid in family(self.pid):
                with suppress(ProcessLookupError):
                    os.sched_setaffinity(pid, cores)


@contextmanager
def running_database(folder: Path | None = None) -> Iterator[Database]:
    """A server on `folder`, without one on a folder of its own; migrated."""
    if folder is None:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            own = Path(name)
            own.chmod(0o755)
            with running_database(own) as database:
                yield database
        return
    postgres = EmbeddedPostgres(folder, tcp_port=None)
    dsn = postgres.start()
    try:
        migrate(dsn)
        [file] = folder.rglob("postmaster.pid")
        database = Database(dsn, int(file.read_text().split()[0]))
        database.pin(LOAD_CORE)
        yield database
    finally:
        postgres.stop()
