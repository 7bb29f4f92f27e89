"""The inbox in PostgreSQL: group commit, each event once, answers for waiting calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from adapters.outbound.clock import new_uuid
from adapters.outbound.storage.arrays import Bigints, Doubles, Texts, unnest_sql
from adapters.outbound.storage.codec import event_from_json, event_to_json, key_of, result_from_json, storable
from adapters.outbound.storage.confirmations import HAS_OPEN_APPROVAL
from adapters.outbound.storage.events.recording import log_event_sql
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.batching import Batcher
from adapters.outbound.storage.queue.direct_dispatch import DirectDispatch
from adapters.outbound.storage.queue.echoes import ECHOES, echo_columns
from adapters.outbound.storage.queue.states import OFFERED, ROWS_PER_LEASE, QueueKind, enqueue_sql
from adapters.outbound.storage.statements import compact
from domain.channels.messages import Event, Quoted
from domain.events import EventKind
from domain.refusals import Unavailable
from domain.values import value
from ports.queue import Accepted, CallResult, Conversation, QueuedEvent, QueueKey

ENQUEUE = compact(f"""
WITH {OFFERED}, {ECHOES}, input AS (
    SELECT t.*
    FROM {unnest_sql("instances", "sessions", "keys", "events", "waits")} WITH ORDINALITY
      AS t(instance_id, session_key, event_key, event, wait, n)
    JOIN channel_instance i ON i.id = t.instance_id WHERE t.n NOT IN (TABLE echoes)
), fresh AS (
    INSERT INTO inbox (instance_id, session_key, event_key, event, await_until)
    SELECT instance_id, session_key, event_key, event, now() + make_interval(secs => wait) FROM input ORDER BY n
    ON CONFLICT (instance_id, event_key) DO NOTHING
    RETURNING id, instance_id, session_key, event_key
), enqueued AS ({enqueue_sql(QueueKind.INBOUND, "fresh")}),
logged AS ({log_event_sql(EventKind.MESSAGE_RECEIVED, "fresh")})
SELECT t.instance_id, t.event_key, t.id, q.open,
    CASE WHEN q.leased THEN (SELECT user_id FROM channel_instance i WHERE i.id = t.instance_id) END,
    q.leased AND ({HAS_OPEN_APPROVAL}), q.offered
FROM fresh t JOIN enqueued q ON q.instance_id = t.instance_id AND q.session_key = t.session_key ORDER BY t.id
""")
"""Stores the events that are new and no echoes. Of each: its instance, key and id, whether its queue is to be leased,
where it was leased for this process its user and whether it has an open approval, and what was offered last.
Index `inbox_event`, and the primary key of `queue`."""

FIND = """
SELECT t.n, i.id FROM unnest(%s, %s) WITH ORDINALITY AS t(instance_id, event_key, n)
JOIN channel_instance c ON c.id = t.instance_id
LEFT JOIN inbox i ON i.instance_id = t.instance_id AND i.event_key = t.event_key
"""
"""The ids of events that were not stored; none where one was dropped as an echo. Index `inbox_event`."""

FOLLOWS = f"""
SELECT EXISTS (
    SELECT FROM queue WHERE kind = {QueueKind.OUTBOUND} AND instance_id = %(instance)s AND session_key = %(session)s
) OR EXISTS (
    SELECT FROM queue WHERE kind = {QueueKind.INBOUND} AND instance_id = %(instance)s AND session_key = %(session)s
        AND pending > 0
) OR EXISTS (
    SELECT FROM outbox WHERE instance_id = %(instance)s AND ref IS NOT NULL AND ref = %(root)s
        AND hashtextextended(ref, 0) = hashtextextended(%(root)s, 0)
        AND (%(root_session)s::text IS NULL OR session_key = %(root_session)s)
)
"""
"""Whether an answer was sent in the session, or is on its way, or we wrote the message with which the thread began.
Primary key, and index `outbox_by_ref`."""

SENT = """
SELECT EXISTS (
    SELECT FROM outbox WHERE instance_id = %(instance)s AND ref IS NOT NULL AND ref = %(ref)s
        AND hashtextextended(ref, 0) = hashtextextended(%(ref)s, 0)
)
"""
"""Whether the instance sent a message that the platform knows by this id. Index `outbox_by_ref`."""

TAKE_RESULT = "UPDATE inbox SET taken = true WHERE id = %s AND result IS NOT NULL RETURNING result"
"""Primary key."""

STOP_WAITING = """
UPDATE inbox SET await_until = CASE WHEN result IS NULL THEN NULL ELSE await_until END,
    taken = taken OR result IS NOT NULL WHERE id = %s RETURNING result
"""
"""Primary key."""


@value
class InboxRow:
    """`stored` is the JSON text of `event`."""

    instance_id: int
    session_key: str
    event_key: str
    stored: bytes
    event: Event
    wait: float | None = None

    @classmethod
    def of(cls, instance_id: int, event: Event, wait: float | None = None) -> InboxRow:
        """An event without a key has its request id for one, as a gateway sends a call again when a core goes away
        over it. One without a request id gets a fresh one: by it resources recognise the event at each try."""
        request_id = event.request_id or new_uuid()
        key = key_of(event.key if event.key is not None else f"none:{request_id}")
        stored = event_to_json(event, request_id)
        return cls(instance_id, key_of(event.session_id), key, stored, event, wait)


def columns_of(rows: Sequence[InboxRow]) -> dict[str, object]:
    """The parameters of `ENQUEUE`, those of direct dispatch aside."""
    return {
        "instances": Bigints(row.instance_id for row in rows),
        "sessions": Texts(row.session_key for row in rows),
        "keys": Texts(row.event_key for row in rows),
        "events": Texts(row.stored for row in rows),
        "waits": Doubles(row.wait for row in rows),
        **echo_columns(
            (n, row.instance_id, row.session_key, row.event) for n, row in enumerate(rows, start=1)
        ),
    }


class PostgresInbox:
    """`enqueued` is called after each commit that brought events for which nobody is on the way yet.

    What the worker of this process has capacity for is leased to `owner` in the same statement and dispatched.
    """

    def __init__(
        self,
        database: Database,
        enqueued: Callable[[], None],
        owner: int | None = None,
        dispatch: DirectDispatch[Conversation] | None = None,
    ) -> None:
        self._database = database
        self._enqueued = enqueued
        self._owner = owner
        self._dispatch: DirectDispatch[Conversation] = dispatch or DirectDispatch()
        self._batcher: Batcher[InboxRow, Accepted] = Batcher(self.flush)

    async def add(
        self, instance_id: int, events: Sequence[Event], wait: float | None = None
    ) -> Sequence[Accepted]:
        """An event that cannot be stored does not keep the others out; its error is raised after them."""
        accepted: list[Accepted] = []
        failure: Exception | None = None
        for event in events:
            if not await self._is_wanted(instance_id, event):
                accepted.append(Accepted(0, fresh=False, dropped=True))
                continue
            try:
                row = InboxRow.of(instance_id, event, wait)
                accepted.append(await self._batcher.submit((instance_id, row.session_key), row))
            except Unavailable:
                raise
            except Exception as error:  # noqa: BLE001 - raised below
                failure = failure or error
        if failure is not None:
            raise failure
        return accepted

    async def _is_wanted(self, instance_id: int, event: Event) -> bool:
        if event.reacts_to:
            ref = {"instance": instance_id, "ref": storable(event.reacts_to)}
            row = await self._database.fetch_one(SENT, ref)
            return bool(row and row[0])
        return not event.only_followed or await self._follows(instance_id, event)

    async def _follows(self, instance_id: int, event: Event) -> bool:
        root = event.quoted or Quoted()
        parameters = {
            "instance": instance_id,
            "session": key_of(event.session_id),
            "root": storable(root.ref) or None,
            "root_session": key_of(root.session) if root.session else None,
        }
        row = await self._database.fetch_one(FOLLOWS, parameters)
        return bool(row and row[0])

    async def flush(self, rows: Sequence[InboxRow]) -> Sequence[Accepted]:
        with self._dispatch.offering(_keys(rows)) as offer:
            parameters = {**columns_of(rows), **offer.parameters, "owner": self._owner}
            stored = await self._database.fetch(ENQUEUE, parameters)
            offer.leased = _leased(rows, stored)
        if any(is_open for _, _, _, is_open, _, _, _ in stored):
            self._enqueued()
        fresh = {(instance_id, key): id for instance_id, key, id, _, _, _, _ in stored}
        ids = [fresh.pop((row.instance_id, row.event_key), None) for row in rows]
        return await self._accepted(rows, ids)

    async def _accepted(self, rows: Sequence[InboxRow], ids: Sequence[int | None]) -> Sequence[Accepted]:
        """Looks up those that had been stored before."""
        missing = [n for n, id in enumerate(ids) if id is None]
        earlier: dict[int, int | None] = {}
        if missing:
            instances, keys = (rows[n].instance_id for n in missing), (rows[n].event_key for n in missing)
            stored = await self._database.fetch(FIND, (Bigints(instances), Texts(keys)))
            earlier = {missing[n - 1]: id for n, id in stored}
        return [
            Accepted(id, fresh=True)
            if id
            else Accepted(earlier.get(n) or 0, fresh=False, dropped=n in earlier and earlier[n] is None)
            for n, id in enumerate(ids)
        ]

    async def result(self, inbox_id: int) -> CallResult | None:
        row = await self._database.fetch_one(TAKE_RESULT, (inbox_id,))
        return result_from_json(row[0]) if row else None

    async def stop_waiting(self, inbox_id: int) -> CallResult | None:
        row = await self._database.fetch_one(STOP_WAITING, (inbox_id,))
        return result_from_json(row[0]) if row and row[0] else None

    async def close(self) -> None:
        await self._batcher.close()


def _keys(rows: Sequence[InboxRow]) -> Iterator[QueueKey]:
    """Each once; made only where this process has a worker."""
    yield from {QueueKey(row.instance_id, row.session_key) for row in rows}


def _leased(rows: Sequence[InboxRow], stored: Sequence[tuple[Any, ...]]) -> dict[QueueKey, Conversation]:
    """The conversations that the statement leased, with their first events."""
    if all(user_id is None for _, _, _, _, user_id, _, _ in stored):
        return {}
    by_key = {(row.instance_id, row.event_key): row for row in reversed(rows)}
    now = datetime.now(UTC)
    queued: dict[QueueKey, list[QueuedEvent]] = {}
    leased: dict[QueueKey, Conversation] = {}
    for instance_id, event_key, id, _, user_id, has_open_approval, offered in stored:
        if user_id is None:
            continue
        row = by_key[instance_id, event_key]
        key = QueueKey(instance_id, row.session_key, user_id)
        events = queued.setdefault(key, [])
        if len(events) < ROWS_PER_LEASE:
            events.append(QueuedEvent(id, event_from_json(row.stored), 0, now))
        leased[key] = Conversation(key, events, has_open_approval, offered)
    return leased
