"""The conversations of resources that keep none themselves, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.outbound.storage.codec import key_of, storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import BULK_SECONDS, Database
from ports.downstream import Role, Turn

MAX_TURNS = 200
"""Turns kept of one session; what goes to a model is bounded further, by tokens."""

KEPT_DAYS = 30

_LOAD = """
    SELECT role, content FROM (
        SELECT id, role, content FROM chat_history
        WHERE instance_id = %s AND session_key = %s AND request_id <> %s
        ORDER BY id DESC LIMIT %s
    ) AS latest ORDER BY id
"""
_DROP_EARLIER_TRY = "DELETE FROM chat_history WHERE instance_id = %s AND session_key = %s AND request_id = %s"
_ADD = """
    INSERT INTO chat_history (instance_id, session_key, request_id, role, content)
    SELECT instance.id, %(session)s, %(request)s, turn.role, turn.content
    FROM channel_instance AS instance,
         unnest(%(roles)s::text[], %(contents)s::text[]) WITH ORDINALITY AS turn (role, content, position)
    WHERE instance.id = %(instance)s
    ORDER BY turn.position
"""
_DROP_OLDEST = """
    DELETE FROM chat_history
    WHERE instance_id = %(instance)s AND session_key = %(session)s AND id <= (
        SELECT id FROM chat_history WHERE instance_id = %(instance)s AND session_key = %(session)s
        ORDER BY id DESC OFFSET %(bound)s LIMIT 1
    )
"""
_DROP_OLD = "DELETE FROM chat_history WHERE created_at < now() - make_interval(days => %s)"


class PostgresChatHistory:
    """`ports.downstream.ChatHistory`; at most `MAX_TURNS` of a session, none older than `KEPT_DAYS`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, instance_id: int, session_id: str, request_id: str) -> Sequence[Turn]:
        """Raises `Unavailable`."""
        rows = await self._database.fetch(_LOAD, (instance_id, key_of(session_id), request_id, MAX_TURNS))
        return [Turn(Role(role), content) for role, content in rows]

    @retried
    async def append(self, instance_id: int, session_id: str, request_id: str, turns: Sequence[Turn]) -> None:
        """Raises `Unavailable`. Of an instance that is gone nothing is kept."""
        session = key_of(session_id)
        added = {
            "instance": instance_id,
            "session": session,
            "request": request_id,
            "roles": [str(turn.role) for turn in turns],
            "contents": [storable(turn.text) for turn in turns],
            "bound": MAX_TURNS,
        }
        async with self._database.transaction() as connection:
            await connection.execute(_DROP_EARLIER_TRY, (instance_id, session, request_id))
            await connection.execute(_ADD, added)
            await connection.execute(_DROP_OLDEST, added)

    async def drop_old(self) -> None:
        """Forgets what was said long ago. Raises `Unavailable`."""
        await self._database.execute(_DROP_OLD, (KEPT_DAYS,), within=BULK_SECONDS)
