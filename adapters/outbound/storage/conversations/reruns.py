"""Messages that were given up are processed or sent again."""

from collections.abc import Callable
from dataclasses import dataclass

import orjson

from adapters.outbound.clock import new_uuid
from adapters.outbound.storage.codec import dump
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.states import (
    NOT_OFFERED,
    OFFERED,
    EventStatus,
    MessageStatus,
    QueueKind,
    enqueue_sql,
)
from domain.conversations.model import MessageId, MessageKind
from ports.conversations import Rerun

STORED = "SELECT event, status FROM inbox WHERE id = %s AND instance_id = %s AND event <> '{}' FOR UPDATE"
"""Primary key."""

PROCESS = f"""
WITH {OFFERED}, message AS (
    UPDATE inbox SET status = {EventStatus.QUEUED}, event = %(event)s, attempts = 0, failures = 0, error = NULL,
        answer = NULL, result = NULL, draft = NULL, await_until = NULL, taken = false, finished_at = NULL
    WHERE id = %(id)s RETURNING instance_id, session_key
)
{enqueue_sql(QueueKind.INBOUND, "message")}
"""
"""Primary keys."""

_SEND = f"""
WITH {OFFERED}, message AS (
    UPDATE outbox SET status = {MessageStatus.PENDING}, attempts = 0, next_attempt_at = now(), finished_at = NULL
    WHERE {{column}} = %(id)s AND instance_id = %(instance)s AND status = {MessageStatus.DEAD}
    RETURNING instance_id, session_key
)
{enqueue_sql(QueueKind.OUTBOUND, "message")}
"""


@dataclass(frozen=True, slots=True)
class _Outbound:
    """The statements on one kind of outbound messages."""

    send: str
    exists: str


ANSWER = _Outbound(
    _SEND.format(column="inbox_id"),
    "SELECT 1 FROM inbox WHERE id = %s AND instance_id = %s AND answer IS NOT NULL",
)
"""Index `outbox_by_event`, and the primary keys of `queue` and `inbox`."""
SENT_FIRST = _Outbound(
    _SEND.format(column="send_id"), "SELECT 1 FROM send WHERE id = %s AND instance_id = %s"
)
"""Index `outbox_by_send`, and the primary keys of `queue` and `send`."""


class Reruns:
    """`inbound` and `outbound` wake the workers of both queues."""

    def __init__(self, database: Database, inbound: Callable[[], None], outbound: Callable[[], None]) -> None:
        self._database = database
        self._inbound = inbound
        self._outbound = outbound

    async def rerun(self, instance_id: int, message: MessageId) -> Rerun:
        if message.kind is MessageKind.INBOUND:
            result = await self._process(instance_id, message.row)
            self._inbound()
            return result
        outbound = ANSWER if message.kind is MessageKind.ANSWER else SENT_FIRST
        parameters = {**NOT_OFFERED, "id": message.row, "instance": instance_id}
        if await self._database.execute(outbound.send, parameters):
            self._outbound()
            return Rerun.STARTED
        known = await self._database.fetch(outbound.exists, (message.row, instance_id))
        return Rerun.NOT_FAILED if known else Rerun.UNKNOWN

    @retried
    async def _process(self, instance_id: int, inbox_id: int) -> Rerun:
        """Under another request id: a resource must not take it for a repetition, nor a platform its answer."""
        async with self._database.transaction() as connection:
            row = await (await connection.execute(STORED, (inbox_id, instance_id))).fetchone()
            if row is None:
                return Rerun.UNKNOWN
            event, status = row
            if status != EventStatus.FAILED:
                return Rerun.NOT_FAILED
            again = dump({**orjson.loads(event), "request": new_uuid()})
            await connection.execute(PROCESS, {**NOT_OFFERED, "id": inbox_id, "event": again})
        return Rerun.STARTED
