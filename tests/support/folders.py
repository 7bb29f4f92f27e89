"""Folders that other accounts may enter."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A short, empty folder that the database's account may enter (pytest's own is closed to it)."""
    folder = Path(tempfile.mkdtemp(prefix="sb-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
