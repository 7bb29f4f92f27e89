"""Recognises events that are about something that an instance sent itself.

The inbox in PostgreSQL: group commit, each event once, answers for waiting calls.

Events that are stored together with a cursor, in the transaction of a connection.

Messages that change while nobody has answered them: their senders edit or delete them, or the platform sends them
once more with their files.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter

from adapters.outbound.clock import new_uuid
from adapters.outbound.storage.arrays import Bigints, Doubles, Texts, unnest_sql
from adapters.outbound.storage.codec import (
    ERASED,
    dump,
    event_from_json,
    event_to_json,
    key_of,
    result_from_json,
    storable,
)
from adapters.outbound.storage.events import log_event_sql
from adapters.outbound.storage.failures import is_of_rows, retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.batching import Batcher
from adapters.outbound.storage.queue.statements import (
    EventStatus,
    QueueKind,
    complete_sql,
    enqueue_sql,
)
from adapters.outbound.storage.statements import compact
from domain.channels.messages import Change, Event, Quoted
from domain.events import EventKind
from domain.refusals import Unavailable
from domain.values import value
from ports.queue import Accepted, CallResult

ECHOES = f"""
echoes AS MATERIALIZED (
    SELECT e.n
    FROM {unnest_sql("echo_rows", "echo_instances", "echo_sessions", "echo_ids")} e(n, instance, session, id)
    WHERE (
        SELECT o.id FROM outbox o
        WHERE o.instance_id = e.instance AND hashtextextended(o.ref, 0) = hashtextextended(e.id, 0)
            AND o.ref IS NOT NULL AND o.ref = e.id AND (e.session IS NULL OR o.session_key = e.session)
        LIMIT 1
    ) IS NOT NULL
)
"""
"""The numbers of the rows whose event bears an id that a sent message got from the platform. A look at the index
`outbox_by_ref` for each id; rows whose channel gives no ids cost nothing."""

NO_IDS: dict[str, object] = {
    "echo_rows": Bigints([]),
    "echo_instances": Bigints([]),
    "echo_sessions": Texts([]),
    "echo_ids": Texts([]),
}


def echo_columns(rows: Iterable[tuple[int, int, str, Event]]) -> dict[str, object]:
    """The parameters of `ECHOES` for rows of number, instance, session and event."""
    ids = [
        (number, instance_id, session_key if event.ids_of_session else None, storable(id))
        for number, instance_id, session_key, event in rows
        for id in event.ids
        if id
    ]
    if not ids:
        return NO_IDS
    return {
        "echo_rows": Bigints(number for number, *_ in ids),
        "echo_instances": Bigints(instance_id for _, instance_id, *_ in ids),
        "echo_sessions": Texts(session_key for _, _, session_key, _ in ids),
        "echo_ids": Texts(id for *_, id in ids),
    }


ENQUEUE = compact(f"""
WITH {ECHOES}, input AS (
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
SELECT t.instance_id, t.event_key, t.id, q.open
FROM fresh t JOIN enqueued q ON q.instance_id = t.instance_id AND q.session_key = t.session_key ORDER BY t.id
""")
"""Stores the events that are new and no echoes. Of each: its instance, key and id, and whether its queue is to be
leased. Index `inbox_event`, and the primary key of `queue`."""

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
    """The parameters of `ENQUEUE`."""
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
    """`enqueued` is called after each commit that brought events for which nobody is on the way yet."""

    def __init__(self, database: Database, enqueued: Callable[[], None]) -> None:
        self._database = database
        self._enqueued = enqueued
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
        stored = await self._database.fetch(ENQUEUE, columns_of(rows))
        if any(is_open for *_, is_open in stored):
            self._enqueued()
        fresh = {(instance_id, key): id for instance_id, key, id, _ in stored}
        ids = [fresh.pop((row.instance_id, row.event_key), None) for row in rows]
        missing = [n for n, id in enumerate(ids) if id is None]
        earlier: dict[int, int | None] = {}
        if missing:
            instances, keys = (rows[n].instance_id for n in missing), (rows[n].event_key for n in missing)
            found_before = await self._database.fetch(FIND, (Bigints(instances), Texts(keys)))
            earlier = {missing[n - 1]: id for n, id in found_before}
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


log = logging.getLogger(__name__)


async def add_arrivals(connection: Connection, arrivals: Sequence[InboxRow]) -> Sequence[bool | None]:
    """Stores events; whether each is fresh, None for one that cannot be stored, which does not cost the others."""
    fresh, lost = await _added(connection, arrivals)
    return [None if row.event_key in lost else row.event_key in fresh for row in arrivals]


async def _added(connection: Connection, arrivals: Sequence[InboxRow]) -> tuple[set[str], set[str]]:
    """The keys of the events that are new, and of those that cannot be stored."""
    if not arrivals:
        return set(), set()
    try:
        async with connection.transaction():
            rows = await connection.execute(ENQUEUE, columns_of(arrivals))
            return {row[1] for row in await rows.fetchall()}, set()
    except Exception as error:
        if not is_of_rows(error, lost=connection.closed):
            raise
        if len(arrivals) == 1:
            log.exception("an event cannot be stored", extra={"instance": arrivals[0].instance_id})
            return set(), {arrivals[0].event_key}
    half = len(arrivals) // 2
    fresh, lost = await _added(connection, arrivals[:half])
    more_fresh, more_lost = await _added(connection, arrivals[half:])
    return fresh | more_fresh, lost | more_lost


FIND_CHANGED = f"""
SELECT id, session_key, draft FROM inbox
WHERE instance_id = %(instance)s AND (%(session)s::text = '' OR session_key = %(session)s)
    AND status = {EventStatus.QUEUED} AND event_key <> %(key)s AND position(%(message)s IN event) > 0
    AND NOT EXISTS (SELECT FROM inbox WHERE instance_id = %(instance)s AND event_key = %(key)s)
ORDER BY id DESC LIMIT 1 FOR UPDATE
"""
"""The message that a change concerns, while it waits or is worked on; none for a change that was applied already.
Indexes `inbox_by_queue` and `inbox_event`."""

WITHDRAW = compact(f"""
WITH gone AS (
    UPDATE inbox SET status = {EventStatus.DONE}, event = '{{}}', session_key = '{ERASED}', draft = NULL,
        error = NULL, finished_at = now()
    WHERE id = %(id)s AND status = {EventStatus.QUEUED}
    RETURNING instance_id, %(session_key)s::text AS session_key, false AS last, true AS person,
        false AS replied, NULL::int AS minutes
), completed AS ({complete_sql(QueueKind.INBOUND, "gone")})
SELECT count(*) FROM gone
""")
"""Takes a message out of its conversation; of its row stays what a redelivery is recognised by. Primary keys."""

COPY_DRAFT = "UPDATE inbox SET draft = %s WHERE instance_id = %s AND event_key = %s"
"""Index `inbox_event`."""

NOT_ERASED = "SELECT event FROM inbox WHERE id = %s AND event <> '{}'"
"""Primary key."""

SETTLE = f"""
WITH settled AS (
    UPDATE inbox SET event = %s WHERE id = %s AND status = {EventStatus.QUEUED} RETURNING instance_id, session_key
)
UPDATE queue q SET due_at = now() FROM settled s
WHERE q.kind = {QueueKind.INBOUND} AND q.instance_id = s.instance_id AND q.session_key = s.session_key
    AND q.owner IS NULL AND q.due_at > now() AND (q.held_until > now()) IS NOT TRUE
"""
"""Ends the wait for the rest of a message. Primary keys."""

DROPPED = Accepted(0, fresh=False, dropped=True)

_change = attrgetter("change")


class ChangeableInbox:
    """`ports.queue.Inbox`. Calls `withdrawn` with each message that is not to be answered as it was stored, and
    `enqueued` when a message need not wait any more."""

    def __init__(
        self,
        inbox: PostgresInbox,
        database: Database,
        withdrawn: Callable[[int], None],
        enqueued: Callable[[], None],
    ) -> None:
        self._inbox = inbox
        self._database = database
        self._withdrawn = withdrawn
        self._enqueued = enqueued

    async def add(
        self, instance_id: int, events: Sequence[Event], wait: float | None = None
    ) -> Sequence[Accepted]:
        if any(map(_change, events)):
            return [await self._add_one(instance_id, event, wait) for event in events]
        accepted = await self._inbox.add(instance_id, events, wait)
        for event, stored in zip(events, accepted, strict=True):
            if stored.id and not stored.fresh:
                await self._complete(instance_id, event, stored.id)
        return accepted

    async def _complete(self, instance_id: int, event: Event, id: int) -> None:
        """Adds what an event has beyond the stored one of the same key. A message that is worked on is worked on
        anew, in the conversation of which the whole one tells; one that was answered already is followed by a message
        with the rest."""
        row = await self._database.fetch_one(NOT_ERASED, (id,)) if event.message_id else None
        if row is None:
            return
        stored = event_from_json(row[0])
        whole = stored.completed(event)
        is_placed = whole.session_id == stored.session_id
        if whole.content == stored.content and is_placed:
            if whole.is_partial != stored.is_partial:
                await self._database.execute(SETTLE, (event_to_json(whole, whole.request_id).decode(), id))
                self._enqueued()
            return
        changed = replace(
            whole,
            key=f"{event.key}:whole",
            request_id="",
            change=Change.EDITED,
            new_if_answered=whole.content != stored.content,
        )
        await self._add_one(instance_id, changed, None, stored.session_id)

    async def _add_one(
        self, instance_id: int, event: Event, wait: float | None, earlier_session: str = ""
    ) -> Accepted:
        """`earlier_session`: where the message stands that changes, if not in the session of the event."""
        if event.change and await self._apply(instance_id, event, earlier_session or event.session_id):
            return DROPPED
        if event.change and not (event.change is Change.EDITED and event.new_if_answered):
            return DROPPED
        [accepted] = await self._inbox.add(instance_id, [replace(event, change=None)], wait)
        return accepted

    @retried
    async def _apply(self, instance_id: int, event: Event, session_id: str) -> bool:
        """Whether the change concerned a message that is not answered yet.

        The edited message is a new event, and shows its answer in the message in which the old one had begun to.
        """
        async with self._database.transaction() as connection:
            withdrawn = await _withdraw(connection, instance_id, event, session_id)
            if withdrawn is None:
                return False
            id, draft = withdrawn
            if event.change is Change.EDITED:
                row = InboxRow.of(instance_id, replace(event, change=None))
                await connection.execute(ENQUEUE, columns_of([row]))
                await connection.execute(COPY_DRAFT, (draft, instance_id, row.event_key))
        self._withdrawn(id)
        return True

    async def result(self, inbox_id: int) -> CallResult | None:
        return await self._inbox.result(inbox_id)

    async def stop_waiting(self, inbox_id: int) -> CallResult | None:
        return await self._inbox.stop_waiting(inbox_id)

    async def close(self) -> None:
        await self._inbox.close()


async def _withdraw(
    connection: Connection, instance_id: int, event: Event, session_id: str
) -> tuple[int, str | None] | None:
    """The id of the message that the change concerned, and the message that shows its unfinished answer."""
    change = {
        "instance": instance_id,
        "session": key_of(session_id),
        "key": key_of(event.key or ""),
        "message": f'"own_id":{dump(event.message_id)}',  # as `event_to_json` writes it; no text has these quotes
    }
    row = await (await connection.execute(FIND_CHANGED, change)).fetchone()
    if row is None:
        return None
    id, session_key, draft = row
    await connection.execute(WITHDRAW, {"id": id, "session_key": session_key, "owner": None})
    return id, draft
