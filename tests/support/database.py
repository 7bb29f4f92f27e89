"""A database of the test's own, and what most tests need in it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from adapters.outbound.storage.conversations.messages import PostgresMessages
from adapters.outbound.storage.conversations.store import PostgresConversationStore
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.instances import PostgresInstances
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.schedules import PostgresSchedules
from adapters.outbound.system.encryption import ConfigCipher, new_key

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


def schedules_of(
    database: Database, worker_id: int = 1, changed: Callable[[int], None] = lambda _: None
) -> PostgresSchedules:
    """The schedules of one process. `changed` is called with the id of an instance that retired itself."""
    instances = PostgresInstances(database, ConfigCipher(new_key()), changed)
    return PostgresSchedules(database, worker_id, instances, PostgresHealth(database), lambda: None)


def messages_of(database: Database) -> PostgresMessages:
    return PostgresMessages(database, lambda: None, lambda: None)


def conversations_of(database: Database) -> PostgresConversationStore:
    async def delete(_: object) -> None:
        """Blobs stay."""

    return PostgresConversationStore(database, lambda: None, delete, lambda _: None)
