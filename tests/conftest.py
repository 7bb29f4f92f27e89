"""Fixtures that the whole suite shares."""

from __future__ import annotations

import pytest

from tests.support.postgres import database_url, postgres_dsn

__all__ = ["database_url", "postgres_dsn"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
