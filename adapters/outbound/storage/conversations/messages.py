"""The messages of a conversation in their order, and those that were given up."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from adapters.outbound.storage.arrays import Bigints
from adapters.outbound.storage.codec import key_of
from adapters.outbound.storage.conversations.rows import MessageRows, Stored, Stream
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.messages import OF_ANSWER, OF_SEND, delivery_sql
from adapters.outbound.storage.queue.states import EventStatus, MessageStatus, QueueKind
from domain.conversations.model import Direction, Message, MessageKind, MessagePage, MessagesWanted
from domain.paging import cursor_of, read_cursor

OLDEST, LATEST = 0, 2**63 - 1
_STREAMS = len(Stream)
OF_FAILED = (Direction.INBOUND, Direction.OUTBOUND, None)
"""The direction of what was given up, by stream; the third one is not used."""
PAGE_CHARACTERS = 1_000_000
"""Of the stored messages of a page together: gRPC clients take answers of 4 MB by default."""

_OF_SESSION = "instance_id = %(instance)s AND session_key = %(session)s"
_PAGE = f"""
SELECT * FROM (
    SELECT {Stream.INBOUND} AS stream, 'in' AS kind, id AS position, id, session_key, received_at AS at, event,
        NULL::text AS content, NULL::text AS author, status, error, false, false, 0, NULL::text
    FROM inbox WHERE {_OF_SESSION} AND id {{after}} %(inbound)s ORDER BY id {{order}} LIMIT %(count)s
) i UNION ALL
SELECT {Stream.ANSWER}, 'out', i.id, i.id, session_key, finished_at, event, answer, NULL, i.status, NULL, o.*
FROM (
    SELECT * FROM inbox WHERE {_OF_SESSION} AND answer IS NOT NULL AND id {{after}} %(answers)s
    ORDER BY id {{order}} LIMIT %(count)s
) i CROSS JOIN {delivery_sql(OF_ANSWER)} o UNION ALL
SELECT {Stream.SENT_FIRST}, 'send', s.id, s.id, session_id, created_at, NULL, content, author, 0, NULL, o.*
FROM (
    SELECT * FROM send WHERE {_OF_SESSION} AND id {{after}} %(sends)s ORDER BY id {{order}} LIMIT %(count)s
) s CROSS JOIN {delivery_sql(OF_SEND)} o
"""
FORWARD = _PAGE.format(after=">", order="")
BACKWARD = _PAGE.format(after="<", order="DESC")
"""Indexes `inbox_by_session` and `send_by_session`."""

IS_KNOWN = f"SELECT 1 FROM queue WHERE kind = {QueueKind.INBOUND} AND {_OF_SESSION}"
"""Primary key."""

FAILED = f"""
SELECT * FROM (
    SELECT {Stream.INBOUND}, 'in', i.id, i.id, session_key, received_at, event, NULL::text, NULL::text, status, error,
        false, false, 0, NULL::text, n.id
    FROM unnest(%(instances)s) AS n(id) CROSS JOIN LATERAL (
        SELECT * FROM inbox WHERE instance_id = n.id AND status = {EventStatus.FAILED} AND event <> '{{}}'
        AND id < %(inbound)s ORDER BY id DESC LIMIT %(count)s
    ) i ORDER BY i.id DESC LIMIT %(count)s
) i UNION ALL SELECT * FROM (
    SELECT {Stream.ANSWER}, CASE WHEN o.send_id IS NULL THEN 'out' ELSE 'send' END, o.id,
        coalesce(o.send_id, o.inbox_id), coalesce(s.session_id, o.session_key), coalesce(o.finished_at, o.created_at),
        nullif(i.event, '{{}}'), coalesce(i.answer, s.content), s.author, 0, NULL, true, false, 0, o.last_error,
        o.instance_id
    FROM unnest(%(instances)s) AS n(id) CROSS JOIN LATERAL (
        SELECT * FROM outbox d WHERE instance_id = n.id AND status = {MessageStatus.DEAD} AND id < %(answers)s
        AND (inbox_id IS NOT NULL OR send_id IS NOT NULL) AND NOT EXISTS (
            SELECT FROM outbox l WHERE l.inbox_id = d.inbox_id AND l.status = {MessageStatus.DEAD} AND l.id > d.id
        ) AND NOT EXISTS (
            SELECT FROM outbox l WHERE l.send_id = d.send_id AND l.status = {MessageStatus.DEAD} AND l.id > d.id
        ) ORDER BY id DESC LIMIT %(count)s
    ) o LEFT JOIN inbox i ON i.id = o.inbox_id LEFT JOIN send s ON s.id = o.send_id
    ORDER BY o.id DESC LIMIT %(count)s
) o
"""
"""Of several instances. A message with several dead parts stands where the last one does. Indexes `inbox_failed`,
`outbox_dead`, `outbox_by_event` and `outbox_by_send`, and the primary keys of `inbox` and `send`."""


class MessageListing:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._shown = MessageRows(database).shown

    async def page(self, instance_id: int, session_id: str, wanted: MessagesWanted) -> MessagePage | None:
        session = {"instance": instance_id, "session": key_of(session_id)}
        statement, start = (BACKWARD, LATEST) if wanted.latest_first else (FORWARD, OLDEST)
        after = _positions(wanted.cursor, start)
        rows = await self._rows(statement, session, after, wanted.limit)
        if not rows and not await self._database.fetch(IS_KNOWN, session):
            return None
        shown, following = _page(rows, after, wanted.limit, latest_first=wanted.latest_first)
        return MessagePage(await self._shown(shown), following)

    async def failed(
        self, instance_ids: Sequence[int], direction: Direction | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[tuple[int, Message]], str | None]:
        """Messages of several instances that were given up, with the ids of those; and the next cursor."""
        after = _positions(cursor, LATEST)
        wanted = [
            OLDEST if direction and direction is not of else at
            for at, of in zip(after, OF_FAILED, strict=True)
        ]
        rows = await self._rows(FAILED, {"instances": Bigints(instance_ids)}, wanted, limit)
        shown, following = _page(rows, after, limit, latest_first=True)
        messages = await self._shown(shown)
        return [(row.instance_id, message) for row, message in zip(shown, messages, strict=True)], following

    async def _rows(
        self, statement: str, of: dict[str, Any], after: Sequence[int], limit: int
    ) -> Sequence[Stored]:
        names = ("inbound", "answers", "sends")
        parameters = {**of, **dict(zip(names, after, strict=True)), "count": limit + 1}
        rows = await self._database.fetch(statement, parameters)
        return [Stored(Stream(stream), MessageKind(kind), *columns) for stream, kind, *columns in rows]


def _page(
    rows: Sequence[Stored], after: Sequence[int], limit: int, *, latest_first: bool
) -> tuple[Sequence[Stored], str | None]:
    """The rows of a page, and the cursor of the one that follows."""
    ordered = _in_order(rows, latest_first=latest_first)
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


def _in_order(rows: Sequence[Stored], *, latest_first: bool) -> Sequence[Stored]:
    """The rows of all streams in the order of time, each stream in that of its positions: the answer to a message
    that was run again stands before the answers to later ones."""
    timed: list[tuple[datetime, int, Stored]] = []
    latest: dict[Stream, datetime] = {}
    for row in sorted(rows, key=lambda row: row.position, reverse=True):
        at = latest[row.stream] = min(row.at, latest.get(row.stream, row.at))
        timed.append((at, row.stream, row))
    timed.sort(key=lambda entry: (entry[0], entry[1], entry[2].position), reverse=latest_first)
    return [row for _, _, row in timed]
