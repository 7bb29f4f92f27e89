"""Conversations in PostgreSQL: their events are leased, and outcomes recorded by group commit; and rounds."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from adapters import trace_context
from adapters.outbound.storage import codec
from adapters.outbound.storage.arrays import Bigints, Bools, Texts, columns
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import STATEMENT_SECONDS, Database
from adapters.outbound.storage.queue.batching import Batcher, through_outage
from adapters.outbound.storage.queue.inbox import echo_columns
from adapters.outbound.storage.queue.leases import INBOUND, LeaseStore
from adapters.outbound.storage.queue.statements import SQL, QueueKind
from adapters.outbound.storage.usage import PostgresUsage, usage_json
from domain.channels.answers import Answer
from domain.channels.messages import Merge
from domain.conversations.forms import FormUpdate
from domain.conversations.model import answer_to
from domain.events import EventKind
from domain.usage.model import RunUsage
from ports.queue import Album, Capacity, Conversation, EventOutcome, Leases, QueuedEvent, QueueKey, Round

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
LONGEST_CHANGE = 500
"""What is kept of the words on what an answer did to its conversation."""


MERGED = "it failed with the message that it is part of"


def message_key(request_id: str, row: int, number: int) -> str:
    """The idempotency key of a message: random by the request id, unique by the rest. `row` is the event that it
    answers, or what was sent first."""
    return str(uuid5(NAMESPACE_URL, f"{request_id}#{row}.{number}"))


def columns_of(outcomes: Sequence[EventOutcome]) -> dict[str, object]:
    """The parameters of `complete_events`, but for `owner`."""
    return {
        **columns(_EVENT_COLUMNS, [row for outcome in outcomes for row in _event_rows(outcome)]),
        **columns(_MESSAGE_COLUMNS, [row for outcome in outcomes for row in _message_rows(outcome)]),
        "usage": usage_json(_runs(outcomes)),
        "async": all(outcome.messages and not outcome.require_sync_commit for outcome in outcomes),
        **echo_columns(
            (outcome.inbox_id, outcome.key.instance_id, outcome.key.session_key, outcome.event)
            for outcome in outcomes
            if outcome.event and outcome.messages
        ),
    }


def _message_rows(outcome: EventOutcome) -> Iterator[tuple[int, bytes, bytes, str, str | None]]:
    """`_MESSAGE_COLUMNS` of the outcome's messages. Their idempotency keys follow from the event, so that a platform
    recognises a message that is made again."""
    target, trace = codec.dump_bytes(outcome.target), trace_context.current() or None
    for number, message in enumerate(outcome.messages):
        key = message_key(outcome.request_id, outcome.inbox_id, number)
        yield outcome.inbox_id, codec.dump_bytes(message.payload), target, key, trace


def _runs(outcomes: Sequence[EventOutcome]) -> Iterator[tuple[int, int, RunUsage]]:
    for outcome in outcomes:
        for run in outcome.usage:
            yield outcome.inbox_id, outcome.key.instance_id, run


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
        result = codec.result_to_json(
            outcome.result, [part.payload for part in outcome.messages], outcome.target
        )
    yield (
        outcome.inbox_id,
        *place,
        None if error is None else codec.storable_reason(error),
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
    if answer is None or not (answer.text or answer.artifacts or answer.choices or answer.rich):
        return None
    return codec.dump_bytes(codec.content_of(answer))


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

    def __init__(
        self, database: Database, leases: LeaseStore, wakeups: Wakeups, usage: PostgresUsage
    ) -> None:
        self._database = database
        self._usage = usage
        self._leases = leases
        self._wakeups = wakeups
        self._started = time.monotonic()
        self._batcher: Batcher[EventOutcome, bool] = Batcher(self.flush)

    async def lease(self, capacity: Capacity) -> Leases[Conversation]:
        leases = await self._leases.lease(INBOUND, capacity)
        conversations = [
            _conversation(key, [_queued(*row) for *row, _, _, _, _ in rows], *rows[0][-4:])
            for key, rows in leases.leased
        ]
        return Leases(conversations, leases.more)

    async def record(self, outcome: EventOutcome) -> bool:
        tries = 0

        def submit() -> Awaitable[bool]:
            nonlocal tries
            tries += 1
            return self._batcher.submit(outcome.key, outcome)

        recorded = await through_outage(submit)
        if (
            not recorded and tries == 1
        ):  # else the first try may have been committed before its answer was lost
            self._usage.keep(outcome.key.instance_id, outcome.usage)
        return recorded

    async def flush(self, outcomes: Sequence[EventOutcome]) -> Sequence[bool]:
        parameters = {**columns_of(outcomes), "owner": self._leases.owner}
        completed = await self._complete(parameters, outcomes)
        recorded: set[int] = set()
        has_messages = has_more = False
        for inbox_id, awaited, is_open, more, is_void, *_ in completed:
            if awaited:
                self._wakeups.answered(inbox_id)
            if not is_void:
                recorded.add(inbox_id)
            has_messages |= bool(is_open)
            has_more |= bool(more and not is_void)
        if has_messages:
            self._wakeups.outbound()
        if has_more:
            (self._wakeups.inbound_left or self._wakeups.inbound)()
        return [outcome.inbox_id in recorded for outcome in outcomes]

    @retried
    async def _complete(
        self, parameters: Mapping[str, object], outcomes: Sequence[EventOutcome]
    ) -> list[tuple[Any, ...]]:
        """One statement, but for answers whose choices are typed, and for changes of forms and conversations: that is
        on record with them."""
        noted = {outcome.inbox_id: outcome for outcome in outcomes if outcome.leaves_notes}
        if not noted:
            return await self._database.fetch(SQL["complete_events"], parameters)
        async with self._database.transaction(STATEMENT_SECONDS) as connection:
            completed = await (await connection.execute(SQL["complete_events"], parameters)).fetchall()
            for inbox_id in noted.keys() & {id for id, *_ in completed}:
                for statement, note in _notes(noted[inbox_id]):
                    await connection.execute(SQL[statement], note)
        return completed

    async def drafted(self, inbox_id: int, draft: str) -> None:
        await self._database.execute(SQL["note_draft"], (codec.storable(draft), inbox_id))

    async def retry(self, key: QueueKey, inbox_id: int, error: str, delay: float) -> None:
        await self._database.execute(
            SQL["retry_event"], (codec.storable_reason(error), inbox_id, delay, self._leases.owner)
        )

    async def remove(self, outcome: EventOutcome) -> bool:
        rows = list(_message_rows(outcome))
        parameters = {
            "ids": [outcome.inbox_id, *outcome.merged],
            "instance_id": outcome.key.instance_id,
            "session_key": outcome.key.session_key,
            "last": outcome.last,
            "error": codec.storable_reason(outcome.error or ""),
            "target": codec.dump(outcome.target),
            "messages": Texts(message for _, message, *_ in rows),
            "keys": Texts(key for *_, key, _ in rows),
            "inbox_id": outcome.inbox_id,
            "owner": self._leases.owner,
        }
        row = await self._database.fetch_one(SQL["remove_events"], parameters)
        self._wakeups.inbound()
        self._wakeups.outbound()
        return bool(row and row[0])

    async def release(self, key: QueueKey, delay: float = 0.0) -> None:
        await self._leases.release(INBOUND, key, delay)

    async def album(self, key: QueueKey, merge: Merge | None) -> Album:
        # As `event_to_json` writes it; no text of a sender has these quotes.
        stored = f'"merge":[{codec.dump(merge.key)},' if merge else ""
        rows = await self._database.fetch(
            SQL["album"], {"instance": key.instance_id, "session": key.session_key, "album": stored}
        )
        queued = [(_queued(*columns), age) for *columns, age in rows]
        own = [
            (event, age)
            for event, age in queued
            if merge is None or (event.event.merge and event.event.merge.key == merge.key)
        ]
        up = time.monotonic() - self._started  # before that nobody may have been there to take in the others
        ages = [min(age, up) for _, age in own] or [math.inf]
        return Album([event for event, _ in own], max(ages), min(ages))

    async def postpone(self, key: QueueKey, delay: float) -> None:
        await self.release(key, delay)
        asyncio.get_running_loop().call_later(delay, self._wakeups.inbound)

    @retried
    async def note(
        self,
        key: QueueKey,
        inbox_id: int,
        answer: Answer,
        form_update: FormUpdate | None,
        handler_minutes: int | None,
    ) -> None:
        place = QueueKey(key.instance_id, codec.key_of(key.session_key))
        outcome = EventOutcome(place, inbox_id, {}, answer=answer, form_update=form_update)
        async with self._database.transaction() as connection:
            for statement, note in _notes(outcome):
                await connection.execute(SQL[statement], note)
            if handler_minutes is not None:
                where = {"instance": place.instance_id, "session": place.session_key}
                await connection.execute(SQL["hand_over_conversation"], {**where, "minutes": handler_minutes})

    async def close(self) -> None:
        await self._batcher.close()


def _notes(outcome: EventOutcome) -> Iterator[tuple[str, tuple[object, ...] | Mapping[str, object]]]:
    """The statements that note what an outcome leaves open in its conversation, with their parameters."""
    place = (outcome.key.instance_id, outcome.key.session_key)
    if outcome.numbered:
        yield "note_offer", (str(answer_to(outcome.inbox_id)), *place)
    if update := outcome.form_update:
        yield "note_form", (codec.open_form_to_json(update.form) if update.form else None, *place)
    if outcome.reopens:
        yield "note_reopened", (outcome.inbox_id, *place)
    if change := outcome.change:
        yield (
            "note_change",
            {
                "assign": change.assign,
                "added": Texts(change.add_labels),
                "removed": Texts(change.remove_labels),
                "close": change.close,
                "words": change.in_words[:LONGEST_CHANGE],
                "resource": outcome.resource,
                "inbox": outcome.inbox_id,
                "instance": outcome.key.instance_id,
                "session": outcome.key.session_key,
            },
        )


def _conversation(
    key: QueueKey,
    queued: Sequence[QueuedEvent],
    has_open_approval: bool,
    offered: str | None,
    form: str | None,
    labels: Sequence[str] | None,
) -> Conversation:
    opened = codec.stored_open_form(form) if form else None
    return Conversation(key, queued, has_open_approval, offered, opened, tuple(labels or ()))


def _queued(
    id: int, event: str, attempts: int, at: datetime, draft: str | None, failures: int
) -> QueuedEvent:
    return QueuedEvent(id, codec.stored_event(event), attempts, at, draft or "", failures)


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
        row = await self._database.fetch_one(SQL["count_round"], parameters)
        of_conversation = Round(*row) if row else Round(0, echo=False)
        if of_conversation.echo or not queued.event.correspondent:
            return of_conversation
        of_all = {"kind": QueueKind.CORRESPONDENT, "session": codec.key_of(queued.event.correspondent)}
        row = await self._database.fetch_one(SQL["count_round"], parameters | of_all)
        return Round(max(of_conversation.count, row[0]), echo=False) if row else of_conversation

    async def replied(self, key: QueueKey, correspondent: str) -> None:
        await self._database.execute(SQL["note_reply"], (key.instance_id, codec.key_of(correspondent)))
