"""Conversations in PostgreSQL: leases, and outcomes recorded by group commit together with the reply parts."""

from __future__ import annotations

import asyncio
import logging
import math
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from adapters.outbound.storage.arrays import Bigints, Bools, Texts
from adapters.outbound.storage.batching import Batcher
from adapters.outbound.storage.codec import (
    dump,
    dump_bytes,
    result_to_json,
    storable,
    storable_reason,
    stored_event,
)
from adapters.outbound.storage.confirmations import ATTENDED
from adapters.outbound.storage.direct_dispatch import DirectDispatch
from adapters.outbound.storage.echoes import ECHOES, echo_columns
from adapters.outbound.storage.failures import by_halves, is_of_rows, retried
from adapters.outbound.storage.leases import (
    ASYNC_COMMIT,
    INBOUND,
    NOT_OFFERED,
    OFFERED,
    OUTBOUND,
    ROWS_PER_LEASE,
    LeaseStore,
    Side,
    complete_sql,
    enqueue_sql,
)
from adapters.outbound.storage.outages import waited_out
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.statements import compact
from domain.channels.messages import CallOutcome, Merge, OutboundMessage
from ports.inbox import Album, Conversation, EventOutcome, QueuedEvent
from ports.outbox import QueuedMessage, QueuedMessages
from ports.queue import Capacity, Leases, QueueKey

log = logging.getLogger(__name__)

SIDE = Side(INBOUND, "inbox", "id event attempts received_at draft failures", flag=ATTENDED)


def _record(echoes: str = "", wanted: str = "", merged: str = "", finished: str = "done") -> str:
    """`echoes` is a common table expression that names events, and `wanted` the condition that leaves their parts
    out. `merged` is one of further rows that have the outcomes of `done`, and `finished` one of all rows with an
    outcome."""
    return compact(f"""
WITH {OFFERED}{echoes}, r AS MATERIALIZED (
    SELECT t.*, (
        SELECT head.id FROM inbox head WHERE head.instance_id = t.instance_id AND head.session_key = t.session_key
        AND head.status = 0 ORDER BY head.id LIMIT 1
    ) AS head
    FROM unnest(%(ids)s, %(instances)s, %(lanes)s, %(errors)s, %(results)s, %(lasts)s, %(prompts)s,
        %(persons)s, %(replied)s)
      AS t(id, instance_id, session_key, error, result, last, prompt, person, replied)
), done AS (
    UPDATE inbox i SET status = CASE WHEN r.error IS NULL THEN 1 ELSE 2 END, error = r.error,
        result = CASE WHEN i.await_until > now() THEN r.result END, finished_at = now()
    FROM r WHERE i.id = r.id AND i.status = 0 AND r.head = r.id
    RETURNING i.id, i.instance_id, i.session_key, i.await_until > now() AND r.result IS NOT NULL AS awaited, r.last,
        r.error IS NOT NULL AS failed, r.prompt, r.person, r.replied
){merged}, parts AS (
    INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, apology, prompt)
    SELECT d.instance_id, d.session_key, d.id, p.message, p.target, p.key, d.failed, d.prompt
    FROM unnest(%(part_ids)s, %(parts)s, %(targets)s, %(keys)s) WITH ORDINALITY
      AS p(inbox_id, message, target, key, n)
    JOIN done d ON d.id = p.inbox_id AND d.awaited IS NOT TRUE {wanted}
    ORDER BY p.n
    RETURNING id, inbox_id, instance_id, session_key
), outbound AS ({enqueue_sql(OUTBOUND, "parts")}), inbound AS ({complete_sql(INBOUND, finished)})
SELECT d.id, d.awaited, o.open, CASE WHEN o.leased THEN (
        SELECT array_agg(p.id ORDER BY p.id) FROM parts p WHERE p.inbox_id = d.id
    ) END, (SELECT bool_or(more) FROM inbound),
    (SELECT CASE WHEN %(relaxed)s THEN {ASYNC_COMMIT} END)
FROM done d LEFT JOIN outbound o ON o.instance_id = d.instance_id AND o.session_key = d.session_key ORDER BY d.id
""")


MERGED = """, merged AS (
    UPDATE inbox i SET status = CASE WHEN d.failed THEN 2 ELSE 1 END, finished_at = now(),
        error = CASE WHEN d.failed THEN 'it failed with the message that it is part of' END
    FROM unnest(%(merged_ids)s, %(merged_into)s) AS m(id, into_id) JOIN done d ON d.id = m.into_id
    WHERE i.id = m.id AND i.status = 0 AND i.instance_id = d.instance_id AND i.session_key = d.session_key
    RETURNING i.instance_id, i.session_key
), finished AS (
    SELECT instance_id, session_key, last, person, replied FROM done
    UNION ALL SELECT instance_id, session_key, false, false, false FROM merged
)"""
UNLESS_ECHO = (f", {ECHOES}", "WHERE p.inbox_id NOT IN (SELECT n FROM echoes)")
RECORD = _record()
RECORD_UNLESS_ECHO = _record(*UNLESS_ECHO)
RECORD_MERGED = _record(*UNLESS_ECHO, MERGED, "finished")
"""Answers for each outcome that is on record now: its event, whether a call takes it, whether the lane of its parts
waits to be leased, the ids of its parts where that was leased for this process, and whether any conversation has
more. An outcome whose conversation has an earlier event without one is left out: a database that died has forgotten
that one's, and what was answered in between must not go out before it. The parts of an echo are left out where events
bear ids: it came before the platform's id of what we sent was on record. Most outcomes need neither that nor rows to
merge, and do not pay for them."""

MOST_MERGED = 100
ALBUM = f"""
SELECT id, event, attempts, received_at, draft, failures, extract(epoch FROM now() - received_at)::float8
FROM inbox WHERE instance_id = %s AND session_key = %s AND status = 0 AND position(%s IN event) > 0
ORDER BY id LIMIT {MOST_MERGED}
"""

RETRY = """
WITH event AS (
    UPDATE inbox SET failures = failures + 1, error = %s WHERE id = %s AND status = 0
    RETURNING instance_id, session_key
)
UPDATE queue l SET owner = NULL, due_at = now() + make_interval(secs => %s), touched_at = now() FROM event e
WHERE l.kind = 0 AND l.instance_id = e.instance_id AND l.session_key = e.session_key AND l.owner = %s
"""

REMOVE = f"""
WITH {OFFERED}, gone AS (
    DELETE FROM inbox WHERE id = ANY(%(ids)s) AND instance_id = %(instance_id)s AND session_key = %(session_key)s
    AND status = 0 RETURNING id, instance_id, session_key, %(last)s AS last, false AS person, false AS replied
), parts AS (
    INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, apology)
    SELECT g.instance_id, g.session_key, g.id, p.message, %(target)s, p.key, true
    FROM unnest(%(parts)s, %(keys)s) WITH ORDINALITY AS p(message, key, n) JOIN gone g ON g.id = %(inbox_id)s
    ORDER BY p.n RETURNING instance_id, session_key
), outbound AS ({enqueue_sql(OUTBOUND, "parts")}), inbound AS ({complete_sql(INBOUND, "gone")})
SELECT count(*) FROM gone
"""

UNTAKEN = """
SELECT id FROM inbox WHERE await_until < now() - interval '2 seconds' AND NOT taken AND result IS NOT NULL
ORDER BY await_until LIMIT 100
"""
TAKE_UNTAKEN = """
UPDATE inbox SET taken = true WHERE id IN (
    SELECT id FROM inbox WHERE id = ANY(%s) AND NOT taken FOR UPDATE SKIP LOCKED
) RETURNING id, instance_id, session_key, result
"""

ADD_PARTS = f"""
WITH {OFFERED}, parts AS (
    INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, apology)
    SELECT %(instance_id)s, %(session_key)s, %(inbox_id)s, p.message, %(target)s, p.key, %(apology)s
    FROM unnest(%(parts)s, %(keys)s) WITH ORDINALITY AS p(message, key, n)
    ORDER BY p.n RETURNING instance_id, session_key
)
{enqueue_sql(OUTBOUND, "parts")}
"""


@dataclass(frozen=True, slots=True)
class Wakes:
    """Whom a commit concerns: called after it, never inside its transaction."""

    inbound: Callable[[], None]
    outbound: Callable[[], None]
    answered: Callable[[int], None]


class PostgresConversations:
    """Parts for which the worker of this process has places are leased with the outcome and handed over."""

    def __init__(
        self, database: Database, keys: LeaseStore, wakes: Wakes, handover: DirectDispatch[QueuedMessages]
    ) -> None:
        self._handover = handover
        self._database = database
        self._leases = keys
        self._wakes = wakes
        self._began = time.monotonic()
        self._batcher: Batcher[EventOutcome, bool] = Batcher(self._flush)

    async def lease(self, room: Capacity) -> Leases[Conversation]:
        leased = await self._leases.lease(SIDE, room)
        conversations = [
            Conversation(key, [_waiting(*row) for row in rows], has_open_approval=rows[0][-1])
            for key, rows in leased.leased
        ]
        return Leases(conversations, leased.more)

    async def record(self, processed: EventOutcome) -> bool:
        return await waited_out(lambda: self._batcher.submit(processed.key, processed))

    async def _flush(self, batch: Sequence[EventOutcome]) -> Sequence[bool]:
        stored = [_Stored.of(each) for each in batch]
        with self._handover.offering({each.key for each in batch if each.messages}) as offered:
            statement, columns = _recording(batch)
            rows = await self._database.fetch(
                statement,
                {
                    **columns,
                    **_part_columns(stored),
                    **offered.parameters,
                    "owner": self._leases.owner,
                    "relaxed": all(each.messages and not each.require_sync_commit for each in batch),
                },
            )
            offered.taken = _leased(stored, rows)
        self._wake(rows)
        stored_now = {inbox_id for inbox_id, *_ in rows}
        return [each.inbox_id in stored_now for each in batch]

    def _wake(self, rows: Sequence[tuple[Any, ...]]) -> None:
        for inbox_id, awaited, *_ in rows:
            if awaited:
                self._wakes.answered(inbox_id)
        if any(is_open for _, _, is_open, *_ in rows):
            self._wakes.outbound()
        if rows and rows[0][4]:
            self._wakes.inbound()

    async def drafted(self, inbox_id: int, draft: str) -> None:
        await self._database.execute("UPDATE inbox SET draft = %s WHERE id = %s", (storable(draft), inbox_id))

    async def retry(self, key: QueueKey, inbox_id: int, error: str, delay: float) -> None:
        await self._database.execute(RETRY, (storable_reason(error), inbox_id, delay, self._leases.owner))

    async def remove(self, processed: EventOutcome) -> bool:
        stored = _Stored.of(processed)
        row = await self._database.fetch_one(
            REMOVE,
            {
                **NOT_OFFERED,
                "ids": [processed.inbox_id, *processed.merged],
                "instance_id": processed.key.instance_id,
                "session_key": processed.key.session_key,
                "last": processed.last,
                "target": dump(processed.target),
                "parts": Texts(stored.messages),
                "keys": Texts(stored.keys),
                "inbox_id": processed.inbox_id,
                "owner": self._leases.owner,
            },
        )
        self._wakes.inbound()
        self._wakes.outbound()
        return bool(row and row[0])

    async def release(self, key: QueueKey, delay: float = 0.0) -> None:
        await self._leases.release(SIDE, key, delay)

    async def album(self, key: QueueKey, merge: Merge) -> Album:
        fragment = dump({"merge": [merge.key, None]})[
            1 : -len("null]}")
        ]  # as it stands in the rows; none can forge it
        rows = await self._database.fetch(ALBUM, (key.instance_id, key.session_key, fragment))
        found = [(_waiting(*columns), age) for *columns, age in rows]
        own = [(row, age) for row, age in found if row.event.merge and row.event.merge.key == merge.key]
        up = time.monotonic() - self._began  # before that nobody may have been there to take in the others
        ages = [min(age, up) for _, age in own] or [math.inf]
        return Album([row for row, _ in own], max(ages), min(ages))

    async def postpone(self, key: QueueKey, delay: float) -> None:
        await self.release(key, delay)
        asyncio.get_running_loop().call_later(delay, self._wakes.inbound)

    async def send_untaken(self) -> int:
        """Answers whose waiting call went away without taking them go out as parts; how many."""
        untaken = [id for (id,) in await self._database.fetch(UNTAKEN)]
        taken = 0

        async def send(ids: Sequence[int]) -> None:
            nonlocal taken
            taken += await self._taken(ids)

        refused = await by_halves(untaken, send) if untaken else []
        if taken:
            self._wakes.outbound()
        if refused:
            raise refused[0][1]
        return taken

    @retried
    async def _taken(self, ids: Sequence[int]) -> int:
        async with self._database.transaction() as connection:
            cursor = await connection.execute(TAKE_UNTAKEN, (ids,))
            rows = await cursor.fetchall()
            for row in rows:
                await self._sent_untaken(connection, *row)
        return len(rows)

    async def _sent_untaken(
        self, connection: Connection, inbox_id: int, instance_id: int, session_key: str, result: str
    ) -> None:
        """One answer that cannot go out must not hold up all others."""
        try:
            async with connection.transaction():
                await self._add_parts(connection, inbox_id, instance_id, session_key, result)
        except Exception as error:
            if not is_of_rows(error, lost=connection.closed):
                raise
            log.exception("an untaken answer is given up", extra={"instance": instance_id})
            reason = f"the answer that no call took could not be sent: {type(error).__name__}"
            await connection.execute(
                "UPDATE inbox SET status = 2, error = %s WHERE id = %s", (reason, inbox_id)
            )

    async def _add_parts(
        self, connection: Connection, inbox_id: int, instance_id: int, session_key: str, result: str
    ) -> None:
        kept = orjson.loads(result)
        values = {
            "instance_id": instance_id,
            "session_key": session_key,
            "inbox_id": inbox_id,
            "target": dump(kept["target"]),
            "parts": Texts(dump_bytes(part) for part in kept["parts"]),
            "keys": Texts(str(uuid.uuid4()) for _ in kept["parts"]),
            "apology": kept["outcome"] == CallOutcome.FAILED,
        }
        await connection.execute(ADD_PARTS, {**NOT_OFFERED, **values})

    async def close(self) -> None:
        await self._batcher.close()


def _waiting(
    id: int, event: str, attempts: int, at: datetime, draft: str | None, failures: int, _: bool = False
) -> QueuedEvent:
    return QueuedEvent(id, stored_event(event), attempts, at, draft or "", failures)


def _result(processed: EventOutcome) -> str | None:
    if processed.result is None:
        return None
    return result_to_json(processed.result, [part.payload for part in processed.messages], processed.target)


@dataclass(frozen=True, slots=True)
class _Stored:
    """An outcome's parts as rows of the outbox: their JSON texts and idempotency keys.

    The keys follow from the event, so that a platform recognises a part that is made again.
    """

    key: QueueKey
    inbox_id: int
    target: bytes
    messages: Sequence[bytes]
    keys: Sequence[str]
    apology: bool

    @classmethod
    def of(cls, processed: EventOutcome) -> _Stored:
        messages = [dump_bytes(part.payload) for part in processed.messages]
        keys = [part_key(processed.request_id, processed.inbox_id, number) for number in range(len(messages))]
        target, apology = dump_bytes(processed.target), processed.error is not None
        return cls(processed.key, processed.inbox_id, target, messages, keys, apology)


def part_key(request_id: str, inbox_id: int, number: int) -> str:
    """The idempotency key of a part: random by the request id, each part's own by the rest."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{request_id}#{inbox_id}.{number}"))


def _columns(batch: Sequence[EventOutcome]) -> dict[str, object]:
    return {
        "ids": Bigints(each.inbox_id for each in batch),
        "instances": Bigints(each.key.instance_id for each in batch),
        "lanes": Texts(each.key.session_key for each in batch),
        "errors": Texts(each.error and storable_reason(each.error) for each in batch),
        "results": Texts(_result(each) for each in batch),
        "lasts": Bools(each.last for each in batch),
        "prompts": Bools(each.prompt for each in batch),
        "persons": Bools(each.by_person for each in batch),
        "replied": Bools(bool(each.messages) and not each.by_person for each in batch),
    }


def _recording(batch: Sequence[EventOutcome]) -> tuple[str, dict[str, object]]:
    """The statement that records these outcomes, and its columns."""
    columns = _columns(batch)
    bearing_ids = [
        (each.inbox_id, each.key.instance_id, each.key.session_key, each.event)
        for each in batch
        if each.event and each.event.ids and each.messages
    ]
    merged = [(id, each.inbox_id) for each in batch for id in each.merged]
    if not bearing_ids and not merged:
        return RECORD, columns
    columns |= echo_columns(bearing_ids)
    if not merged:
        return RECORD_UNLESS_ECHO, columns
    into = {"merged_ids": Bigints(id for id, _ in merged), "merged_into": Bigints(into for _, into in merged)}
    return RECORD_MERGED, columns | into


def _part_columns(stored: Sequence[_Stored]) -> dict[str, object]:
    return {
        "part_ids": Bigints(each.inbox_id for each in stored for _ in each.messages),
        "parts": Texts(part for each in stored for part in each.messages),
        "targets": Texts(each.target for each in stored for _ in each.messages),
        "keys": Texts(key for each in stored for key in each.keys),
    }


def _leased(stored: Sequence[_Stored], rows: Sequence[tuple[Any, ...]]) -> dict[QueueKey, QueuedMessages]:
    """The lanes that the statement leased, with their first parts."""
    known = {each.inbox_id: each for each in stored}
    parts: dict[QueueKey, list[QueuedMessage]] = {}
    for inbox_id, _, _, ids, *_ in rows:
        each = known[inbox_id]
        for id, part, key in zip(ids or (), each.messages, each.keys, strict=False):
            found = parts.setdefault(each.key, [])
            if len(found) < ROWS_PER_LEASE:
                target = orjson.loads(each.target)
                found.append(
                    QueuedMessage(id, OutboundMessage(orjson.loads(part)), target, key, 0, each.apology)
                )
    return {key: QueuedMessages(key, found) for key, found in parts.items()}
