"""Conversations in PostgreSQL: their events are leased, and their outcomes recorded by group commit."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.outbound.storage.arrays import Texts, unnest_sql
from adapters.outbound.storage.codec import dump, storable, storable_reason, stored_event
from adapters.outbound.storage.confirmations import HAS_OPEN_APPROVAL
from adapters.outbound.storage.events.recording import detail_sql, log_event_sql
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import STATEMENT_SECONDS, Database
from adapters.outbound.storage.queue.batching import Batcher
from adapters.outbound.storage.queue.direct_dispatch import DirectDispatch
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.queue.outages import through_outage
from adapters.outbound.storage.queue.outcomes import COMPLETE, OutboxRows, columns_of, leased_messages
from adapters.outbound.storage.queue.queues import Queue
from adapters.outbound.storage.queue.states import (
    NOT_OFFERED,
    OFFERED,
    EventStatus,
    QueueKind,
    complete_sql,
    enqueue_sql,
    queued_sql,
)
from domain.channels.messages import Event, Merge
from domain.conversations.model import answer_to
from domain.events import EventKind
from ports.outbox import QueuedMessages
from ports.queue import Album, Capacity, Conversation, EventOutcome, Leases, QueuedEvent, QueueKey

INBOUND = Queue.of(
    QueueKind.INBOUND,
    "inbox",
    "id, event, attempts, received_at, draft, failures",
    flag=f"{HAS_OPEN_APPROVAL}, t.offered",
)

MOST_MERGED = 100
ALBUM = f"""
SELECT id, event, attempts, received_at, draft, failures, extract(epoch FROM now() - received_at)::float8
FROM inbox WHERE {queued_sql(QueueKind.INBOUND, "inbox", "%(instance)s", "%(session)s")}
AND position(%(album)s IN event) > 0
ORDER BY id LIMIT {MOST_MERGED}
"""
"""Index `inbox_by_queue`."""

DRAFTED = f"UPDATE inbox SET draft = %s WHERE id = %s AND status = {EventStatus.QUEUED}"
"""Primary key."""

RETRY = f"""
WITH event AS (
    UPDATE inbox SET failures = failures + 1, error = %s WHERE id = %s AND status = {EventStatus.QUEUED}
    RETURNING instance_id, session_key
)
UPDATE queue q SET owner = NULL, due_at = greatest(now() + make_interval(secs => %s), q.held_until),
    touched_at = now() FROM event e
WHERE q.kind = {QueueKind.INBOUND} AND q.instance_id = e.instance_id AND q.session_key = e.session_key
    AND q.owner = %s
"""
"""Primary keys."""

OFFER = f"""
UPDATE queue SET offered = %s WHERE kind = {QueueKind.INBOUND} AND instance_id = %s AND session_key = %s
"""
"""In the transaction of the outcome. Primary key."""

REMOVE = f"""
WITH {OFFERED}, gone AS (
    DELETE FROM inbox WHERE id = ANY(%(ids)s) AND instance_id = %(instance_id)s AND session_key = %(session_key)s
    AND status = {EventStatus.QUEUED}
    RETURNING id, instance_id, session_key, %(last)s AS last, false AS person, false AS replied,
        NULL::bigint AS minutes
), sent AS (
    INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, apology)
    SELECT g.instance_id, g.session_key, g.id, m.message, %(target)s, m.key, true
    FROM {unnest_sql("messages", "keys")} WITH ORDINALITY AS m(message, key, n) JOIN gone g ON g.id = %(inbox_id)s
    ORDER BY m.n RETURNING instance_id, session_key
), outbound AS ({enqueue_sql(QueueKind.OUTBOUND, "sent")}), inbound AS ({complete_sql(QueueKind.INBOUND, "gone")}),
logged AS ({log_event_sql(EventKind.MESSAGE_FAILED, "gone", data=detail_sql("error", "%(error)s"))})
SELECT count(*) FROM gone
"""
"""Primary keys."""


@dataclass(frozen=True, slots=True)
class Wakeups:
    """Who is woken after a commit, never inside its transaction: the workers of both queues, and the call that waits
    for the answer to an event."""

    inbound: Callable[[], None]
    outbound: Callable[[], None]
    answered: Callable[[int], None]
    inbound_left: Callable[[], None] | None = None
    """A conversation that was released has more events."""


class PostgresConversations:
    """Messages for which the worker of this process has capacity are leased with the outcome and dispatched."""

    def __init__(
        self,
        database: Database,
        leases: LeaseStore,
        wakeups: Wakeups,
        dispatch: DirectDispatch[QueuedMessages],
    ) -> None:
        self._dispatch = dispatch
        self._database = database
        self._leases = leases
        self._wakeups = wakeups
        self._started = time.monotonic()
        self._batcher: Batcher[EventOutcome, bool] = Batcher(self.flush)

    async def lease(self, capacity: Capacity) -> Leases[Conversation]:
        leases = await self._leases.lease(INBOUND, capacity)
        conversations = [
            Conversation(key, [_queued(*row) for *row, _, _ in rows], *rows[0][-2:])
            for key, rows in leases.leased
        ]
        return Leases(conversations, leases.more)

    async def record(self, outcome: EventOutcome) -> bool:
        return await through_outage(lambda: self._batcher.submit(outcome.key, outcome))

    async def flush(self, outcomes: Sequence[EventOutcome]) -> Sequence[bool]:
        rows = [OutboxRows.of(outcome) for outcome in outcomes]
        keys = {outcome.key for outcome in outcomes if outcome.messages}
        with self._dispatch.offering(keys) as offer:
            parameters = {**columns_of(outcomes, rows), **offer.parameters, "owner": self._leases.owner}
            completed = await self._complete(parameters, outcomes)
            offer.leased = leased_messages(rows, completed)
        self._wake(completed)
        recorded = {inbox_id for inbox_id, *_, is_void, _ in completed if not is_void}
        return [outcome.inbox_id in recorded for outcome in outcomes]

    @retried
    async def _complete(
        self, parameters: Mapping[str, object], outcomes: Sequence[EventOutcome]
    ) -> list[tuple[Any, ...]]:
        """One statement, but for answers whose choices are typed: that is on record with them."""
        numbered = {outcome.inbox_id: outcome.key for outcome in outcomes if outcome.numbered}
        if not numbered:
            return await self._database.fetch(COMPLETE, parameters)
        async with self._database.transaction(STATEMENT_SECONDS) as connection:
            completed = await (await connection.execute(COMPLETE, parameters)).fetchall()
            for inbox_id in numbered.keys() & {id for id, *_ in completed}:
                key = numbered[inbox_id]
                offer = (str(answer_to(inbox_id)), key.instance_id, key.session_key)
                await connection.execute(OFFER, offer)
        return completed

    def _wake(self, completed: Sequence[tuple[Any, ...]]) -> None:
        for inbox_id, awaited, *_ in completed:
            if awaited:
                self._wakeups.answered(inbox_id)
        if any(is_open for _, _, is_open, *_ in completed):
            self._wakeups.outbound()
        if any(more and not is_held for *_, more, is_held, _ in completed):
            (self._wakeups.inbound_left or self._wakeups.inbound)()

    async def drafted(self, inbox_id: int, draft: str) -> None:
        await self._database.execute(DRAFTED, (storable(draft), inbox_id))

    async def retry(self, key: QueueKey, inbox_id: int, error: str, delay: float) -> None:
        await self._database.execute(RETRY, (storable_reason(error), inbox_id, delay, self._leases.owner))

    async def remove(self, outcome: EventOutcome) -> bool:
        rows = OutboxRows.of(outcome)
        parameters = {
            **NOT_OFFERED,
            "ids": [outcome.inbox_id, *outcome.merged],
            "instance_id": outcome.key.instance_id,
            "session_key": outcome.key.session_key,
            "last": outcome.last,
            "error": storable_reason(outcome.error or ""),
            "target": rows.target.decode(),
            "messages": Texts(rows.messages),
            "keys": Texts(rows.keys),
            "inbox_id": outcome.inbox_id,
            "owner": self._leases.owner,
        }
        row = await self._database.fetch_one(REMOVE, parameters)
        self._wakeups.inbound()
        self._wakeups.outbound()
        return bool(row and row[0])

    async def release(self, key: QueueKey, delay: float = 0.0) -> None:
        await self._leases.release(INBOUND, key, delay)

    async def album(self, key: QueueKey, merge: Merge | None) -> Album:
        # As `event_to_json` writes it; no text of a sender has these quotes.
        stored = f'"merge":[{dump(merge.key)},' if merge else ""
        rows = await self._database.fetch(
            ALBUM, {"instance": key.instance_id, "session": key.session_key, "album": stored}
        )
        queued = [(_queued(*columns), age) for *columns, age in rows]
        own = [(event, age) for event, age in queued if merge is None or _belongs(event.event, merge)]
        up = time.monotonic() - self._started  # before that nobody may have been there to take in the others
        ages = [min(age, up) for _, age in own] or [math.inf]
        return Album([event for event, _ in own], max(ages), min(ages))

    async def postpone(self, key: QueueKey, delay: float) -> None:
        await self.release(key, delay)
        asyncio.get_running_loop().call_later(delay, self._wakeups.inbound)

    async def close(self) -> None:
        await self._batcher.close()


def _belongs(event: Event, merge: Merge) -> bool:
    return event.merge is not None and event.merge.key == merge.key


def _queued(
    id: int, event: str, attempts: int, at: datetime, draft: str | None, failures: int
) -> QueuedEvent:
    return QueuedEvent(id, stored_event(event), attempts, at, draft or "", failures)
