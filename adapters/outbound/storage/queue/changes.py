"""Messages that change while nobody has answered them: their senders edit or delete them, or the platform sends them
once more with their files."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter

from adapters.outbound.storage.codec import ERASED, dump, event_from_json, event_to_json, key_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.inbox import ENQUEUE, InboxRow, PostgresInbox, columns_of
from adapters.outbound.storage.queue.states import NOT_OFFERED, EventStatus, QueueKind, complete_sql
from adapters.outbound.storage.statements import compact
from domain.channels.messages import Change, Event
from ports.queue import Accepted, CallResult

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
                await connection.execute(ENQUEUE, {**columns_of([row]), **NOT_OFFERED})
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
