"""Messages that their senders edited or deleted while nobody had answered them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter

from adapters.outbound.storage.codec import ERASED, dump, key_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.inbox import ENQUEUE, InboxRow, PostgresInbox, columns_of
from adapters.outbound.storage.queue.states import NOT_OFFERED, EventStatus, QueueKind, complete_sql
from adapters.outbound.storage.statements import compact
from domain.channels.messages import Change, Event
from ports.inbox import Accepted, CallResult

FIND = f"""
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

DROPPED = Accepted(0, fresh=False, dropped=True)

_change = attrgetter("change")


class ChangeableInbox:
    """`ports.inbox.Inbox`. `withdrawn` is told each message that was taken back while it was queued or under way."""

    def __init__(self, inbox: PostgresInbox, database: Database, withdrawn: Callable[[int], None]) -> None:
        self._inbox = inbox
        self._database = database
        self._withdrawn = withdrawn

    async def add(
        self, instance_id: int, events: Sequence[Event], wait: float | None = None
    ) -> Sequence[Accepted]:
        if not any(map(_change, events)):
            return await self._inbox.add(instance_id, events, wait)
        return [await self._add_one(instance_id, event, wait) for event in events]

    async def _add_one(self, instance_id: int, event: Event, wait: float | None) -> Accepted:
        if event.change and await self._apply(instance_id, event):
            return DROPPED
        if event.change and not (event.change is Change.EDITED and event.new_if_answered):
            return DROPPED
        [accepted] = await self._inbox.add(instance_id, [replace(event, change=None)], wait)
        return accepted

    @retried
    async def _apply(self, instance_id: int, event: Event) -> bool:
        """Whether the change concerned a message that is not answered yet.

        The edited message is a new event, and shows its answer in the message in which the old one had begun to.
        """
        async with self._database.transaction() as connection:
            withdrawn = await _withdraw(connection, instance_id, event)
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


async def _withdraw(connection: Connection, instance_id: int, event: Event) -> tuple[int, str | None] | None:
    """The id of the message that the change concerned, and the message that shows its unfinished answer."""
    change = {
        "instance": instance_id,
        "session": key_of(event.session_id),
        "key": key_of(event.key or ""),
        "message": f'"own_id":{dump(event.message_id)}',  # as `event_to_json` writes it; no text has these quotes
    }
    row = await (await connection.execute(FIND, change)).fetchone()
    if row is None:
        return None
    id, session_key, draft = row
    await connection.execute(WITHDRAW, {"id": id, "session_key": session_key, "owner": None})
    return id, draft
