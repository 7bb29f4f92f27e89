"""The inbox in PostgreSQL: group commit, each event once, and the desk where waiting calls take answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adapters.outbound.clock import new_uuid
from adapters.outbound.storage.arrays import Bigints, Doubles, Texts
from adapters.outbound.storage.batching import Batcher
from adapters.outbound.storage.codec import event_from_json, event_to_json, key_of, result_from_json
from adapters.outbound.storage.confirmations import ATTENDED
from adapters.outbound.storage.direct_dispatch import DirectDispatch
from adapters.outbound.storage.echoes import ECHOES, echo_columns
from adapters.outbound.storage.leases import INBOUND, OFFERED, ROWS_PER_LEASE, enqueue_sql
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.statements import compact
from domain.channels.messages import Event
from domain.refusals import Unavailable
from ports.inbox import Accepted, CallResult, Conversation, QueuedEvent
from ports.queue import QueueKey


def _add(echoes: str = "", wanted: str = "") -> str:
    """`echoes` is a common table expression that names rows, and `wanted` the condition that leaves them out."""
    return compact(f"""
WITH {OFFERED}{echoes}, input AS (
    SELECT t.*
    FROM unnest(%(instances)s, %(lanes)s, %(keys)s, %(events)s, %(waits)s) WITH ORDINALITY
      AS t(instance_id, session_key, event_key, event, wait, n)
    JOIN channel_instance i ON i.id = t.instance_id {wanted}
), fresh AS (
    INSERT INTO inbox (instance_id, session_key, event_key, event, await_until)
    SELECT instance_id, session_key, event_key, event, now() + make_interval(secs => wait) FROM input ORDER BY n
    ON CONFLICT (instance_id, event_key) DO NOTHING
    RETURNING id, instance_id, session_key, event_key
), woken AS ({enqueue_sql(INBOUND, "fresh")})
SELECT t.instance_id, t.event_key, t.id, w.open,
    CASE WHEN w.leased THEN (SELECT user_id FROM channel_instance i WHERE i.id = t.instance_id) END,
    w.leased AND ({ATTENDED})
FROM fresh t JOIN woken w ON w.instance_id = t.instance_id AND w.session_key = t.session_key ORDER BY t.id
""")


ADD = _add()
"""Answers for each fresh event: its instance, key and id, whether its lane waits to be leased, and where the lane
was leased for this process its user and whether it is attended."""
ADD_UNLESS_ECHO = _add(f", {ECHOES}", "WHERE t.n NOT IN (SELECT n FROM echoes)")
"""The same for events that bear ids; echoes are left out. Most channels give no ids and need no such look."""

FIND = """
SELECT t.n, i.id FROM unnest(%s, %s) WITH ORDINALITY AS t(instance_id, event_key, n)
JOIN channel_instance c ON c.id = t.instance_id
LEFT JOIN inbox i ON i.instance_id = t.instance_id AND i.event_key = t.event_key
"""
"""Of each event that was not stored the id that it has; none where it was dropped as an echo."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event as a row of the inbox; `source` is the event itself."""

    instance_id: int
    session_key: str
    event_key: str
    event: bytes
    source: Event
    wait: float | None = None

    @classmethod
    def of(cls, instance_id: int, event: Event, wait: float | None = None) -> Arrival:
        """The row of an event. One without a key of its own gets a fresh one, as does one without a request id:
        the request id is what resources know the event by, at each try."""
        key = key_of(event.key) if event.key is not None else f"none:{new_uuid()}"
        stored = event_to_json(event, event.request_id or new_uuid())
        return cls(instance_id, key_of(event.session_id), key, stored, event, wait)


def addition(arrivals: Sequence[Arrival]) -> tuple[str, dict[str, object]]:
    """The statement that stores events, and its parameters, those of the handing over aside."""
    columns: dict[str, object] = {
        "instances": Bigints(each.instance_id for each in arrivals),
        "lanes": Texts(each.session_key for each in arrivals),
        "keys": Texts(each.event_key for each in arrivals),
        "events": Texts(each.event for each in arrivals),
        "waits": Doubles(each.wait for each in arrivals),
    }
    bearing_ids = [
        (number, each.instance_id, each.session_key, each.source)
        for number, each in enumerate(arrivals, start=1)
        if each.source.ids
    ]
    if not bearing_ids:
        return ADD, columns
    return ADD_UNLESS_ECHO, {**columns, **echo_columns(bearing_ids)}


class PostgresInbox:
    """`arrived` is called after each commit that brought events for which nobody is on the way yet.

    What the worker of this process has places for is leased to `owner` in the same statement and handed over.
    """

    def __init__(
        self,
        database: Database,
        arrived: Callable[[], None],
        owner: int | None = None,
        handover: DirectDispatch[Conversation] | None = None,
    ) -> None:
        self._database = database
        self._arrived = arrived
        self._owner = owner
        self._handover: DirectDispatch[Conversation] = handover or DirectDispatch()
        self._batcher: Batcher[Arrival, Accepted] = Batcher(self._flush)

    async def add(
        self, instance_id: int, events: Sequence[Event], wait: float | None = None
    ) -> Sequence[Accepted]:
        """One event of several that cannot be stored does not keep the others out; it is raised after them."""
        accepted: list[Accepted] = []
        failure: Exception | None = None
        for event in events:
            try:
                arrival = Arrival.of(instance_id, event, wait)
                accepted.append(await self._batcher.submit((instance_id, arrival.session_key), arrival))
            except Unavailable:
                raise
            except Exception as error:  # noqa: BLE001 - raised below
                failure = failure or error
        if failure is not None:
            raise failure
        return accepted

    async def _flush(self, arrivals: Sequence[Arrival]) -> Sequence[Accepted]:
        with self._handover.offering(_lanes(arrivals)) as offered:
            statement, columns = addition(arrivals)
            rows = await self._database.fetch(
                statement, {**columns, **offered.parameters, "owner": self._owner}
            )
            offered.taken = _leased(arrivals, rows)
        fresh = {(row[0], row[1]): row[2] for row in rows}
        if any(is_open for _, _, _, is_open, _, _ in rows):
            self._arrived()
        accepted: list[Accepted | None] = []
        for each in arrivals:
            id = fresh.pop((each.instance_id, each.event_key), None)
            accepted.append(Accepted(id, fresh=True) if id else None)
        return await self._known(arrivals, accepted)

    async def _known(
        self, arrivals: Sequence[Arrival], accepted: Sequence[Accepted | None]
    ) -> Sequence[Accepted]:
        """Fills in the ids of those that had been there before."""
        missing = [n for n, each in enumerate(accepted) if each is None]
        if not missing:
            return [each for each in accepted if each is not None]
        rows = await self._database.fetch(
            FIND,
            (
                Bigints(arrivals[n].instance_id for n in missing),
                Texts(arrivals[n].event_key for n in missing),
            ),
        )
        found = {missing[n - 1]: id for n, id in rows}
        return [
            each or Accepted(found.get(n) or 0, fresh=False, echo=n in found and found[n] is None)
            for n, each in enumerate(accepted)
        ]

    async def result(self, inbox_id: int) -> CallResult | None:
        row = await self._database.fetch_one(
            "UPDATE inbox SET taken = true WHERE id = %s AND result IS NOT NULL RETURNING result", (inbox_id,)
        )
        return result_from_json(row[0]) if row else None

    async def stop_waiting(self, inbox_id: int) -> CallResult | None:
        row = await self._database.fetch_one(
            "UPDATE inbox SET await_until = CASE WHEN result IS NULL THEN NULL ELSE await_until END,"
            " taken = taken OR result IS NOT NULL WHERE id = %s RETURNING result",
            (inbox_id,),
        )
        return result_from_json(row[0]) if row and row[0] else None

    async def close(self) -> None:
        await self._batcher.close()


def _lanes(arrivals: Sequence[Arrival]) -> Iterator[QueueKey]:
    """Each once. Made only where a worker asks for them."""
    yield from {QueueKey(each.instance_id, each.session_key) for each in arrivals}


def _leased(arrivals: Sequence[Arrival], rows: Sequence[tuple[Any, ...]]) -> dict[QueueKey, Conversation]:
    """The lanes that the statement leased, with their first rows."""
    if all(row[4] is None for row in rows):
        return {}
    stored = {(each.instance_id, each.event_key): each for each in reversed(arrivals)}
    now = datetime.now(UTC)
    taken: dict[QueueKey, Conversation] = {}
    waiting: dict[QueueKey, list[QueuedEvent]] = {}
    for instance_id, event_key, id, _, user_id, has_open_approval in rows:
        if user_id is None:
            continue
        arrival = stored[instance_id, event_key]
        key = QueueKey(instance_id, arrival.session_key, user_id)
        found = waiting.setdefault(key, [])
        if len(found) < ROWS_PER_LEASE:
            found.append(QueuedEvent(id, event_from_json(arrival.event), 0, now))
        taken[key] = Conversation(key, found, has_open_approval)
    return taken
