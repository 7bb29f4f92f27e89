"""The bytes of message files are held as long as their links are good, and as long as a reply needs them."""

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial

import orjson
import pytest

from adapters.outbound.storage.blobs import PostgresBlobReferences
from adapters.outbound.storage.pool import Database
from ports.files import StoredBlob
from tests.support.knowledge import Knowledge

PENDING, SENT, DEAD = 0, 1, 2


async def _content() -> AsyncIterator[bytes]:
    yield b"a drawing of a valve"


async def _stored(knowledge: Knowledge) -> str:
    async def hold(blob: StoredBlob) -> None:
        await knowledge.holds.hold(blob.key, blob.size)

    return (await knowledge.blobs.put(_content(), 1000, partial(hold))).key


async def _reply(database: Database, key: str, status: int) -> None:
    part = orjson.dumps({"kind": "file", "name": "a.png", "blob": key, "size": 20}).decode()
    await database.execute(
        "INSERT INTO outbox (instance_id, session_key, message, target, key, status, created_at)"
        " VALUES (1, 's', %s, '{}', 'k', %s, now() - interval '40 days')",
        (part, status),
    )


async def _stored_keys(knowledge: Knowledge) -> list[str]:
    found = knowledge.blobs.keys()
    return [key async for key, _ in found]


async def _age(database: Database, days: int) -> None:
    await database.execute("UPDATE blob SET touched_at = now() - make_interval(days => %s)", (days,))


@pytest.mark.parametrize(("status", "kept"), [(PENDING, True), (DEAD, True), (SENT, False)])
async def test_the_file_of_a_reply_that_was_not_sent_is_kept(
    knowledge: Knowledge, database: Database, status: int, kept: bool
) -> None:
    key = await _stored(knowledge)
    await _reply(database, key, status)
    await _age(database, 30)
    await knowledge.sweeper.sweep()
    assert await _stored_keys(knowledge) == ([key] if kept else [])
    await database.execute("DELETE FROM outbox")
    await _age(database, 30)
    await knowledge.sweeper.sweep()
    assert await _stored_keys(knowledge) == []


async def test_bytes_are_held_for_a_day_longer_than_links(database: Database) -> None:
    holds = PostgresBlobReferences(database, timedelta(days=7))
    await holds.hold("k1", 5)
    await _age(database, 7)
    assert await holds.left_over(10) == []
    await _age(database, 9)
    assert await holds.left_over(10) == ["k1"]
