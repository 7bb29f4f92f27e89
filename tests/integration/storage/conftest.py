"""Folders with an embedded database that were made once and are copied for each test."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.outbound.storage.embedded import EmbeddedPostgres


@pytest.fixture(scope="session")
def used_data_dir() -> Iterator[Path]:
    """A DATA_DIR whose database was made and stopped."""
    folder = Path(tempfile.mkdtemp(prefix="sb-used-"))
    folder.chmod(0o755)
    with EmbeddedPostgres(folder, fast_and_unsafe=True):
        pass
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def data_dir(used_data_dir: Path, open_folder: Path) -> Path:
    """A copy of it for one test, owners kept."""
    copy = open_folder / "data"
    subprocess.run(["cp", "-a", str(used_data_dir), str(copy)], check=True)
    return copy
