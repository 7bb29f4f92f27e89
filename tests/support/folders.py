"""Folders that other accounts may enter."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.waiting import until

MEMORY = Path("/dev/shm")
SHORT = Path("/tmp")
"""A TMPDIR may have a name too long for the socket of a database."""
ROOM = 4 * 2**30
"""Bytes that must be free in memory: several databases of a few hundred MB lie there at a time."""


def folder_of_databases() -> Path:
    """Where databases are made: in memory if it takes them, as that takes a tenth of the processor's time."""
    if _takes_databases(MEMORY):
        return MEMORY
    return SHORT if SHORT.is_dir() else Path(tempfile.gettempdir())


def _takes_databases(folder: Path) -> bool:
    """Whether there is room, and programs that are copied there may be started."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC and shutil.disk_usage(folder).free >= ROOM


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A short, empty folder that the database's account may enter (pytest's own is closed to it)."""
    with an_open_folder() as folder:
        yield folder


@contextmanager
def an_open_folder() -> Iterator[Path]:
    """The same for fixtures that last longer than a test."""
    folder = Path(tempfile.mkdtemp(prefix="sb-", dir=folder_of_databases()))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: Path) -> None:
    """Removes a folder in which a process that was killed may still be at its last write."""
    until(lambda: _gone(folder), f"{folder} can be removed")


def _gone(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
