"""The outbox in PostgreSQL: messages in order, retries, dead letters."""

from collections.abc import Callable, Sequence

import orjson

from adapters.outbound.storage.arrays import Bigints, Bools, Texts, columns, unnest_sql
from adapters.outbound.storage.codec import storable, storable_reason
from adapters.outbound.storage.events import detail_sql, log_event_sql
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.batching import Batcher, through_outage
from adapters.outbound.storage.queue.leases import LeaseStore, Queue
from adapters.outbound.storage.queue.statements import (
    MessageStatus,
    QueueKind,
    complete_sql,
    enqueue_sql,
    queued_sql,
)
from domain.channels.answers import OutboundMessage
from domain.channels.messages import DeliveryStatus
from domain.delivery.model import LATE_AFTER_DAYS
from domain.events import EventKind
from domain.instances.model import Delivery
from domain.paging import Slice, Window
from domain.values import value
from ports.outbox import QueuedMessage, QueuedMessages, SentMessage
from ports.queue import Capacity, Leases, QueueKey

COLUMNS = f"""
id, message, target, key, attempts, apology,
coalesce(next_attempt_at, created_at) < now() - interval '{LATE_AFTER_DAYS} days' AS late, trace
"""
OUTBOUND = Queue.of(QueueKind.OUTBOUND, "outbox", COLUMNS)
_PENDING, _SENT, _DEAD = MessageStatus
FAILED_EARLY = -1
"""`delivery_state` of a message whose failure the platform reported before its taking was on record."""
_TOLD = f"CASE WHEN status = {_SENT} THEN '{EventKind.DELIVERY_SENT}' ELSE '{EventKind.DELIVERY_DEAD}' END"

_IS_MESSAGE = "coalesce(inbox_id, send_id) IS NOT NULL"
"""Pushes of events are no messages: an event about one would be pushed again."""

FINISH = f"""
WITH r AS (
    SELECT * FROM {unnest_sql("ids", "keys", "statuses", "refs", "errors", "lasts")}
      AS t(id, key, status, ref, error, last)
), done AS (
    UPDATE outbox o SET ref = r.ref, last_error = coalesce(r.error, o.last_error),
        status = CASE WHEN o.delivery_state = {FAILED_EARLY} THEN {_DEAD} ELSE r.status END,
        attempts = o.attempts + 1, next_attempt_at = NULL, finished_at = now()
    FROM r WHERE o.id = r.id AND o.key = r.key AND o.status NOT IN ({_SENT}, {_DEAD})
    RETURNING o.id, o.instance_id, o.session_key, o.status, o.inbox_id, o.send_id, r.error, r.last
), completed AS ({complete_sql(QueueKind.OUTBOUND, "done")}),
logged AS ({log_event_sql(_TOLD, "done", data=detail_sql("reason", "error"), condition=_IS_MESSAGE)})
SELECT bool_or(more) FROM completed
"""
"""A message is found by its id and its key: a database that died may give the id of a message that it forgot to
another. Primary keys; `NOT IN` keeps the planner from an index of what waits, which it would read through for each
message that was sent."""

RETRY = f"""
WITH message AS (
    UPDATE outbox SET attempts = attempts + 1, last_error = %s, delivery_state = NULL,
        next_attempt_at = now() + make_interval(secs => %s)
    WHERE id = %s AND key = %s AND status = {_PENDING} RETURNING instance_id, session_key, next_attempt_at
)
UPDATE queue q SET owner = NULL, due_at = m.next_attempt_at, touched_at = now() FROM message m
WHERE q.kind = {QueueKind.OUTBOUND} AND q.instance_id = m.instance_id AND q.session_key = m.session_key
    AND q.owner = %s
"""
"""Primary keys."""

NOTE_STATUS = f"""
WITH noted AS (
    UPDATE outbox SET status = CASE WHEN %(failed)s THEN {_DEAD} ELSE status END,
        last_error = CASE WHEN %(failed)s THEN %(detail)s ELSE last_error END,
        finished_at = CASE WHEN %(failed)s THEN now() ELSE finished_at END,
        delivery_state = greatest(delivery_state, nullif(%(reached)s, 0))
    WHERE instance_id = %(instance)s AND hashtextextended(ref, 0) = hashtextextended(%(ref)s, 0) AND ref = %(ref)s
        AND status = {_SENT} AND (%(failed)s OR coalesce(delivery_state, 0) < %(reached)s)
    RETURNING id, instance_id, session_key
), logged AS (
    {log_event_sql(EventKind.DELIVERY_DEAD, "noted", data=detail_sql("reason", "%(detail)s"), condition="%(failed)s")}
)
SELECT FROM noted
"""
"""Index `outbox_by_ref`."""

RECOGNISE = f"""
WITH tried AS MATERIALIZED (
    SELECT {QueueKind.OUTBOUND} AS kind, instance_id, session_key FROM outbox
    WHERE instance_id = %(instance)s AND key = %(key)s AND status = {_PENDING} AND attempts > 0
), free AS (
    SELECT q.instance_id, q.session_key FROM tried JOIN queue q USING (kind, instance_id, session_key)
    WHERE q.owner IS NULL FOR UPDATE OF q
), message AS (
    UPDATE outbox o SET status = {_SENT}, ref = %(ref)s, next_attempt_at = NULL, finished_at = now(),
        delivery_state = nullif(%(reached)s, 0) FROM free f
    WHERE {queued_sql(QueueKind.OUTBOUND, "o", "f.instance_id", "f.session_key")} AND o.key = %(key)s
    RETURNING o.id, o.instance_id, o.session_key
), logged AS ({log_event_sql(EventKind.DELIVERY_SENT, "message")})
UPDATE queue q SET pending = q.pending - 1, due_at = now(), touched_at = now() FROM message m
WHERE q.kind = {QueueKind.OUTBOUND} AND q.instance_id = m.instance_id AND q.session_key = m.session_key
"""
"""A message that waits to be sent again, and of which the platform says that it has it. Not while a worker holds the
queue: it may be sending it. Indexes `outbox_by_instance` and `outbox_by_queue`, and the primary key of `queue`."""

NOTE_EARLY = f"""
WITH early AS (
    SELECT id FROM outbox WHERE instance_id = %(instance)s AND key = %(key)s AND status = {_PENDING}
        AND (attempts = 0 OR NOT %(failed)s)
)
UPDATE outbox o SET
    status = CASE WHEN %(failed)s AND o.status = {_SENT} THEN {_DEAD} ELSE o.status END,
    last_error = CASE WHEN %(failed)s THEN %(detail)s ELSE o.last_error END,
    finished_at = CASE WHEN %(failed)s AND o.status = {_SENT} THEN now() ELSE o.finished_at END,
    delivery_state = CASE WHEN %(failed)s THEN {FAILED_EARLY} ELSE greatest(o.delivery_state, %(reached)s) END
FROM early e WHERE o.id = e.id AND o.key = %(key)s AND o.status <> {_DEAD}
"""
"""A message that is just being sent, and of which the platform says already what became of it. Its taking may be
recorded while this waits for the row. A failure may be that of an earlier try. Index `outbox_by_instance`."""

REPLAY = f"""
WITH message AS (
    UPDATE outbox SET status = {_PENDING}, attempts = 0, next_attempt_at = now(), finished_at = NULL,
        delivery_state = NULL
    WHERE id = %(message)s AND instance_id = %(instance)s AND status = {_DEAD} RETURNING instance_id, session_key
)
{enqueue_sql(QueueKind.OUTBOUND, "message")}
"""
"""Primary keys."""

DROP = f"""
WITH message AS (
    DELETE FROM outbox WHERE id = %s AND instance_id = %s RETURNING instance_id, session_key, status
), completed AS (
    UPDATE queue q SET pending = q.pending - 1,
        due_at = CASE WHEN q.owner IS NULL THEN now() ELSE q.due_at END FROM message m
    WHERE m.status = {_PENDING} AND q.kind = {QueueKind.OUTBOUND} AND q.instance_id = m.instance_id
        AND q.session_key = m.session_key
)
SELECT count(*) FROM message
"""
"""Primary keys."""

ASKED = f"""
SELECT message, target, ref FROM outbox
WHERE inbox_id = %s AND prompt AND instance_id = %s AND status = {_SENT} AND ref IS NOT NULL ORDER BY id DESC
"""
"""Index `outbox_by_event`."""

LIST = f"""
SELECT id, status, attempts, last_error, created_at,
    CASE WHEN status = {_PENDING} THEN coalesce(next_attempt_at, created_at) END, count(*) OVER ()
FROM outbox WHERE instance_id = %s AND (%s::int IS NULL OR status = %s) ORDER BY id LIMIT %s OFFSET %s
"""
"""Index `outbox_by_instance`."""

COUNT = "SELECT count(*) FROM outbox WHERE instance_id = %s AND (%s::int IS NULL OR status = %s)"
"""Index `outbox_by_instance`."""


_FINISHED_COLUMNS = {
    "ids": Bigints,
    "keys": Texts,
    "statuses": Bigints,
    "refs": Texts,
    "errors": Texts,
    "lasts": Bools,
}


@value
class _Finished:
    message: QueuedMessage
    status: MessageStatus
    ref: str | None
    error: str | None
    last: bool


class PostgresOutbox:
    """`enqueued` is called when a queue has messages that nobody holds; `left` when the worker of this process has
    just released it."""

    def __init__(
        self,
        database: Database,
        leases: LeaseStore,
        enqueued: Callable[[], None],
        left: Callable[[], None] | None = None,
    ) -> None:
        self._database = database
        self._leases = leases
        self._enqueued = enqueued
        self._left = left or enqueued
        self._batcher: Batcher[_Finished, None] = Batcher(self._flush)

    async def lease(self, capacity: Capacity) -> Leases[QueuedMessages]:
        leases = await self._leases.lease(OUTBOUND, capacity)
        queued = [QueuedMessages(key, [_queued(*row) for row in rows]) for key, rows in leases.leased]
        return Leases(queued, leases.more)

    async def sent(self, key: QueueKey, message: QueuedMessage, ref: str, *, last: bool) -> None:
        await self._finish(key, _Finished(message, _SENT, storable(ref) or None, None, last))

    async def dead(self, key: QueueKey, message: QueuedMessage, error: str, *, last: bool) -> None:
        await self._finish(key, _Finished(message, _DEAD, None, storable_reason(error), last))

    async def _finish(self, key: QueueKey, finished: _Finished) -> None:
        await through_outage(lambda: self._batcher.submit(key, finished))

    async def _flush(self, batch: Sequence[_Finished]) -> Sequence[None]:
        rows = [
            (done.message.id, done.message.key, done.status, done.ref, done.error, done.last)
            for done in batch
        ]
        parameters = {**columns(_FINISHED_COLUMNS, rows), "owner": self._leases.owner}
        row = await self._database.fetch_one(FINISH, parameters)
        if row and row[0]:
            self._left()
        return [None] * len(batch)

    async def retry(self, key: QueueKey, message: QueuedMessage, error: str, delay: float) -> None:
        parameters = (storable_reason(error), delay, message.id, message.key, self._leases.owner)
        await self._database.execute(RETRY, parameters)

    async def release(self, key: QueueKey, delay: float = 0.0) -> None:
        await self._leases.release(OUTBOUND, key, delay)

    async def record_status(self, instance_id: int, status: DeliveryStatus) -> bool:
        parameters = {
            "instance": instance_id,
            "ref": storable(status.ref),
            "key": storable(status.key),
            "failed": status.failed,
            "detail": storable_reason(status.detail),
            "reached": 0 if status.failed else status.reached,
        }
        if await self._database.execute(NOTE_STATUS, parameters):
            return status.failed
        if not status.key:
            return False
        if not status.failed and await self._database.execute(RECOGNISE, parameters):
            self._enqueued()
        elif status.failed or status.reached:
            return bool(await self._database.execute(NOTE_EARLY, parameters)) and status.failed
        return False

    async def asked(self, instance_id: int, inbox_id: int) -> Sequence[SentMessage]:
        rows = await self._database.fetch(ASKED, (inbox_id, instance_id))
        return [
            SentMessage(OutboundMessage(orjson.loads(message)), orjson.loads(target), ref)
            for message, target, ref in rows
        ]

    async def list(self, instance_id: int, status: str | None, limit: int, offset: int) -> Slice[Delivery]:
        code = MessageStatus[status.upper()] if status else None
        rows = await self._database.fetch(LIST, (instance_id, code, code, limit, offset))
        items = tuple(Delivery(row[0], MessageStatus(row[1]).name.lower(), *row[2:6]) for row in rows)
        total = rows[0][6] if rows else await self._count(instance_id, code)
        return Slice(items, Window(limit, offset, total))

    async def _count(self, instance_id: int, status: MessageStatus | None) -> int:
        [(count,)] = await self._database.fetch(COUNT, (instance_id, status, status))
        return int(count)

    async def replay(self, instance_id: int, message_id: int) -> bool | None:
        parameters = {"message": message_id, "instance": instance_id}
        if await self._database.execute(REPLAY, parameters):
            self._enqueued()
            return True
        row = await self._database.fetch_one(
            "SELECT 1 FROM outbox WHERE id = %s AND instance_id = %s", (message_id, instance_id)
        )
        return False if row else None

    async def drop(self, instance_id: int, message_id: int) -> bool:
        row = await self._database.fetch_one(DROP, (message_id, instance_id))
        return bool(row and row[0])

    async def close(self) -> None:
        await self._batcher.close()


def _queued(
    id: int,
    message: str,
    target: str,
    key: str,
    attempts: int,
    apology: bool,
    late: bool,
    trace: str | None,
) -> QueuedMessage:
    """A row that cannot be read concerns itself alone: its message says why."""
    try:
        read = OutboundMessage(orjson.loads(message))
        goes_to = orjson.loads(target)
        return QueuedMessage(id, read, goes_to, key, attempts, apology, late=late, trace=trace or "")
    except ValueError:
        reason = "the stored message cannot be read: it is not JSON"
        return QueuedMessage(id, OutboundMessage({}), {}, key, attempts, apology, unreadable=reason)
