"""The outbox in PostgreSQL: parts in order, retries, dead letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson

from adapters.outbound.storage.arrays import Bigints, Bools, Texts
from adapters.outbound.storage.batching import Batcher
from adapters.outbound.storage.codec import storable, storable_reason
from adapters.outbound.storage.leases import (
    NOT_OFFERED,
    OFFERED,
    OUTBOUND,
    LeaseStore,
    Side,
    complete_sql,
    enqueue_sql,
)
from adapters.outbound.storage.outages import waited_out
from adapters.outbound.storage.pool import Database
from domain.channels.messages import DeliveryStatus, OutboundMessage
from domain.instances.model import Deliveries, Delivery, Page
from ports.outbox import QueuedMessage, QueuedMessages, SentMessage
from ports.queue import Capacity, Leases, QueueKey

SIDE = Side(OUTBOUND, "outbox", "id message target key attempts apology")

PENDING, SENT, DEAD = 0, 1, 2
STATUS = {"pending": PENDING, "sent": SENT, "dead": DEAD}
NAMES = {code: name for name, code in STATUS.items()}

FINISH = f"""
WITH r AS (
    SELECT * FROM unnest(%(ids)s, %(keys)s, %(statuses)s, %(refs)s, %(errors)s, %(lasts)s)
      AS t(id, key, status, ref, error, last)
), done AS (
    UPDATE outbox o SET status = r.status, ref = r.ref, last_error = coalesce(r.error, o.last_error),
        attempts = o.attempts + 1, next_attempt_at = NULL, finished_at = now()
    FROM r WHERE o.id = r.id AND o.key = r.key AND o.status = 0
    RETURNING o.instance_id, o.session_key, r.last
), settled AS ({complete_sql(OUTBOUND, "done")})
SELECT bool_or(more) FROM settled
"""
"""A part is known by its id and its key: a database that died may give the id of a part that it forgot to another."""

RETRY = """
WITH part AS (
    UPDATE outbox SET attempts = attempts + 1, last_error = %s,
        next_attempt_at = now() + make_interval(secs => %s)
    WHERE id = %s AND key = %s AND status = 0 RETURNING instance_id, session_key, next_attempt_at
)
UPDATE queue l SET owner = NULL, due_at = p.next_attempt_at, touched_at = now() FROM part p
WHERE l.kind = 1 AND l.instance_id = p.instance_id AND l.session_key = p.session_key AND l.owner = %s
"""

RECOGNISE = """
WITH free AS (
    SELECT l.instance_id, l.session_key FROM queue l JOIN outbox o USING (instance_id, session_key)
    WHERE l.kind = 1 AND l.owner IS NULL AND o.instance_id = %(instance)s AND o.key = %(key)s
        AND o.status = 0 AND o.attempts > 0
    FOR UPDATE OF l
), part AS (
    UPDATE outbox o SET status = 1, ref = %(ref)s, next_attempt_at = NULL, finished_at = now() FROM free f
    WHERE o.instance_id = f.instance_id AND o.session_key = f.session_key AND o.key = %(key)s AND o.status = 0
    RETURNING o.instance_id, o.session_key
)
UPDATE queue l SET pending = l.pending - 1, due_at = now(), touched_at = now() FROM part p
WHERE l.kind = 1 AND l.instance_id = p.instance_id AND l.session_key = p.session_key
"""
"""A part that waits to be sent again, and of which the platform says that it has it. While a worker holds the
lane it is left alone: a try may be under way."""

REPLAY = f"""
WITH {OFFERED}, part AS (
    UPDATE outbox SET status = 0, attempts = 0, next_attempt_at = NULL, finished_at = NULL
    WHERE id = %(part)s AND instance_id = %(instance)s AND status = 2 RETURNING instance_id, session_key
)
{enqueue_sql(OUTBOUND, "part")}
"""

DROP = """
WITH part AS (
    DELETE FROM outbox WHERE id = %s AND instance_id = %s RETURNING instance_id, session_key, status
), settled AS (
    UPDATE queue l SET pending = l.pending - 1,
        due_at = CASE WHEN l.owner IS NULL THEN now() ELSE l.due_at END FROM part p
    WHERE p.status = 0 AND l.kind = 1 AND l.instance_id = p.instance_id AND l.session_key = p.session_key
)
SELECT count(*) FROM part
"""

ASKED = """
SELECT message, target, ref FROM outbox
WHERE inbox_id = %s AND prompt AND instance_id = %s AND status = 1 AND ref IS NOT NULL ORDER BY id DESC
"""

LIST = """
SELECT id, status, attempts, last_error, created_at,
    CASE WHEN status = 0 THEN coalesce(next_attempt_at, created_at) END, count(*) OVER ()
FROM outbox WHERE instance_id = %s AND (%s::int IS NULL OR status = %s) ORDER BY id LIMIT %s OFFSET %s
"""


@dataclass(frozen=True, slots=True)
class _Finished:
    part: QueuedMessage
    status: int
    ref: str | None
    error: str | None
    last: bool


class PostgresOutbox:
    """`waiting` is called when a lane has rows that nobody holds."""

    def __init__(self, database: Database, keys: LeaseStore, waiting: Callable[[], None]) -> None:
        self._database = database
        self._leases = keys
        self._waiting = waiting
        self._batcher: Batcher[_Finished, None] = Batcher(self._flush)

    async def lease(self, room: Capacity) -> Leases[QueuedMessages]:
        leased = await self._leases.lease(SIDE, room)
        outgoing = [QueuedMessages(key, [_outgoing(*row) for row in rows]) for key, rows in leased.leased]
        return Leases(outgoing, leased.more)

    async def sent(self, key: QueueKey, part: QueuedMessage, ref: str, *, last: bool) -> None:
        await self._finish(key, _Finished(part, SENT, storable(ref) or None, None, last))

    async def dead(self, key: QueueKey, part: QueuedMessage, error: str, *, last: bool) -> None:
        await self._finish(key, _Finished(part, DEAD, None, storable_reason(error), last))

    async def _finish(self, key: QueueKey, finished: _Finished) -> None:
        await waited_out(lambda: self._batcher.submit(key, finished))

    async def _flush(self, batch: Sequence[_Finished]) -> Sequence[None]:
        row = await self._database.fetch_one(
            FINISH,
            {
                "ids": Bigints(each.part.id for each in batch),
                "keys": Texts(each.part.key for each in batch),
                "statuses": Bigints(each.status for each in batch),
                "refs": Texts(each.ref for each in batch),
                "errors": Texts(each.error for each in batch),
                "lasts": Bools(each.last for each in batch),
                "owner": self._leases.owner,
            },
        )
        if row and row[0]:
            self._waiting()
        return [None] * len(batch)

    async def retry(self, key: QueueKey, part: QueuedMessage, error: str, delay: float) -> None:
        await self._database.execute(
            RETRY, (storable_reason(error), delay, part.id, part.key, self._leases.owner)
        )

    async def release(self, key: QueueKey, delay: float = 0.0) -> None:
        await self._leases.release(SIDE, key, delay)

    async def receipt(self, instance_id: int, receipt: DeliveryStatus) -> bool:
        ref = storable(receipt.ref)
        told = await self._database.execute(
            "UPDATE outbox SET status = CASE WHEN %s THEN 2 ELSE status END,"
            " last_error = CASE WHEN %s THEN %s ELSE last_error END"
            " WHERE instance_id = %s AND hashtextextended(ref, 0) = hashtextextended(%s, 0) AND ref = %s"
            " AND status = 1",
            (receipt.failed, receipt.failed, storable_reason(receipt.detail), instance_id, ref, ref),
        )
        if (
            receipt.key
            and not receipt.failed
            and await self._database.execute(
                RECOGNISE,
                {"instance": instance_id, "key": storable(receipt.key), "ref": ref},
            )
        ):
            self._waiting()
        return bool(told) and receipt.failed

    async def asked(self, instance_id: int, inbox_id: int) -> Sequence[SentMessage]:
        rows = await self._database.fetch(ASKED, (inbox_id, instance_id))
        return [
            SentMessage(OutboundMessage(orjson.loads(part)), orjson.loads(target), ref)
            for part, target, ref in rows
        ]

    async def list(self, instance_id: int, status: str | None, limit: int, offset: int) -> Deliveries:
        code = STATUS[status] if status else None
        rows = await self._database.fetch(LIST, (instance_id, code, code, limit, offset))
        items = tuple(Delivery(row[0], NAMES[row[1]], row[2], row[3], row[4], row[5]) for row in rows)
        total = rows[0][6] if rows else await self._count(instance_id, code)
        return Deliveries(items, Page(limit, offset, total))

    async def _count(self, instance_id: int, code: int | None) -> int:
        row = await self._database.fetch_one(
            "SELECT count(*) FROM outbox WHERE instance_id = %s AND (%s::int IS NULL OR status = %s)",
            (instance_id, code, code),
        )
        assert row is not None
        return int(row[0])

    async def replay(self, instance_id: int, part_id: int) -> bool | None:
        if await self._database.execute(REPLAY, {**NOT_OFFERED, "part": part_id, "instance": instance_id}):
            self._waiting()
            return True
        row = await self._database.fetch_one(
            "SELECT 1 FROM outbox WHERE id = %s AND instance_id = %s", (part_id, instance_id)
        )
        return False if row else None

    async def drop(self, instance_id: int, part_id: int) -> bool:
        row = await self._database.fetch_one(DROP, (part_id, instance_id))
        return bool(row and row[0])

    async def close(self) -> None:
        await self._batcher.close()


def _outgoing(id: int, part: str, target: str, key: str, attempts: int, apology: bool) -> QueuedMessage:
    """A row that cannot be read concerns itself alone: the part says why."""
    try:
        return QueuedMessage(
            id, OutboundMessage(orjson.loads(part)), orjson.loads(target), key, attempts, apology
        )
    except ValueError as error:
        reason = f"the stored part cannot be read: {error}"
        return QueuedMessage(id, OutboundMessage({}), {}, key, attempts, apology, unreadable=reason)
