"""Outcomes of events, recorded together with their messages by one statement.

Conversations in PostgreSQL: their events are leased, and their outcomes recorded by group commit.

Rounds in PostgreSQL: of a conversation on the row of its queue, which only the holder of its lease counts on, and
over all conversations with a correspondent on a row of its own.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters import trace_context
from adapters.outbound.clock import url_uuid
from adapters.outbound.storage.arrays import Bigints, Bools, Texts, columns, unnest_sql
from adapters.outbound.storage.codec import (
    content_to_json,
    dump,
    dump_bytes,
    key_of,
    result_to_json,
    storable,
    storable_reason,
    stored_event,
)
from adapters.outbound.storage.events import detail_sql, log_event_sql
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import STATEMENT_SECONDS, Database
from adapters.outbound.storage.queue.batching import Batcher, through_outage
from adapters.outbound.storage.queue.inbox import ECHOES, echo_columns
from adapters.outbound.storage.queue.leases import LeaseStore, Queue
from adapters.outbound.storage.queue.statements import (
    ASYNC_COMMIT,
    HAS_OPEN_APPROVAL,
    EventStatus,
    QueueKind,
    complete_sql,
    enqueue_sql,
    queued_sql,
)
from adapters.outbound.storage.statements import compact
from domain.channels.messages import Event, Merge
from domain.conversations.model import answer_to
from domain.events import EventKind
from ports.queue import Album, Capacity, Conversation, EventOutcome, Leases, QueuedEvent, QueueKey, Round

_LOG = log_event_sql("string_to_table(told, ' ')", "done", data="nullif(main, id)::text")
"""An event that was merged into another has the number of that one for its data."""

_EVENT_COLUMNS = {
    "ids": Bigints,
    "main": Bigints,
    "instances": Bigints,
    "sessions": Texts,
    "errors": Texts,
    "results": Texts,
    "lasts": Bools,
    "prompts": Bools,
    "persons": Bools,
    "replied": Bools,
    "minutes": Bigints,
    "answers": Texts,
    "told": Texts,
}
_MESSAGE_COLUMNS = {
    "events": Bigints,
    "messages": Texts,
    "targets": Texts,
    "keys": Texts,
    "traces": Texts,
}

COMPLETE = compact(f"""
WITH {ECHOES}, r AS MATERIALIZED (
    SELECT t.*, (
        SELECT min(id) FROM inbox h WHERE {queued_sql(QueueKind.INBOUND, "h", "t.instance_id", "t.session_key")}
    ) AS head
    FROM {unnest_sql(*_EVENT_COLUMNS)}
      t(id, main, instance_id, session_key, error, result, last, prompt, person, replied, minutes, answer, told)
), done AS (
    UPDATE inbox i SET error = r.error, answer = r.answer, finished_at = now(),
        status = CASE WHEN r.error IS NULL THEN {EventStatus.DONE} ELSE {EventStatus.FAILED} END,
        result = CASE WHEN i.await_until > now() THEN r.result END
    FROM r WHERE i.status + 0 = {EventStatus.QUEUED} AND r.head = r.main
        AND (i.id, i.instance_id, i.session_key) = (r.id, r.instance_id, r.session_key)
    RETURNING r.*, i.await_until > now() AND r.result IS NOT NULL AS awaited
), sent AS (
    INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, trace, apology, prompt)
    SELECT instance_id, session_key, id, message, target, key, trace, error IS NOT NULL, prompt
    FROM {unnest_sql(*_MESSAGE_COLUMNS)} WITH ORDINALITY
      m(event, message, target, key, trace, n)
    JOIN done ON id = event AND awaited IS NOT TRUE WHERE event NOT IN (TABLE echoes) ORDER BY n
    RETURNING instance_id, session_key
), outbound AS ({enqueue_sql(QueueKind.OUTBOUND, "sent")}), inbound AS ({complete_sql(QueueKind.INBOUND, "done")}),
logged AS ({_LOG})
SELECT d.id, d.awaited, o.open, h.more, h.is_held AND NOT d.last, (SELECT CASE WHEN %(async)s THEN {ASYNC_COMMIT} END)
FROM done d LEFT JOIN outbound o USING (instance_id, session_key) LEFT JOIN inbound h USING (instance_id, session_key)
ORDER BY d.id
""")
"""Of each event that has an outcome now: its id, whether a call takes the answer, whether the queue of its messages
is to be leased, whether its conversation has more, and whether the rest of the lease is void, as a person has the
conversation.
Index `inbox_by_queue`, and the primary keys of `inbox` and `queue`; `status + 0` keeps the planner, while it takes
`inbox` for small, from reading all that is queued for each outcome.

An outcome whose conversation has an earlier event without one is left out: a database that died has forgotten that
one's, and what was answered in between must not be sent before it. An echo gets no messages: it came before the
platform's id of what was sent was on record. An event merged into another has that one's outcome; others are merged
into themselves."""

MERGED = "it failed with the message that it is part of"


def message_key(request_id: str, row: int, number: int) -> str:
    """The idempotency key of a message: random by the request id, unique by the rest. `row` is the event that it
    answers, or what was sent first."""
    return url_uuid(f"{request_id}#{row}.{number}")


def columns_of(outcomes: Sequence[EventOutcome]) -> dict[str, object]:
    """The parameters of `COMPLETE`, but for `owner`."""
    trace = trace_context.current() or None
    messages = [
        (outcome.inbox_id, message, target, key, trace)
        for outcome in outcomes
        for target in [dump_bytes(outcome.target)]
        for message, key in zip(*_messages(outcome), strict=True)
    ]
    return {
        **columns(_EVENT_COLUMNS, [row for outcome in outcomes for row in _event_rows(outcome)]),
        **columns(_MESSAGE_COLUMNS, messages),
        "async": all(outcome.messages and not outcome.require_sync_commit for outcome in outcomes),
        **echo_columns(
            (outcome.inbox_id, outcome.key.instance_id, outcome.key.session_key, outcome.event)
            for outcome in outcomes
            if outcome.event and outcome.messages
        ),
    }


def _messages(outcome: EventOutcome) -> tuple[list[bytes], list[str]]:
    """The JSON texts of the outcome's messages, and their idempotency keys. The keys follow from the event, so that a
    platform recognises a message that is made again."""
    texts = [dump_bytes(message.payload) for message in outcome.messages]
    return texts, [message_key(outcome.request_id, outcome.inbox_id, number) for number in range(len(texts))]


def _event_rows(outcome: EventOutcome) -> Iterator[tuple[object, ...]]:
    """`_EVENT_COLUMNS` of the event that the outcome is of, and of those that were merged into it."""
    place = (outcome.inbox_id, outcome.key.instance_id, outcome.key.session_key)
    answer, error = _answer(outcome), outcome.error
    result, kinds = None, []
    if error is not None:
        kinds = [EventKind.MESSAGE_FAILED]
    elif answer is not None:
        kinds = [EventKind.MESSAGE_ANSWERED]
    own_kinds = [*kinds, EventKind.CONVERSATION_HANDLER] if outcome.handler_minutes else kinds
    if outcome.result is not None:
        result = result_to_json(outcome.result, [part.payload for part in outcome.messages], outcome.target)
    yield (
        outcome.inbox_id,
        *place,
        None if error is None else storable_reason(error),
        result,
        outcome.last,
        outcome.prompt,
        outcome.by_person,
        bool(outcome.messages) and not outcome.by_person,
        outcome.handler_minutes,
        answer,
        " ".join(own_kinds),
    )
    merged_error = None if error is None else MERGED
    for id in outcome.merged:
        yield (id, *place, merged_error, None, False, False, False, False, None, None, " ".join(kinds))


def _answer(outcome: EventOutcome) -> bytes | None:
    """The JSON text of the answer. None for one that says nothing: it only ends a typing indicator."""
    answer = outcome.answer
    if answer is None or not (answer.text or answer.artifacts or answer.choices):
        return None
    return content_to_json(answer)


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
WITH gone AS (
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
    """The outcomes of many events are recorded by one statement."""

    def __init__(self, database: Database, leases: LeaseStore, wakeups: Wakeups) -> None:
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
        parameters = {**columns_of(outcomes), "owner": self._leases.owner}
        completed = await self._complete(parameters, outcomes)
        for inbox_id, awaited, *_ in completed:
            if awaited:
                self._wakeups.answered(inbox_id)
        if any(is_open for _, _, is_open, *_ in completed):
            self._wakeups.outbound()
        if any(more and not is_held for *_, more, is_held, _ in completed):
            (self._wakeups.inbound_left or self._wakeups.inbound)()
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

    async def drafted(self, inbox_id: int, draft: str) -> None:
        await self._database.execute(DRAFTED, (storable(draft), inbox_id))

    async def retry(self, key: QueueKey, inbox_id: int, error: str, delay: float) -> None:
        await self._database.execute(RETRY, (storable_reason(error), inbox_id, delay, self._leases.owner))

    async def remove(self, outcome: EventOutcome) -> bool:
        messages, keys = _messages(outcome)
        parameters = {
            "ids": [outcome.inbox_id, *outcome.merged],
            "instance_id": outcome.key.instance_id,
            "session_key": outcome.key.session_key,
            "last": outcome.last,
            "error": storable_reason(outcome.error or ""),
            "target": dump(outcome.target),
            "messages": Texts(messages),
            "keys": Texts(keys),
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


COUNT = f"""
WITH {ECHOES}, event AS (
    SELECT i.received_at AS at, coalesce(q.replied_at < i.received_at, false) AS begins, array(
        SELECT r FROM unnest(q.rounds) r WHERE r > i.received_at - make_interval(secs => %(window)s)
    ) AS recent
    FROM inbox i JOIN queue q ON q.kind = %(kind)s AND q.instance_id = i.instance_id AND q.session_key = %(session)s
    WHERE i.id = %(id)s
), counted AS (
    SELECT at, begins, CASE WHEN begins THEN recent || at ELSE recent END AS rounds FROM event
)
UPDATE queue q SET replied_at = CASE WHEN c.begins THEN NULL ELSE q.replied_at END,
    rounds = CASE WHEN cardinality(c.rounds) > %(most)s THEN array_fill(c.at, ARRAY[%(most)s + 1]) ELSE c.rounds END
FROM counted c WHERE q.kind = %(kind)s AND q.instance_id = %(instance)s AND q.session_key = %(session)s
RETURNING cardinality(q.rounds), EXISTS (SELECT FROM echoes)
"""
"""Over `most` rounds each further event counts as all of them, so that the window must pass without an event. Primary
keys."""

REPLIED = f"""
INSERT INTO queue AS q (kind, instance_id, session_key, pending, replied_at)
VALUES ({QueueKind.CORRESPONDENT}, %s, %s, 0, now())
ON CONFLICT (kind, instance_id, session_key) DO UPDATE
    SET replied_at = coalesce(q.replied_at, excluded.replied_at), touched_at = now()
"""
"""Primary key."""


class PostgresRounds:
    """`ports.queue.Rounds`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self, key: QueueKey, queued: QueuedEvent, most: int, window: float) -> Round:
        parameters = {
            **echo_columns([(queued.id, key.instance_id, key.session_key, queued.event)]),
            "kind": QueueKind.INBOUND,
            "id": queued.id,
            "instance": key.instance_id,
            "session": key.session_key,
            "most": most,
            "window": window,
        }
        row = await self._database.fetch_one(COUNT, parameters)
        of_conversation = Round(*row) if row else Round(0, echo=False)
        if of_conversation.echo or not queued.event.correspondent:
            return of_conversation
        of_all = {"kind": QueueKind.CORRESPONDENT, "session": key_of(queued.event.correspondent)}
        row = await self._database.fetch_one(COUNT, parameters | of_all)
        return Round(max(of_conversation.count, row[0]), echo=False) if row else of_conversation

    async def replied(self, key: QueueKey, correspondent: str) -> None:
        await self._database.execute(REPLIED, (key.instance_id, key_of(correspondent)))
