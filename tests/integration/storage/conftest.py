"""A database for each test, and folders with an embedded one that were made once and are copied for each."""

import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from adapters.outbound.storage.embedded import EmbeddedPostgres
from adapters.outbound.storage.pool import Database
from tests.support.database import an_instance, opened
from tests.support.folders import folder_of_databases, remove
from tests.support.postgres import fresh_database


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    async with opened(Database(database_url)) as database:
        yield database


@pytest.fixture(scope="session")
def shared_url(postgres_dsn: str) -> Iterator[str]:
    with fresh_database(postgres_dsn) as dsn:
        yield dsn


@pytest.fixture
async def shared_database(shared_url: str) -> AsyncIterator[Database]:
    """One database for all tests that change nothing in it."""
    async with opened(Database(shared_url)) as database:
        yield database


@pytest.fixture
async def instance(database: Database) -> int:
    return await an_instance(database)


@pytest.fixture(scope="session")
def used_data_dir() -> Iterator[Path]:
    """A DATA_DIR whose database was made and stopped."""
    folder = Path(tempfile.mkdtemp(prefix="sb-used-", dir=folder_of_databases()))
    folder.chmod(0o755)
    with EmbeddedPostgres(folder, fast_and_unsafe=True):
        pass
    yield folder
    remove(folder)


@pytest.fixture
def data_dir(used_data_dir: Path, open_folder: Path) -> Path:
    """A copy of it for one test, owners kept."""
    copy = open_folder / "data"
    subprocess.run(["cp", "-a", str(used_data_dir), str(copy)], check=True)
    return copy
