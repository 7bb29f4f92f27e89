"""What can go wrong while `backup` writes and `restore` reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from adapters.outbound.storage.migrate import first_line
from adapters.outbound.system.backup_archive import BadBackup
from adapters.outbound.system.dumps import DumpFailed
from apps.starting import StartError


@contextmanager
def reported() -> Iterator[None]:
    """What can go wrong, as one line."""
    try:
        yield
    except (DumpFailed, BadBackup) as error:
        raise StartError(str(error)) from error
    except psycopg.Error as error:
        raise StartError(f"the database does not answer: {first_line(error)}") from error
    except BrokenPipeError:  # nobody reads what the command prints
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise StartError(f"{where}{error.strerror or error}") from error
