"""Events that share a commit keep the order in which they came, whatever plan the database chooses."""

import asyncio

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.inbox import PostgresInbox
from domain.channels.messages import Event, Sender

MANY = 400


async def test_one_batch_is_stored_in_order(database_url: str) -> None:
    database = Database(database_url)
    await database.open()
    ids = await database.fetch(
        "INSERT INTO channel_instance (user_id, channel_id, channel_name, config)"
        " SELECT 'ann', 'http-webhook', 'n' || g, '\\x00' FROM generate_series(1, 40) g RETURNING id"
    )
    inbox = PostgresInbox(database, lambda: None)

    await asyncio.gather(
        *(
            inbox.add(
                ids[number % 40][0],
                [Event(f"e{number}", f"s{number % 3}", Sender("x"), str(number), {}, request_id="r")],
            )
            for number in range(MANY)
        )
    )

    rows = await database.fetch(
        "SELECT instance_id, session_key, event::json->>'text' FROM inbox ORDER BY id"
    )
    await database.close()
    assert len(rows) == MANY
    seen: dict[tuple[int, str], list[int]] = {}
    for instance_id, session_key, text in rows:
        seen.setdefault((instance_id, session_key), []).append(int(text))
    assert all(numbers == sorted(numbers) for numbers in seen.values())
