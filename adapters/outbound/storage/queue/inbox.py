"""The inbox in PostgreSQL: group commit, each event once, no echoes, changes of messages that wait."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from uuid import uuid4

from adapters.outbound.storage import codec
from adapters.outbound.storage.arrays import Bigints, Bools, Doubles, Texts
from adapters.outbound.storage.failures import is_of_rows, retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.batching import Batcher
from adapters.outbound.storage.queue.statements import SQL
from domain.channels.messages import CallOutcome, Change, Event, Inquiry, Quoted, Sender
from domain.conversations.reopening import opens_again
from domain.refusals import Unavailable
from domain.values import value
from ports.queue import Accepted, CallResult, StoredCall

log = logging.getLogger(__name__)

NO_IDS: dict[str, object] = {
    "echo_rows": Bigints([]),
    "echo_instances": Bigints([]),
    "echo_sessions": Texts([]),
    "echo_ids": Texts([]),
}


def echo_columns(rows: Iterable[tuple[int, int, str, Event]]) -> dict[str, object]:
    """The parameters of the macro `echoes` for rows of number, instance, session and event."""
    ids = [
        (number, instance_id, session_key if event.ids_of_session else None, codec.storable(id))
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


@value
class InboxRow:
    """`stored` is the JSON text of `event`. `reopens`: a conversation that is closed is open again with it."""

    instance_id: int
    session_key: str
    event_key: str
    stored: bytes
    event: Event
    wait: float | None = None
    reopens: bool = False

    @classmethod
    def of(cls, instance_id: int, event: Event, wait: float | None = None) -> InboxRow:
        """An event without a key has its request id for one, as a gateway sends a call again when a core goes away
        over it. One without a request id gets a fresh one: by it resources recognise the event at each try."""
        request_id = event.request_id or str(uuid4())
        key = codec.key_of(event.key if event.key is not None else f"none:{request_id}")
        reopens, event = opens_again(event), replace(event, change=None)
        stored = codec.event_to_json(event, request_id)
        return cls(instance_id, codec.key_of(event.session_id), key, stored, event, wait, reopens)


def columns_of(rows: Sequence[InboxRow]) -> dict[str, object]:
    """The parameters of `enqueue_events`."""
    return {
        "instances": Bigints(row.instance_id for row in rows),
        "sessions": Texts(row.session_key for row in rows),
        "keys": Texts(row.event_key for row in rows),
        "events": Texts(row.stored for row in rows),
        "waits": Doubles(row.wait for row in rows),
        "reopens": Bools(row.reopens for row in rows),
        **echo_columns(
            (n, row.instance_id, row.session_key, row.event) for n, row in enumerate(rows, start=1)
        ),
    }


DROPPED = Accepted(0, fresh=False, dropped=True)


class PostgresInbox:
    """`enqueued` is called after each commit that brought events for which nobody is on the way yet, `withdrawn` with
    each message that is not to be answered as it was stored, `ready` when a message need not wait any more."""

    def __init__(
        self,
        database: Database,
        enqueued: Callable[[], None],
        withdrawn: Callable[[int], None] = lambda _: None,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = database
        self._enqueued = enqueued
        self._withdrawn = withdrawn
        self._ready = ready
        self._batcher: Batcher[InboxRow, Accepted] = Batcher(self.flush)

    async def add(
        self, instance_id: int, events: Sequence[Event], wait: float | None = None
    ) -> Sequence[Accepted]:
        """An event that cannot be stored does not keep the others out; its error is raised after them."""
        accepted: list[Accepted] = []
        failure: Exception | None = None
        for event in events:
            try:
                if event.change:
                    accepted.append(await self._change(instance_id, event, wait, event.session_id))
                else:
                    accepted.append(await self._add(instance_id, event, wait))
            except Unavailable:
                raise
            except Exception as error:  # noqa: BLE001 - raised below
                failure = failure or error
        if failure is not None:
            raise failure
        for event, stored in zip(events, accepted, strict=True):
            if stored.id and not stored.fresh and event.message_id and not event.change:
                await self._complete(instance_id, event, stored.id)
        return accepted

    async def _add(self, instance_id: int, event: Event, wait: float | None) -> Accepted:
        if (event.reacts_to or event.only_followed) and not await self._is_wanted(instance_id, event):
            return DROPPED
        row = InboxRow.of(instance_id, event, wait)
        return await self._batcher.submit((instance_id, row.session_key), row)

    async def _is_wanted(self, instance_id: int, event: Event) -> bool:
        """Return True for a reaction to what was sent, and for a message of a session that is followed."""
        if event.reacts_to:
            ref = {"instance": instance_id, "ref": codec.storable(event.reacts_to)}
            row = await self._database.fetch_one(SQL["was_sent"], ref)
        else:
            root = event.quoted or Quoted()
            session = {
                "instance": instance_id,
                "session": codec.key_of(event.session_id),
                "root": codec.storable(root.ref) or None,
                "root_session": codec.key_of(root.session) if root.session else None,
            }
            row = await self._database.fetch_one(SQL["is_followed"], session)
        return bool(row and row[0])

    async def _complete(self, instance_id: int, event: Event, id: int) -> None:
        """Adds what an event has beyond the stored one of the same key. A message that is worked on is worked on
        anew, in the conversation of which the whole one tells; one that was answered already is followed by a message
        with the rest."""
        row = await self._database.fetch_one(SQL["event_of"], (id,))
        if row is None:
            return
        stored = codec.event_from_json(row[0])
        merged = stored.completed(event)
        is_placed = merged.session_id == stored.session_id
        if merged.content == stored.content and is_placed:
            if merged.is_partial != stored.is_partial:
                await self._database.execute(
                    SQL["settle_event"], (codec.event_to_json(merged, merged.request_id).decode(), id)
                )
                self._ready()
            return
        changed = replace(
            merged,
            key=f"{event.key}:whole",
            request_id="",
            change=Change.EDITED,
            new_if_answered=merged.content != stored.content,
        )
        await self._change(instance_id, changed, None, stored.session_id)

    async def _change(
        self, instance_id: int, event: Event, wait: float | None, earlier_session: str
    ) -> Accepted:
        """Changes the message that waits in `earlier_session`; an edit of an answered one may be a new message."""
        if await self._apply(instance_id, event, earlier_session):
            return DROPPED
        if not (event.change is Change.EDITED and event.new_if_answered):
            return DROPPED
        return await self._add(instance_id, event, wait)

    @retried
    async def _apply(self, instance_id: int, event: Event, session_id: str) -> bool:
        """Applies a change. Return True if it concerned a message that is not answered yet.

        The edited message is a new event, and shows its answer in the message in which the old one had begun to.
        """
        async with self._database.transaction() as connection:
            changed = {
                "instance": instance_id,
                "session": codec.key_of(session_id),
                "key": codec.key_of(event.key or ""),
                # as `event_to_json` writes it; no text has these quotes
                "message": f'"own_id":{codec.dump(event.message_id)}',
            }
            message = await (await connection.execute(SQL["find_changed_event"], changed)).fetchone()
            if message is None:
                return False
            id, session_key, draft = message
            withdrawn = {"id": id, "session_key": session_key, "owner": None}
            await connection.execute(SQL["withdraw_event"], withdrawn)
            if event.change is Change.EDITED:
                row = InboxRow.of(instance_id, replace(event, new_if_answered=False))
                await connection.execute(SQL["enqueue_events"], columns_of([row]))
                await connection.execute(SQL["copy_draft"], (draft, instance_id, row.event_key))
        self._withdrawn(id)
        return True

    async def flush(self, rows: Sequence[InboxRow]) -> Sequence[Accepted]:
        stored = await self._database.fetch(SQL["enqueue_events"], columns_of(rows))
        if any(is_open for *_, is_open in stored):
            self._enqueued()
        fresh = {(instance_id, key): id for instance_id, key, id, _ in stored}
        ids = [fresh.pop((row.instance_id, row.event_key), None) for row in rows]
        if all(ids):
            return [Accepted(id, fresh=True) for id in ids if id]
        earlier = iter(await self._find([row for row, id in zip(rows, ids, strict=True) if id is None]))
        return [Accepted(id, fresh=True) if id else next(earlier) for id in ids]

    async def _find(self, rows: Sequence[InboxRow]) -> Sequence[Accepted]:
        """Events that were stored before, or dropped as echoes."""
        keys = (Bigints(row.instance_id for row in rows), Texts(row.event_key for row in rows))
        ids: dict[int, int | None] = dict(await self._database.fetch(SQL["find_events"], keys))
        numbers = range(1, len(rows) + 1)
        return [Accepted(ids.get(n) or 0, fresh=False, dropped=ids.get(n, 0) is None) for n in numbers]

    async def result(self, inbox_id: int) -> CallResult | None:
        row = await self._database.fetch_one(SQL["take_result"], (inbox_id,))
        return codec.result_from_json(row[0]) if row else None

    async def outcome(self, inbox_id: int) -> CallResult | None:
        row = await self._database.fetch_one(SQL["call_outcome"], (inbox_id,))
        if row is None:
            return None
        failed, is_empty, result = row
        if result:
            return codec.result_from_json(result)
        ended = CallOutcome.FAILED if failed else CallOutcome.ANSWERED
        return CallResult(CallOutcome.WITHDRAWN if is_empty else ended, None)

    async def find_call(self, instance_id: int, inquiry: Inquiry) -> StoredCall | None:
        first = await self._database.fetch_one(SQL["find_call"], (instance_id, codec.key_of(inquiry.key)))
        if first is None:
            return None
        id, session_key, event = first
        if event == "{}":
            return StoredCall(id, Event(inquiry.key, "", Sender(""), "", {}, request_id=inquiry.key))
        later = (instance_id, session_key, id, f"{inquiry.key}/")
        last = await self._database.fetch_one(SQL["find_last_call"], later) or (id, event)
        return StoredCall(last[0], codec.event_from_json(last[1]))

    async def stop_waiting(self, inbox_id: int) -> CallResult | None:
        row = await self._database.fetch_one(SQL["stop_waiting"], (inbox_id,))
        return codec.result_from_json(row[0]) if row and row[0] else None

    async def close(self) -> None:
        await self._batcher.close()


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
            rows = await connection.execute(SQL["enqueue_events"], columns_of(arrivals))
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
