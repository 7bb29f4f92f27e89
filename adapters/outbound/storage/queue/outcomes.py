"""Outcomes of events, recorded together with their messages by one statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from adapters import trace_context
from adapters.outbound.clock import url_uuid
from adapters.outbound.storage.arrays import Bigints, Bools, Texts, columns, unnest_sql
from adapters.outbound.storage.codec import content_to_json, dump_bytes, result_to_json, storable_reason
from adapters.outbound.storage.events.recording import log_event_sql
from adapters.outbound.storage.queue.echoes import ECHOES, echo_columns
from adapters.outbound.storage.queue.states import (
    ASYNC_COMMIT,
    OFFERED,
    ROWS_PER_LEASE,
    EventStatus,
    QueueKind,
    complete_sql,
    enqueue_sql,
    queued_sql,
)
from adapters.outbound.storage.statements import compact
from domain.channels.answers import OutboundMessage
from domain.events import EventKind
from domain.values import value
from ports.outbox import QueuedMessage, QueuedMessages
from ports.queue import EventOutcome, QueueKey

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
WITH {OFFERED}, {ECHOES}, r AS MATERIALIZED (
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
    RETURNING id, inbox_id, instance_id, session_key
), outbound AS ({enqueue_sql(QueueKind.OUTBOUND, "sent")}), inbound AS ({complete_sql(QueueKind.INBOUND, "done")}),
logged AS ({_LOG})
SELECT d.id, d.awaited, o.open,
    (SELECT array_agg(id ORDER BY id) FROM sent WHERE inbox_id = d.id AND o.leased),
    h.more, h.is_held AND NOT d.last, (SELECT CASE WHEN %(async)s THEN {ASYNC_COMMIT} END)
FROM done d LEFT JOIN outbound o USING (instance_id, session_key) LEFT JOIN inbound h USING (instance_id, session_key)
ORDER BY d.id
""")
"""Of each event that has an outcome now: its id, whether a call takes the answer, whether the queue of its messages
is to be leased, the ids of its messages where that was leased for this process, whether its conversation has more,
and whether the rest of the lease is void, as a person has the conversation.
Index `inbox_by_queue`, and the primary keys of `inbox` and `queue`; `status + 0` keeps the planner, while it takes
`inbox` for small, from reading all that is queued for each outcome.

An outcome whose conversation has an earlier event without one is left out: a database that died has forgotten that
one's, and what was answered in between must not be sent before it. An echo gets no messages: it came before the
platform's id of what was sent was on record. An event merged into another has that one's outcome; others are merged
into themselves."""

MERGED = "it failed with the message that it is part of"


@value
class OutboxRows:
    """An outcome's messages as rows of the outbox: their JSON texts and idempotency keys.

    The keys follow from the event, so that a platform recognises a message that is made again.
    """

    queue_key: QueueKey
    inbox_id: int
    target: bytes
    messages: Sequence[bytes]
    keys: Sequence[str]
    apology: bool
    trace: str | None

    @classmethod
    def of(cls, outcome: EventOutcome) -> OutboxRows:
        messages = [dump_bytes(message.payload) for message in outcome.messages]
        keys = [message_key(outcome.request_id, outcome.inbox_id, number) for number in range(len(messages))]
        target, apology = dump_bytes(outcome.target), outcome.error is not None
        trace = trace_context.current() or None
        return cls(outcome.key, outcome.inbox_id, target, messages, keys, apology, trace)

    def queued(self, ids: Sequence[int]) -> Iterable[QueuedMessage]:
        target = orjson.loads(self.target)
        for id, message, key in zip(ids, self.messages, self.keys, strict=False):
            read = OutboundMessage(orjson.loads(message))
            yield QueuedMessage(id, read, target, key, 0, self.apology, trace=self.trace or "")


def message_key(request_id: str, row: int, number: int) -> str:
    """The idempotency key of a message: random by the request id, unique by the rest. `row` is the event that it
    answers, or what was sent first."""
    return url_uuid(f"{request_id}#{row}.{number}")


def columns_of(outcomes: Sequence[EventOutcome], rows: Sequence[OutboxRows]) -> dict[str, object]:
    """The parameters of `COMPLETE`, those of direct dispatch aside."""
    events = [_event(outcome, id) for outcome in outcomes for id in (outcome.inbox_id, *outcome.merged)]
    messages = [
        (row.inbox_id, message, row.target, key, row.trace)
        for row in rows
        for message, key in zip(row.messages, row.keys, strict=True)
    ]
    return {
        **columns(_EVENT_COLUMNS, events),
        **columns(_MESSAGE_COLUMNS, messages),
        "async": all(outcome.messages and not outcome.require_sync_commit for outcome in outcomes),
        **echo_columns(
            (outcome.inbox_id, outcome.key.instance_id, outcome.key.session_key, outcome.event)
            for outcome in outcomes
            if outcome.event and outcome.messages
        ),
    }


def _event(outcome: EventOutcome, id: int) -> tuple[object, ...]:
    """`_EVENT_COLUMNS` of an event that the outcome is of, its own or one that was merged into it."""
    own = id == outcome.inbox_id
    return (
        id,
        outcome.inbox_id,
        outcome.key.instance_id,
        outcome.key.session_key,
        _error(outcome, own),
        _result(outcome) if own else None,
        own and outcome.last,
        own and outcome.prompt,
        own and outcome.by_person,
        own and _got_reply(outcome),
        outcome.handler_minutes if own else None,
        _answer(outcome) if own else None,
        " ".join(_told(outcome, own)) or None,
    )


def _error(outcome: EventOutcome, own: bool) -> str | None:
    if outcome.error is None:
        return None
    return storable_reason(outcome.error) if own else MERGED


def _got_reply(outcome: EventOutcome) -> bool:
    return bool(outcome.messages) and not outcome.by_person


def _told(outcome: EventOutcome, own: bool) -> Iterator[EventKind]:
    """The kinds of the events that tell of the outcome. A message that gets no answer has none."""
    if outcome.error is not None:
        yield EventKind.MESSAGE_FAILED
    elif _says_something(outcome):
        yield EventKind.MESSAGE_ANSWERED
    if own and outcome.handler_minutes:
        yield EventKind.CONVERSATION_HANDLER


def _says_something(outcome: EventOutcome) -> bool:
    answer = outcome.answer
    return answer is not None and bool(answer.text or answer.artifacts or answer.choices)


def _answer(outcome: EventOutcome) -> bytes | None:
    """None for one that says nothing: it only ends an indicator."""
    return content_to_json(outcome.answer) if outcome.answer and _says_something(outcome) else None


def _result(outcome: EventOutcome) -> str | None:
    if outcome.result is None:
        return None
    return result_to_json(outcome.result, [message.payload for message in outcome.messages], outcome.target)


def leased_messages(
    rows: Sequence[OutboxRows], completed: Sequence[tuple[Any, ...]]
) -> dict[QueueKey, QueuedMessages]:
    """The queues that `COMPLETE` leased, with their first messages."""
    by_event = {row.inbox_id: row for row in rows}
    leased: dict[QueueKey, list[QueuedMessage]] = {}
    for inbox_id, _, _, ids, *_ in completed:
        if ids:
            row = by_event[inbox_id]
            leased.setdefault(row.queue_key, []).extend(row.queued(ids))
    return {key: QueuedMessages(key, messages[:ROWS_PER_LEASE]) for key, messages in leased.items()}
