"""A database of the test's own, and what most tests need in it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from adapters.outbound.storage.pool import Database

D = TypeVar("D", bound=Database)


@asynccontextmanager
async def opened(database: D) -> AsyncIterator[D]:
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def an_instance(database: Database, name: str = "n", channel_id: str = "http-webhook") -> int:
    """A row for others to belong to; its configuration cannot be read."""
    row = await database.fetch_one(
        "INSERT INTO channel_instance (user_id, channel_id, channel_name, config)"
        " VALUES ('ann', %s, %s, '') RETURNING id",
        (channel_id, name),
    )
    assert row is not None
    return int(row[0])
