"""Messages that are not answered, and chat histories of resources that keep none, in PostgreSQL."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sqlalchemy import delete, insert, select

from adapters.outbound.storage.arrays import Texts
from adapters.outbound.storage.codec import key_of, storable, stored_event
from adapters.outbound.storage.conversations.earlier import in_own_sessions
from adapters.outbound.storage.conversations.erasure import is_erased
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.inbox import InboxRow, add_arrivals
from adapters.outbound.storage.queue.statements import read_statements
from adapters.outbound.storage.tables import channel_instance, chat_history
from domain.channels.messages import Event
from domain.instances.model import UnansweredMessage
from domain.paging import Slice, Window
from ports.resources import Role, Turn

MOST = 500
"""Messages of an instance that are kept, the newest ones."""
SQL = read_statements(Path(__file__).with_suffix(".sql"), most=MOST)

LONGEST_EXCERPT = 500
"""Characters of a text in the list."""


async def add_unanswered(
    connection: Connection, instance_id: int, events: Sequence[Event]
) -> Sequence[Event]:
    """Stores refused events, each once; those that are new."""
    if not events:
        return []
    rows = [InboxRow.of(instance_id, event) for event in events]
    columns = {
        "instance": instance_id,
        "sessions": Texts(row.session_key for row in rows),
        "keys": Texts(row.event_key for row in rows),
        "reasons": Texts(event.refused for event in events),
        "events": Texts(row.stored for row in rows),
    }
    fresh = {key for (key,) in await (await connection.execute(SQL["add_unanswered"], columns)).fetchall()}
    await connection.execute(SQL["keep_newest_unanswered"], columns)
    return [row.event for row in rows if row.event_key in fresh]


class PostgresUnanswered:
    """`ports.instances.UnansweredStore`. `arrived` is called after a commit that released a message."""

    def __init__(self, database: Database, arrived: Callable[[], None]) -> None:
        self._database = database
        self._arrived = arrived

    @retried
    async def add(self, instance_id: int, event: Event) -> bool:
        async with self._database.transaction() as connection:
            return bool(await add_unanswered(connection, instance_id, [event]))

    async def counts(self, instance_id: int) -> Mapping[str, int]:
        return dict(await self._database.fetch(SQL["count_unanswered"], (instance_id,)))

    async def list(self, instance_id: int, limit: int, offset: int) -> Slice[UnansweredMessage]:
        rows = await self._database.fetch(SQL["list_unanswered"], (instance_id, limit, offset))
        total = sum((await self.counts(instance_id)).values())
        messages: list[UnansweredMessage] = []
        for id, reason, stored, received_at in rows:
            event = stored_event(stored)
            message = UnansweredMessage(
                id=id,
                reason=reason,
                sender=event.sender.external_id,
                sender_name=event.sender.display_name,
                subject=str(event.context.get("subject", "")),
                text=event.text[:LONGEST_EXCERPT],
                received_at=received_at,
            )
            messages.append(message)
        return Slice(tuple(messages), Window(limit, offset, total))

    @retried
    async def release(self, instance_id: int, message_id: int) -> bool:
        async with self._database.transaction() as connection:
            row = await (
                await connection.execute(SQL["take_unanswered"], (message_id, instance_id))
            ).fetchone()
            if row is None:
                return False
            own = await in_own_sessions(connection, instance_id, [stored_event(row[0])])
            await add_arrivals(connection, [InboxRow.of(instance_id, event) for event in own])
        self._arrived()
        return True


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
