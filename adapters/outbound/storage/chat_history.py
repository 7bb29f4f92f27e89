"""The conversations of resources that keep none themselves, in PostgreSQL."""

from collections.abc import Sequence

from sqlalchemy import delete, insert, select

from adapters.outbound.storage.codec import key_of, storable
from adapters.outbound.storage.conversation_tables import chat_history
from adapters.outbound.storage.conversations.erased import is_erased
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.tables import channel_instance
from ports.resources import Role, Turn

MAX_TURNS = 200
"""Turns kept of one session; what goes to a model is bounded further, by tokens."""

history = chat_history.c


class PostgresChatHistory:
    """`ports.resources.ChatHistory`; at most `MAX_TURNS` of a session."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, instance_id: int, session_id: str, request_id: str) -> Sequence[Turn]:
        """Raises `Unavailable`."""
        turns = select(history.role, history.content).where(history.request_id != request_id)
        latest = turns.filter_by(instance_id=instance_id, session_key=key_of(session_id))
        rows = await self._database.fetch(latest.order_by(history.id.desc()).limit(MAX_TURNS))
        return [Turn(Role(role), content) for role, content in reversed(rows)]

    @retried
    async def append(
        self,
        instance_id: int,
        session_id: str,
        request_id: str,
        turns: Sequence[Turn],
        inbox_id: int | None = None,
    ) -> None:
        """Raises `Unavailable`. Of an instance that is gone nothing is kept."""
        session = {"instance_id": instance_id, "session_key": key_of(session_id)}
        locked = (
            select(channel_instance.c.id).filter_by(id=instance_id).with_for_update(read=True, key_share=True)
        )
        oldest = (
            select(history.id).filter_by(**session).order_by(history.id.desc()).offset(MAX_TURNS).limit(1)
        )
        rows = [
            {**session, "request_id": request_id, "role": str(turn.role), "content": storable(turn.text)}
            for turn in turns
        ]
        async with self._database.transaction() as connection:
            if not await (await connection.run(locked)).fetchone():
                return
            if await is_erased(connection, inbox_id):
                return
            await connection.run(delete(chat_history).filter_by(**session, request_id=request_id))
            await connection.run(insert(chat_history).values(rows))
            surplus = delete(chat_history).filter_by(**session).where(history.id <= oldest.scalar_subquery())
            await connection.run(surplus)
