"""Knowledge bases on a database of the test's own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.outbound.storage.pool import Database
from domain.access.model import Caller, Role
from tests.support.knowledge import Knowledge, opened


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    async with opened(database_url) as database:
        yield database


@pytest.fixture
def knowledge(database: Database, tmp_path: Path) -> Knowledge:
    return Knowledge(database, tmp_path / "blobs")


@pytest.fixture
def ann() -> Caller:
    return Caller("ann")


@pytest.fixture
def bob() -> Caller:
    return Caller("bob")


@pytest.fixture
def admin() -> Caller:
    return Caller("root", Role.ADMIN)
