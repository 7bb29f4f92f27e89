"""Puts messages of others into sessions of their own, as in mail threads: a session belongs to whoever began it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from adapters.outbound.storage.arrays import Texts
from adapters.outbound.storage.codec import key_of
from adapters.outbound.storage.pool import Connection
from domain.channels.messages import Event

BEGINNINGS = """
SELECT t.session_key, i.event, s.content, s.created_at < i.received_at
FROM unnest(%(sessions)s) AS t(session_key)
LEFT JOIN LATERAL (
    SELECT event, received_at FROM inbox
    WHERE instance_id = %(instance)s AND session_key = t.session_key ORDER BY id LIMIT 1
) i ON true
LEFT JOIN LATERAL (
    SELECT content, created_at FROM send
    WHERE instance_id = %(instance)s AND session_key = t.session_key ORDER BY id LIMIT 1
) s ON true
"""
"""The first message that came in each session, and the first that was sent in it. Indexes `inbox_by_session` and
`send_by_session`."""


async def in_own_sessions(
    connection: Connection, instance_id: int, events: Sequence[Event]
) -> Sequence[Event]:
    """The events, each with the session that it belongs to (`Event.separate_session_id`)."""
    shared = {key_of(event.session_id) for event in events if event.separate_session_id}
    if not shared:
        return events
    found = await connection.execute(BEGINNINGS, {"instance": instance_id, "sessions": Texts(shared)})
    beginners = {
        key: _beginner(event, content, is_first) for key, event, content, is_first in await found.fetchall()
    }
    placed: list[Event] = []
    for event in events:
        if not event.separate_session_id:
            placed.append(event)
            continue
        key = key_of(event.session_id)
        beginners[key] = beginners.get(key) or event.correspondent
        session = event.session_id if beginners[key] == event.correspondent else event.separate_session_id
        placed.append(replace(event, session_id=session, separate_session_id=""))
    return placed


def _beginner(event: str | None, content: str | None, is_sent_first: bool | None) -> str:
    """Whom the session belongs to, '' where nothing tells it any more."""
    if content is not None and (event is None or is_sent_first):
        return str(_document(_document(content).get("target")).get("to", "")).lower()
    document = _document(event)
    return str(document.get("correspondent") or document.get("sender") or "").lower()


def _document(stored: object) -> Mapping[str, Any]:
    document = orjson.loads(stored) if isinstance(stored, str) else stored
    return document if isinstance(document, Mapping) else {}
