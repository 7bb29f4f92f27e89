"""Folders that other accounts may enter."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.waiting import until

SHORT = Path("/tmp")
"""A TMPDIR may have a name too long for the socket of a database."""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A short, empty folder that the database's account may enter (pytest's own is closed to it)."""
    with an_open_folder() as folder:
        yield folder


@contextmanager
def an_open_folder() -> Iterator[Path]:
    """The same for fixtures that last longer than a test."""
    folder = Path(tempfile.mkdtemp(prefix="sb-", dir=SHORT if SHORT.is_dir() else None))
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
