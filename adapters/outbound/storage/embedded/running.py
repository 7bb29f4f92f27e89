"""The record of a running server, and how another process finds it."""

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

from adapters.outbound.storage.embedded.data_paths import write_json
from adapters.outbound.storage.embedded.errors import EmbeddedPostgresError
from adapters.outbound.storage.embedded.ownership import is_owned

DATABASE = "switchboard"
SUPERUSER = "switchboard"
STARTING_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Running:
    """Where a running server listens: the folder of its socket, and the port that names the socket."""

    socket_dir: str
    port: int
    postmaster: int

    def dsn(self, database: str = DATABASE) -> str:
        return f"postgresql://{SUPERUSER}@/{database}?host={quote(self.socket_dir, safe='')}&port={self.port}"

    def write(self, path: Path) -> None:
        write_json(path, asdict(self))


def read_record(path: Path) -> Running | None:
    """The record at `path`; None if there is none or it is not one of ours."""
    try:
        return Running(**json.loads(path.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def attach(data_dir: Path) -> str | None:
    """The DSN of the embedded server that another process runs on `data_dir`; None if none runs.

    Waits for a server that is just starting. Raises `EmbeddedPostgresError` if the folder cannot be read.
    """
    folder = data_dir.absolute() / "postgres"
    deadline = time.monotonic() + STARTING_SECONDS
    try:
        while is_owned(folder / "owner.lock"):
            record = read_record(folder / "running.json")
            if record and not os.access(record.socket_dir, os.X_OK):
                raise PermissionError
            if record and _answers(record.dsn()):
                return record.dsn()
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(
                    f"the database in {folder} is starting or stopping and does not answer"
                )
            time.sleep(0.05)
    except PermissionError:
        raise EmbeddedPostgresError(
            f"user {os.geteuid()} may not read {folder}: run this as the user that runs the service"
        ) from None
    return None


def _answers(dsn: str) -> bool:
    try:
        psycopg.connect(dsn, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
