"""Conversations of an instance, the latest first."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from adapters.outbound.storage.codec import storable, stored_event
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.states import QueueKind
from adapters.wire.timestamps import from_us, to_us
from domain.conversations.model import (
    ConversationFilter,
    ConversationPage,
    ConversationSender,
    ConversationView,
)
from domain.paging import cursor_of, read_cursor

LAST_TEXT = 500
"""Characters of the latest message that a list shows."""
MOST_COUNTED = 1000
"""Messages of a conversation that are counted, and searched."""
SEARCHED = 50
"""Conversations that one statement searches."""
SEARCH_SECONDS = 2.0
"""After so long a search ends with a page that may not be full."""

LATEST_US = 10**17
"""Microseconds after 1970 that no cursor reaches: it is the year 5138."""

_NO_NUL = r"position('\u0000' IN {0}) = 0"
"""PostgreSQL refuses to read JSON texts with NUL characters."""

_FOUND = f"""
(
    EXISTS (SELECT FROM (
        SELECT event, answer FROM inbox i WHERE i.instance_id = %(instance)s AND i.session_key = q.session_key
        ORDER BY i.id DESC LIMIT {MOST_COUNTED}
    ) i WHERE CASE WHEN {_NO_NUL.format("event")} THEN event::json ->> 'text' ILIKE %(pattern)s
            OR event::json ->> 'name' ILIKE %(pattern)s OR event::json ->> 'sender' ILIKE %(pattern)s END
        OR CASE WHEN {_NO_NUL.format("answer")} THEN answer::json ->> 'text' ILIKE %(pattern)s END
    ) OR EXISTS (SELECT FROM (
        SELECT content FROM send s WHERE s.instance_id = %(instance)s AND s.session_key = q.session_key
        ORDER BY s.id DESC LIMIT {MOST_COUNTED}
    ) s WHERE CASE WHEN {_NO_NUL.format("content")} THEN content::json ->> 'text' ILIKE %(pattern)s END)
)
"""

LIST = f"""
SELECT q.session_key, q.touched_at, q.pending > 0, CASE WHEN q.held_until > now() THEN q.held_until END,
    i.event, i.answer, i.received_at, i.finished_at, s.session_id, s.content, s.created_at,
    (SELECT count(*) + count(answer) FROM (SELECT answer FROM inbox n
        WHERE n.instance_id = %(instance)s AND n.session_key = q.session_key LIMIT {MOST_COUNTED}) n)
    + (SELECT count(*) FROM (SELECT FROM send n
        WHERE n.instance_id = %(instance)s AND n.session_key = q.session_key LIMIT {MOST_COUNTED}) n),
    EXISTS (SELECT FROM tool_confirmation c WHERE c.instance_id = %(instance)s AND c.session_key = q.session_key
        AND c.closed_at IS NULL AND c.decision IS NULL AND c.expires_at > now()),
    (%(waiting)s::boolean IS NULL OR %(waiting)s = (q.pending > 0)) AND (%(pattern)s::text IS NULL OR {_FOUND})
FROM (
    SELECT * FROM queue WHERE kind = {QueueKind.INBOUND} AND instance_id + 0 = %(instance)s
    AND (%(at)s::timestamptz IS NULL OR (touched_at, session_key) < (%(at)s, %(key)s))
    ORDER BY touched_at DESC, session_key DESC LIMIT %(count)s
) q LEFT JOIN LATERAL (
    SELECT * FROM (SELECT * FROM inbox i WHERE i.instance_id = %(instance)s AND i.session_key = q.session_key
        ORDER BY i.id DESC LIMIT 10) i
    ORDER BY greatest(received_at, CASE WHEN answer IS NOT NULL THEN finished_at END) DESC, id DESC LIMIT 1
) i ON true LEFT JOIN LATERAL (
    SELECT * FROM send s WHERE s.instance_id = %(instance)s AND s.session_key = q.session_key
    ORDER BY s.id DESC LIMIT 1
) s ON true
ORDER BY q.touched_at DESC, q.session_key DESC
"""
"""Indexes `queue_conversations`, `inbox_by_session`, `send_by_session` and `tool_confirmation_open`."""


class _Row(NamedTuple):
    session_key: str
    touched_at: datetime
    waiting: bool
    held_until: datetime | None
    event: str | None
    answer: str | None
    received_at: datetime | None
    finished_at: datetime | None
    session_id: str | None
    content: str | None
    created_at: datetime | None
    messages: int
    pending_confirmation: bool
    is_wanted: bool

    @property
    def is_listed(self) -> bool:
        """The row of a conversation whose texts were erased stays for a while, as it tells of loops."""
        return self.is_wanted and self.messages > 0


class ConversationListing:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, instance_id: int, wanted: ConversationFilter, limit: int, cursor: str | None
    ) -> ConversationPage:
        last = _position(cursor)
        ends, views = time.monotonic() + SEARCH_SECONDS, list[ConversationView]()
        while True:
            count = SEARCHED if wanted.query else max(limit, SEARCHED)
            rows = await self._rows(instance_id, wanted, count + 1, last)
            for row in rows[:count]:
                if row.is_listed and len(views) == limit:
                    return ConversationPage(views, _cursor(last))
                last = row.touched_at, row.session_key
                views += [_view(row)] if row.is_listed else []
            if len(rows) <= count:
                return ConversationPage(views, None)
            if time.monotonic() > ends:
                return ConversationPage(views, _cursor(last))

    async def _rows(
        self, instance_id: int, wanted: ConversationFilter, count: int, last: tuple[datetime, str] | None
    ) -> Sequence[_Row]:
        parameters = {
            "instance": instance_id,
            "waiting": wanted.waiting,
            "pattern": _pattern(wanted.query),
            "at": last[0] if last else None,
            "key": last[1] if last else None,
            "count": count,
        }
        return [_Row(*row) for row in await self._database.fetch(LIST, parameters)]


def _position(cursor: str | None) -> tuple[datetime, str] | None:
    """When a conversation was active, and its key."""
    position = read_cursor(cursor, int, str)
    return (from_us(int(position[0]) % LATEST_US), storable(str(position[1]))) if position else None


def _cursor(last: tuple[datetime, str] | None) -> str | None:
    return cursor_of(to_us(last[0]), last[1]) if last else None


def _pattern(query: str) -> str | None:
    """The pattern of a text that is contained."""
    escaped = query.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%" if query else None


def _view(row: _Row) -> ConversationView:
    event = stored_event(row.event) if row.event is not None else None
    text, at = _latest(row, event.text if event else "")
    return ConversationView(
        session_id=event.session_id if event else row.session_id or row.session_key,
        sender=ConversationSender(
            event.sender.external_id, event.sender.display_name, None, event.sender.identities
        )
        if event
        else ConversationSender(),
        last_text=text[:LAST_TEXT],
        last_at=at,
        messages=min(row.messages, MOST_COUNTED),
        waiting=row.waiting,
        held_until=row.held_until,
        pending_confirmation=row.pending_confirmation,
    )


def _latest(row: _Row, text: str) -> tuple[str, datetime]:
    """The text and the time of the latest message."""
    told: list[tuple[Any, datetime | None]] = [
        (text, row.received_at),
        (row.answer and orjson.loads(row.answer)["text"], row.finished_at if row.answer else None),
        (row.content and orjson.loads(row.content)["text"], row.created_at),
    ]
    last = max(((at, place) for place, (_, at) in enumerate(told) if at is not None), default=None)
    return (str(told[last[1]][0]), last[0]) if last else ("", row.touched_at)
