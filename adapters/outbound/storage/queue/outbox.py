"""The outbox in PostgreSQL: messages in order, retries, dead letters."""

from collections.abc import Callable, Sequence

import orjson

from adapters.outbound.storage.arrays import Bigints, Bools, Texts, columns
from adapters.outbound.storage.codec import storable, storable_reason
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.batching import Batcher, through_outage
from adapters.outbound.storage.queue.leases import OUTBOUND, LeaseStore
from adapters.outbound.storage.queue.statements import SQL, MessageStatus
from domain.channels.answers import OutboundMessage
from domain.channels.messages import DeliveryStatus
from domain.instances.model import Delivery
from domain.paging import Slice, Window
from domain.values import value
from ports.outbox import QueuedMessage, QueuedMessages, SentMessage
from ports.queue import Capacity, Leases, QueueKey

_PENDING, _SENT, _DEAD = MessageStatus
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
        finished = _Finished(message, _SENT, storable(ref) or None, None, last)
        await through_outage(lambda: self._batcher.submit(key, finished))

    async def dead(self, key: QueueKey, message: QueuedMessage, error: str, *, last: bool) -> None:
        finished = _Finished(message, _DEAD, None, storable_reason(error), last)
        await through_outage(lambda: self._batcher.submit(key, finished))

    async def _flush(self, batch: Sequence[_Finished]) -> Sequence[None]:
        rows = [
            (done.message.id, done.message.key, done.status, done.ref, done.error, done.last)
            for done in batch
        ]
        parameters = {**columns(_FINISHED_COLUMNS, rows), "owner": self._leases.owner}
        row = await self._database.fetch_one(SQL["finish_messages"], parameters)
        if row and row[0]:
            self._left()
        return [None] * len(batch)

    async def retry(self, key: QueueKey, message: QueuedMessage, error: str, delay: float) -> None:
        parameters = (storable_reason(error), delay, message.id, message.key, self._leases.owner)
        await self._database.execute(SQL["retry_message"], parameters)

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
        if await self._database.execute(SQL["note_status"], parameters):
            return status.failed
        if not status.key:
            return False
        if not status.failed and await self._database.execute(SQL["recognise_message"], parameters):
            self._enqueued()
        elif status.failed or status.reached:
            return bool(await self._database.execute(SQL["note_early_status"], parameters)) and status.failed
        return False

    async def asked(self, instance_id: int, inbox_id: int) -> Sequence[SentMessage]:
        rows = await self._database.fetch(SQL["prompts_of_event"], (inbox_id, instance_id))
        return [
            SentMessage(OutboundMessage(orjson.loads(message)), orjson.loads(target), ref)
            for message, target, ref in rows
        ]

    async def list(self, instance_id: int, status: str | None, limit: int, offset: int) -> Slice[Delivery]:
        code = MessageStatus[status.upper()] if status else None
        rows = await self._database.fetch(SQL["list_messages"], (instance_id, code, code, limit, offset))
        items = tuple(Delivery(row[0], MessageStatus(row[1]).name.lower(), *row[2:6]) for row in rows)
        if rows:
            total = rows[0][6]
        else:  # the window may lie behind the last one
            total = await self._database.fetch_value(SQL["count_messages"], (instance_id, code, code))
        return Slice(items, Window(limit, offset, total))

    async def replay(self, instance_id: int, message_id: int) -> bool | None:
        parameters = {"message": message_id, "instance": instance_id}
        if await self._database.execute(SQL["replay_message"], parameters):
            self._enqueued()
            return True
        row = await self._database.fetch_one(
            "SELECT 1 FROM outbox WHERE id = %s AND instance_id = %s", (message_id, instance_id)
        )
        return False if row else None

    async def drop(self, instance_id: int, message_id: int) -> bool:
        row = await self._database.fetch_one(SQL["drop_message"], (message_id, instance_id))
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
