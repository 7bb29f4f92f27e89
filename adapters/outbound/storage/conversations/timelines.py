"""What happened to messages, put together from the rows that their processing left."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import orjson

from adapters.outbound.storage.codec import LONGEST_BEGINNING, provenance_from_beginning
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import EventStatus, MessageStatus, read_statements
from domain.channels.provenance import FALLBACK, Provenance
from domain.confirmations.model import LIFETIME
from domain.conversations.model import MessageId, MessageKind, Step, StepKind, Timeline

OF_ANSWER = f"inbox_id = i.id AND NOT (apology AND i.status = {EventStatus.DONE})"
"""The apology for a message `i` that was run again is no part of its answer."""
OF_SEND = "send_id = s.id"
SQL = read_statements(
    Path(__file__).with_suffix(".sql"), of_answer=OF_ANSWER, of_send=OF_SEND, beginning=LONGEST_BEGINNING
)


REACHED = (StepKind.DELIVERED, StepKind.READ)
"""By the column `delivery_state` of `outbox`, from 1 on."""


_PART_KINDS = {
    MessageStatus.PENDING: StepKind.QUEUED,
    MessageStatus.SENT: StepKind.SENT,
    MessageStatus.DEAD: StepKind.DEAD,
}


class _Event(NamedTuple):
    id: int
    status: int
    failures: int
    error: str | None
    received_at: datetime
    finished_at: datetime | None
    is_answered: bool
    by_resource: bool | None
    beginning: str | None
    change: str | None


class _Question(NamedTuple):
    asked_by: int
    detail: str
    decision: str | None
    decider: str
    decided_at: datetime | None
    closed_at: datetime | None
    expires_at: datetime


class _Approval(NamedTuple):
    inbox_id: int
    detail: str
    approver: str
    decision: str | None
    decided_by: str
    reason: str
    asked_at: datetime
    decided_at: datetime | None


class _Outbound(NamedTuple):
    """An outbound message of one; `id` and all fields after it are None if a call took the answer."""

    kind: str
    message: int
    written_at: datetime
    id: int | None
    status: int | None
    attempts: int
    last_error: str | None
    next_attempt_at: datetime | None
    finished_at: datetime | None
    delivery_state: int | None
    ref: str | None


async def timelines_of(
    database: Database, instance_id: int, messages: Sequence[MessageId]
) -> Sequence[Timeline]:
    """Four statements, however many messages there are."""
    rows = {kind: [id.row for id in messages if id.kind is kind] for kind in MessageKind}
    inbound = rows[MessageKind.INBOUND]
    steps = await _of_events(database, instance_id, inbound) if inbound else {}
    if len(inbound) < len(messages):
        answers, sends = rows[MessageKind.ANSWER], rows[MessageKind.SENT_FIRST]
        parameters = {"answers": answers, "sends": sends, "instance": instance_id}
        parts = [_Outbound(*row) for row in await database.fetch(SQL["parts_of_timeline"], parameters)]
        for (kind, message), group in groupby(parts, key=attrgetter("kind", "message")):
            steps[MessageId(MessageKind(kind), message)] = [*_message_steps(list(group))]
    return [Timeline(str(id), steps[id]) for id in messages if id in steps]


async def _of_events(
    database: Database, instance_id: int, inbound: Sequence[int]
) -> dict[MessageId, Sequence[Step]]:
    asked: defaultdict[int, list[_Question]] = defaultdict(list)
    for row in await database.fetch(SQL["questions_of_timeline"], (inbound, instance_id)):
        question = _Question(*row)
        asked[question.asked_by].append(question)
    approvals: defaultdict[int, list[_Approval]] = defaultdict(list)
    for row in await database.fetch(SQL["approvals_of_timeline"], (inbound, instance_id)):
        approval = _Approval(*row)
        approvals[approval.inbox_id].append(approval)
    rows = await database.fetch(SQL["events_of_timeline"], (inbound, instance_id))
    events = [_Event(*row) for row in rows]
    return {
        MessageId(MessageKind.INBOUND, event.id): [*_event_steps(event, asked[event.id], approvals[event.id])]
        for event in events
    }


def _event_steps(
    event: _Event, questions: Sequence[_Question], approvals: Sequence[_Approval]
) -> Iterator[Step]:
    yield Step(kind=StepKind.RECEIVED, at=event.received_at)
    provenance = provenance_from_beginning(event.beginning)
    if provenance or event.by_resource or questions or event.failures:
        tries = event.failures + (event.status != EventStatus.QUEUED)
        asked = Step(
            kind=StepKind.ASKED, attempts=max(tries, 1), reason=event.error if event.failures else None
        )
        yield from _asked(asked, provenance) if provenance else [asked]
    for question in questions:
        yield from _question_steps(question)
    yield from map(_approval_asked, approvals)
    yield from _outcome_steps(event)
    yield from filter(None, map(_approval_decided, approvals))


def _outcome_steps(event: _Event) -> Iterator[Step]:
    if event.status == EventStatus.FAILED:
        yield Step(kind=StepKind.FAILED, at=event.finished_at, reason=event.error)
    elif event.status == EventStatus.DONE:
        yield Step(kind=StepKind.ANSWERED if event.is_answered else StepKind.DONE, at=event.finished_at)
    if event.change:
        yield Step(kind=StepKind.CHANGED, at=event.finished_at, change=event.change)


def _approval_asked(approval: _Approval) -> Step:
    detail = orjson.loads(approval.detail)
    return Step(
        kind=StepKind.TOOL_ASKED,
        at=approval.asked_at,
        tool=detail["tool"],
        parameters=detail["parameters"],
        decider=approval.approver,
    )


def _approval_decided(approval: _Approval) -> Step | None:
    """None as long as nobody has decided."""
    if approval.decision is None:
        return None
    return Step(
        kind=StepKind.TOOL_DECIDED,
        at=approval.decided_at,
        tool=orjson.loads(approval.detail)["tool"],
        decision=approval.decision if approval.decided_by else "expired",
        decider=approval.decided_by or None,
        reason=approval.reason or None,
    )


def _asked(step: Step, provenance: Provenance) -> Iterator[Step]:
    """A step for each resource that was asked: those that failed, then the one that answered."""
    route: str | None = provenance.route or None
    for failed in provenance.failures:
        yield replace(step, resource=failed.resource, route=route, reason=failed.reason)
        route = FALLBACK
    if provenance.resource:
        yield replace(step, resource=provenance.resource, route=route)


def _question_steps(question: _Question) -> Iterator[Step]:
    detail = orjson.loads(question.detail)
    tool, asked_at = detail["tool"], question.expires_at - LIFETIME
    yield Step(kind=StepKind.TOOL_ASKED, at=asked_at, tool=tool, parameters=detail["parameters"])
    at, decision = question.decided_at, question.decision
    if decision is None and question.closed_at is not None:
        at = question.closed_at
        decision = "expired" if at >= question.expires_at else "withdrawn"
    if decision is not None:
        decider = question.decider or None
        yield Step(kind=StepKind.TOOL_DECIDED, at=at, tool=tool, decision=decision, decider=decider)


def _message_steps(parts: Sequence[_Outbound]) -> Iterator[Step]:
    """When it was written, then what became of each of its parts."""
    yield Step(kind=StepKind.WRITTEN, at=parts[0].written_at)
    for number, part in enumerate(parts, 1):
        if part.status is not None:
            state = MessageStatus(part.status)
            place = number if len(parts) > 1 else None
            yield Step(
                kind=_PART_KINDS[state],
                at=part.finished_at,
                part=place,
                attempts=part.attempts,
                reason=part.last_error,
                next_attempt_at=part.next_attempt_at,
                platform_id=part.ref,
            )
            if state is MessageStatus.SENT:
                for kind in REACHED[: max(part.delivery_state or 0, 0)]:
                    yield Step(kind=kind, part=place)
