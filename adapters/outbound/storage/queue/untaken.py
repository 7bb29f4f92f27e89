"""Answers whose waiting call went away without taking them go out as messages."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence

import orjson

from adapters.outbound.storage.arrays import Texts, unnest_sql
from adapters.outbound.storage.codec import dump, dump_bytes
from adapters.outbound.storage.events.recording import log_event_sql
from adapters.outbound.storage.failures import by_halves, is_of_rows, retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.states import (
    NOT_OFFERED,
    OFFERED,
    EventStatus,
    QueueKind,
    enqueue_sql,
)
from domain.channels.messages import CallOutcome
from domain.events import EventKind
from domain.refusals import INTERNAL

log = logging.getLogger(__name__)

UNTAKEN = """
SELECT id FROM inbox WHERE await_until < now() - interval '2 seconds' AND NOT taken AND result IS NOT NULL
ORDER BY await_until LIMIT 100
"""
"""Index `inbox_awaited`."""

TAKE = """
UPDATE inbox SET taken = true WHERE id IN (
    SELECT id FROM inbox WHERE id = ANY(%s) AND NOT taken FOR UPDATE SKIP LOCKED
) RETURNING id, instance_id, session_key, result
"""
"""Primary key."""

SEND_UNTAKEN = f"""
WITH {OFFERED}, sent AS (
    INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, apology)
    SELECT %(instance_id)s, %(session_key)s, %(inbox_id)s, m.message, %(target)s, m.key, %(apology)s
    FROM {unnest_sql("messages", "keys")} WITH ORDINALITY AS m(message, key, n)
    ORDER BY m.n RETURNING instance_id, session_key
)
{enqueue_sql(QueueKind.OUTBOUND, "sent")}
"""
"""Primary key of `queue`."""

GIVE_UP = f"""
WITH failed AS (
    UPDATE inbox SET status = {EventStatus.FAILED}, error = %s WHERE id = %s RETURNING id, instance_id, session_key
)
{log_event_sql(EventKind.MESSAGE_FAILED, "failed")}
"""
"""Primary key."""


class UntakenAnswers:
    def __init__(self, database: Database, enqueued: Callable[[], None]) -> None:
        self._database = database
        self._enqueued = enqueued

    async def send(self) -> int:
        """How many were sent."""
        untaken = [id for (id,) in await self._database.fetch(UNTAKEN)]
        count = 0

        async def send(ids: Sequence[int]) -> None:
            nonlocal count
            count += await self._take(ids)

        refused = await by_halves(untaken, send) if untaken else []
        if count:
            self._enqueued()
        if refused:
            raise refused[0][1]
        return count

    @retried
    async def _take(self, ids: Sequence[int]) -> int:
        async with self._database.transaction() as connection:
            rows = await (await connection.execute(TAKE, (ids,))).fetchall()
            for row in rows:
                await self._send(connection, *row)
        return len(rows)

    async def _send(
        self, connection: Connection, inbox_id: int, instance_id: int, session_key: str, result: str
    ) -> None:
        """An answer that cannot be sent does not hold up the others."""
        row = {"inbox_id": inbox_id, "instance_id": instance_id, "session_key": session_key}
        try:
            async with connection.transaction():
                await connection.execute(SEND_UNTAKEN, {**NOT_OFFERED, **row, **_untaken_columns(result)})
        except Exception as error:
            if not is_of_rows(error, lost=connection.closed):
                raise
            log.exception("an untaken answer is given up", extra={"instance": instance_id})
            reason = f"the answer that no call took could not be sent: {INTERNAL}"
            await connection.execute(GIVE_UP, (reason, inbox_id))


def _untaken_columns(result: str) -> dict[str, object]:
    stored = orjson.loads(result)
    return {
        "target": dump(stored["target"]),
        "messages": Texts(dump_bytes(message) for message in stored["parts"]),
        "keys": Texts(str(uuid.uuid4()) for _ in stored["parts"]),
        "apology": stored["outcome"] == CallOutcome.FAILED,
    }
