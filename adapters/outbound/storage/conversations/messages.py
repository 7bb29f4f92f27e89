"""Messages of conversations, read from their rows, with what became of them."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import orjson

from adapters.outbound.storage.arrays import Bigints
from adapters.outbound.storage.codec import (
    dump,
    files_of,
    key_of,
    provenance_from_document,
    storable,
    stored_event,
)
from adapters.outbound.storage.conversations.timelines import OF_ANSWER, OF_SEND, timelines_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import SQL as QUEUE_SQL
from adapters.outbound.storage.queue.statements import EventStatus, MessageStatus, read_statements
from domain.channels.answers import Artifact, Author
from domain.channels.messages import Event
from domain.conversations.model import (
    Direction,
    Message,
    MessageId,
    MessageKind,
    MessageState,
    MessagesWanted,
    NewNote,
    Timeline,
)
from domain.file_names import file_name
from domain.monitoring.model import DeadPart
from domain.paging import Page, cursor_of, read_cursor
from ports.conversations import Rerun

SQL = read_statements(Path(__file__).with_suffix(".sql"), of_answer=OF_ANSWER, of_send=OF_SEND)

INBOUND_STATES = {
    EventStatus.QUEUED: MessageState.WAITING,
    EventStatus.DONE: MessageState.DONE,
    EventStatus.FAILED: MessageState.FAILED,
}
DELIVERY_STATES = (MessageState.SENT, MessageState.DELIVERED, MessageState.READ)
"""By the column `delivery_state` of `outbox`, of which none is 0."""


def delivery_state(dead: bool, pending: bool, reached: int) -> MessageState:
    if dead:
        return MessageState.DEAD
    return MessageState.QUEUED if pending else DELIVERY_STATES[reached]


def received(id: str, stored: str, status: int, error: str | None, at: Any) -> Message:
    event = stored_event(stored)
    files = [Artifact(file.name, file.mime_type, "", size=file.size) for file in event.attachments]
    state = INBOUND_STATES[EventStatus(status)]
    return Message(
        id,
        event.session_id,
        Direction.INBOUND,
        event.text,
        files,
        Author.SENDER,
        state,
        error,
        event.request_id,
        at,
        event.sender.display_name,
    )


def answered(id: str, stored: str, answer: str, at: Any, dead: bool, *delivery: Any) -> Message:
    event, content = stored_event(stored), orjson.loads(answer)
    message = _outbound(
        id, event.session_id, content, content["author"], event.request_id, at, dead, *delivery
    )
    provenance = provenance_from_document(content)
    if provenance is None:
        return message
    return replace(message, resource=provenance.resource or None, route=provenance.way or None)


def sent_first(
    id: str, session_id: str, stored: str, author: str, at: Any, dead: bool, *delivery: Any
) -> Message:
    content = orjson.loads(stored)
    return _outbound(id, session_id, content, author, content.get("request", ""), at, dead, *delivery)


def _outbound(
    id: str,
    session_id: str,
    content: dict[str, Any],
    author: str,
    request_id: str,
    at: Any,
    dead: bool,
    pending: bool,
    reached: int,
    error: str | None,
) -> Message:
    return Message(
        id,
        session_id,
        Direction.OUTBOUND,
        content.get("text", ""),
        files_of(content),
        Author(author),
        delivery_state(dead, pending, reached),
        error if dead else None,
        request_id,
        at,
    )


def note_message(id: int, session_id: str, note: NewNote, at: datetime) -> Message:
    return Message(
        str(MessageId(MessageKind.NOTE, id)),
        session_id,
        Direction.NOTE,
        note.text,
        (),
        Author.PERSON,
        MessageState.DONE,
        None,
        "",
        at,
        user_id=note.user_id,
        mentions=note.mentions,
    )


NOTHING = '{"text":"","files":[],"choices":[]}'
"""The content of a message whose texts are not kept any more."""


class Stream(IntEnum):
    """What a list of messages is put together of: events, the answers beside them, rows of `send`, and notes. What
    was given up of the answers and sends is one stream, the outbox."""

    INBOUND = 0
    ANSWER = 1
    SENT_FIRST = 2
    NOTE = 3


class Stored(NamedTuple):
    """A row of a list of messages. `position` is that of its stream, `id` the row of `inbox` or `send`; `content` and
    `author` are those of an answer or of what was sent first, `status` and `error` those of the event. `dead` and
    the three behind it are those of the macro `delivery`; lists over several instances have the instance."""

    stream: Stream
    kind: MessageKind
    position: int
    id: int
    session: str
    at: datetime
    event: str | None
    content: str | None
    author: str | None
    status: int
    error: str | None
    dead: bool
    pending: bool
    reached: int
    reason: str | None
    instance_id: int = 0


def _message(row: Stored) -> Message:
    id = str(MessageId(row.kind, row.id))
    if row.kind is MessageKind.NOTE:
        note = orjson.loads(row.content or "{}")
        return note_message(
            row.id, row.session, NewNote(note["user"], note["text"], tuple(note["mentions"])), row.at
        )
    delivery = row.dead, row.pending, row.reached, row.reason
    if row.kind is MessageKind.INBOUND:
        return received(id, row.event or "{}", row.status, row.error, row.at)
    if row.kind is MessageKind.ANSWER and row.event and row.content:
        return answered(id, row.event, row.content, row.at, *delivery)
    return sent_first(id, row.session, row.content or NOTHING, row.author or "resource", row.at, *delivery)


def _present(
    files: Sequence[Artifact], fetched: Sequence[Artifact] | None, kept: Set[str]
) -> Sequence[Artifact]:
    """The files of a message; without their blobs where those are gone."""
    if fetched is not None:
        return _fetched(fetched, files)
    return [
        replace(file, blob=None, url="") if file.blob and file.blob not in kept else file for file in files
    ]


def _fetched(stored: Sequence[Artifact], attachments: Sequence[Artifact]) -> tuple[Artifact, ...]:
    """The files that were fetched, and the others without an address."""
    names = {file.name for file in stored}
    return (*stored, *(file for file in attachments if file_name(file.name or "file") not in names))


OLDEST, LATEST = 0, 2**63 - 1
_STREAMS = len(Stream)
OF_FAILED = (Direction.INBOUND, Direction.OUTBOUND, None, None)
"""The direction of what was given up, by stream; the last ones are not used."""
PAGE_CHARACTERS = 1_000_000
"""Of the stored messages of a page together: gRPC clients take answers of 4 MB by default."""


def _page(
    rows: Sequence[Stored], after: Sequence[int], limit: int, *, latest_first: bool
) -> tuple[Sequence[Stored], str | None]:
    """The rows of a page, and the cursor of the one that follows.

    They are in the order of time, each stream in that of its positions: the answer to a message that was run again
    stands before the answers to later ones.
    """
    timed: list[tuple[datetime, int, Stored]] = []
    latest: dict[Stream, datetime] = {}
    for row in sorted(rows, key=lambda row: row.position, reverse=True):
        at = latest[row.stream] = min(row.at, latest.get(row.stream, row.at))
        timed.append((at, row.stream, row))
    timed.sort(key=lambda entry: (entry[0], entry[1], entry[2].position), reverse=latest_first)
    ordered = [row for _, _, row in timed]
    shown = ordered[: _fitting(ordered[:limit])]
    positions = list(after)
    for row in shown:
        positions[row.stream] = row.position
    return shown, cursor_of(*positions) if len(ordered) > len(shown) else None


def _fitting(rows: Sequence[Stored]) -> int:
    """How many of the first rows make a page of a bounded size; at least one."""
    size = 0
    for number, row in enumerate(rows):
        size += len(row.event or "") + len(row.content or "")
        if number and size > PAGE_CHARACTERS:
            return number
    return len(rows)


def _positions(cursor: str | None, start: int) -> Sequence[int]:
    """The last position of each stream."""
    position = read_cursor(cursor, *[int] * _STREAMS)
    return [int(value) for value in position] if position else [start] * _STREAMS


@dataclass(frozen=True, slots=True)
class _Resend:
    """The statements that send one kind of outbound messages again."""

    send: str
    exists: str


_ANSWER_AGAIN = _Resend(
    QUEUE_SQL["send_answer_again"],
    "SELECT 1 FROM inbox WHERE id = %s AND instance_id = %s AND answer IS NOT NULL",
)
_SENT_FIRST_AGAIN = _Resend(
    QUEUE_SQL["send_sent_first_again"], "SELECT 1 FROM send WHERE id = %s AND instance_id = %s"
)

LONGEST_PAYLOAD = 100_000
MOST_PARTS = 20

_PARTS = f"""
SELECT id, attempts, last_error, left(message, {LONGEST_PAYLOAD}) FROM outbox
WHERE {{column}} = %s AND instance_id = %s AND status = {MessageStatus.DEAD} ORDER BY id LIMIT {MOST_PARTS}
"""
_DROP = f"DELETE FROM outbox WHERE {{column}} = %s AND instance_id = %s AND status = {MessageStatus.DEAD}"
COLUMNS = {MessageKind.ANSWER: "inbox_id", MessageKind.SENT_FIRST: "send_id"}
PARTS = {kind: _PARTS.format(column=column) for kind, column in COLUMNS.items()}
DROPS = {
    MessageKind.INBOUND: (
        f"UPDATE inbox SET status = {EventStatus.DONE}"
        f" WHERE id = %s AND instance_id = %s AND status = {EventStatus.FAILED} AND event <> '{{}}'"
    ),
    **{kind: _DROP.format(column=column) for kind, column in COLUMNS.items()},
}
"""An inbound message stays on record with the reason, and is dealt with. Primary key of `inbox`, and indexes
`outbox_by_event` and `outbox_by_send`."""


class PostgresMessages:
    """`ports.conversations.MessageStore`. `inbound` and `outbound` wake the workers of both queues."""

    def __init__(self, database: Database, inbound: Callable[[], None], outbound: Callable[[], None]) -> None:
        self._database = database
        self._inbound = inbound
        self._outbound = outbound

    async def find(self, instance_id: int, message_id: MessageId) -> Message | None:
        query, read = _KINDS[message_id.kind]
        row = await self._database.fetch_one(query, (message_id.row, instance_id))
        if row is None:
            return None
        message = read(str(message_id), *row)
        if query is not SQL["received_message"] or not message.files:
            return message
        stored = await self._files([message_id.row])
        files = stored.get(message_id.row)
        return replace(message, files=_fetched(files, message.files)) if files else message

    async def event(self, instance_id: int, inbox_id: int) -> Event | None:
        row = await self._database.fetch_one(SQL["received_message"], (inbox_id, instance_id))
        return stored_event(row[0]) if row else None

    async def of_session(
        self, instance_id: int, session_id: str, wanted: MessagesWanted
    ) -> Page[Message, str] | None:
        return await self.of_key(instance_id, key_of(session_id), wanted, session_id)

    async def of_key(
        self, instance_id: int, session_key: str, wanted: MessagesWanted, session_id: str = ""
    ) -> Page[Message, str] | None:
        """`session_id` is that of notes, whose rows have the key alone."""
        session = {"instance": instance_id, "session": session_key, "session_id": storable(session_id)}
        name, start = ("messages_before", LATEST) if wanted.latest_first else ("messages_after", OLDEST)
        after = _positions(wanted.cursor, start)
        if not wanted.notes:
            after = (*after[: Stream.NOTE], OLDEST if wanted.latest_first else LATEST)
        rows = await self._rows(SQL[name], session, after, wanted.limit)
        if not rows and not await self._database.fetch(SQL["is_known"], session):
            return None
        shown, following = _page(rows, after, wanted.limit, latest_first=wanted.latest_first)
        return Page(await self._shown(shown), following)

    async def failed(
        self, instance_ids: Sequence[int], direction: Direction | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[tuple[int, Message]], str | None]:
        after = _positions(cursor, LATEST)
        fitting = [
            OLDEST if direction and direction is not of else at
            for at, of in zip(after, OF_FAILED, strict=True)
        ]
        rows = await self._rows(SQL["failed_messages"], {"instances": Bigints(instance_ids)}, fitting, limit)
        shown, following = _page(rows, after, limit, latest_first=True)
        messages = await self._shown(shown)
        return [(row.instance_id, message) for row, message in zip(shown, messages, strict=True)], following

    async def timelines(self, instance_id: int, messages: Sequence[MessageId]) -> Sequence[Timeline]:
        return await timelines_of(self._database, instance_id, messages)

    async def dead_parts(self, instance_id: int, message: MessageId) -> Sequence[DeadPart]:
        statement = PARTS.get(message.kind)
        rows = await self._database.fetch(statement, (message.row, instance_id)) if statement else []
        return [DeadPart(*row) for row in rows]

    async def rerun(self, instance_id: int, message: MessageId) -> Rerun:
        if message.kind is MessageKind.INBOUND:
            result = await self._process_again(instance_id, message.row)
            self._inbound()
            return result
        outbound = _ANSWER_AGAIN if message.kind is MessageKind.ANSWER else _SENT_FIRST_AGAIN
        parameters = {"id": message.row, "instance": instance_id}
        if await self._database.execute(outbound.send, parameters):
            self._outbound()
            return Rerun.STARTED
        known = await self._database.fetch(outbound.exists, (message.row, instance_id))
        return Rerun.NOT_FAILED if known else Rerun.UNKNOWN

    @retried
    async def _process_again(self, instance_id: int, inbox_id: int) -> Rerun:
        """Under another request id: a resource must not take it for a repetition, nor a platform its answer."""
        async with self._database.transaction() as connection:
            row = await (
                await connection.execute(SQL["message_to_rerun"], (inbox_id, instance_id))
            ).fetchone()
            if row is None:
                return Rerun.UNKNOWN
            event, status = row
            if status != EventStatus.FAILED:
                return Rerun.NOT_FAILED
            again = dump({**orjson.loads(event), "request": str(uuid4())})
            await connection.execute(QUEUE_SQL["rerun_event"], {"id": inbox_id, "event": again})
        return Rerun.STARTED

    async def drop(self, instance_id: int, message: MessageId) -> bool:
        return bool(await self._database.execute(DROPS[message.kind], (message.row, instance_id)))

    async def _rows(
        self, statement: str, of: dict[str, Any], after: Sequence[int], limit: int
    ) -> Sequence[Stored]:
        names = ("inbound", "answers", "sends", "notes")
        parameters = {**of, **dict(zip(names, after, strict=True)), "count": limit + 1}
        rows = await self._database.fetch(statement, parameters)
        return [Stored(Stream(stream), MessageKind(kind), *columns) for stream, kind, *columns in rows]

    async def _shown(self, rows: Sequence[Stored]) -> list[Message]:
        """The messages of these rows. The files of all of them are found by one statement."""
        messages = [_message(row) for row in rows]
        inbound = [row.id if row.kind is MessageKind.INBOUND else 0 for row in rows]
        with_files = [id for id, message in zip(inbound, messages, strict=True) if id and message.files]
        stored = await self._files(with_files)
        blobs = [file.blob for message in messages for file in message.files if file.blob]
        kept = set(await self._database.fetch_column(SQL["stored_blobs"], (blobs,)) if blobs else ())
        return [
            replace(message, files=_present(message.files, stored.get(id), kept))
            for id, message in zip(inbound, messages, strict=True)
        ]

    async def _files(self, inbox_ids: Sequence[int]) -> Mapping[int, list[Artifact]]:
        files: dict[int, list[Artifact]] = {}
        if not inbox_ids:
            return files
        for inbox_id, name, kind, size, blob in await self._database.fetch(
            SQL["files_of_events"], (list(inbox_ids),)
        ):
            files.setdefault(inbox_id, []).append(Artifact(name, kind, "", blob, size))
        return files


_KINDS: Mapping[MessageKind, tuple[str, Callable[..., Message]]] = {
    MessageKind.INBOUND: (SQL["received_message"], received),
    MessageKind.ANSWER: (SQL["answered_message"], answered),
    MessageKind.SENT_FIRST: (SQL["sent_message"], sent_first),
}
