"""Sessions in PostgreSQL: their aliases, their renames, and who has opted out."""

from dataclasses import replace
from pathlib import Path

from sqlalchemy import case, exists, update

from adapters.outbound.storage.codec import dump, key_of, open_form_to_json, storable, stored_open_form
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.statements import read_statements
from adapters.outbound.storage.tables import (
    agent_task,
    approval_request,
    chat_history,
    notification,
    notification_cause,
    resource_state,
    tool_approval,
    tool_confirmation,
)
from domain.channels.messages import OptOut, SessionAlias
from ports.queue import QueueKey

SQL = read_statements(Path(__file__).with_suffix(".sql"))


class PostgresSessions:
    """`ports.queue.Sessions`. Messages that wait are still worked off under the former name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def add_alias(self, instance_id: int, alias: SessionAlias) -> bool:
        """An id that is kept by its hash has no alias: it could not be given back. Raises `Unavailable`."""
        session = key_of(alias.session_id)
        if session != alias.session_id:
            return False
        parameters = {"instance": instance_id, "alias": key_of(alias.alias), "session": session}
        row = await self._database.fetch_one(SQL["add_alias"], parameters)
        return bool(row and row[0])

    async def of_alias(self, instance_id: int, alias: str) -> str | None:
        """Raises `Unavailable`."""
        row = await self._database.fetch_one(SQL["session_of_alias"], (instance_id, key_of(alias)))
        return row[0] if row else None

    @retried
    async def rename(self, instance_id: int, previous: str, current: str) -> None:
        """Raises `Unavailable`."""
        old, new = key_of(previous), key_of(current)
        if old == new:
            return
        question, approval, other = tool_confirmation.c, tool_approval.c, tool_approval.alias().c
        asked_of = case((question.asked_of == dump(previous), dump(current)), else_=question.asked_of)
        open_there = tool_confirmation.alias().c
        has_question = exists().where(
            open_there.instance_id == instance_id,
            open_there.session_key == new,
            open_there.closed_at.is_(None),
        )
        is_approved = exists().where(
            other.instance_id == instance_id, other.session_key == new, other.tool_key == approval.tool_key
        )
        questions = update(tool_confirmation).filter_by(
            instance_id=instance_id, session_key=old, closed_at=None
        )
        approvals = update(tool_approval).filter_by(instance_id=instance_id, session_key=old)
        history = update(chat_history).filter_by(instance_id=instance_id, session_key=old)
        states = update(resource_state).filter_by(instance_id=instance_id, session_key=old)
        state_there = resource_state.alias().c
        has_state = exists().where(
            state_there.instance_id == instance_id,
            state_there.session_key == new,
            state_there.resource == resource_state.c.resource,
        )
        moved = (
            update(table).filter_by(instance_id=instance_id, session_key=old)
            for table in (agent_task, approval_request)
        )
        async with self._database.transaction() as connection:
            await connection.run(history.values(session_key=new))
            for table in (notification_cause, notification):
                of_session = update(table).filter_by(instance_id=instance_id, session_key=old)
                await connection.run(of_session.values(session_key=new))
            for of_session in moved:
                await connection.run(of_session.values(session_key=new, session_id=storable(current)))
            await connection.run(states.where(~has_state).values(session_key=new))
            await connection.run(questions.where(~has_question).values(session_key=new, asked_of=asked_of))
            await connection.run(approvals.where(~is_approved).values(session_key=new))
            await self._move_queue(connection, instance_id, previous, current)
            for name in ("move_aliases", "alias_former_session"):
                await connection.execute(SQL[name], {"instance": instance_id, "old": old, "new": new})
            senders = {"instance": instance_id, "old": old, "new": new, "session_id": storable(current)}
            await connection.execute(SQL["copy_senders"], senders)

    async def _move_queue(
        self, connection: Connection, instance_id: int, previous: str, current: str
    ) -> None:
        """Moves who has the conversation, its form, assignee, labels and state."""
        place = {"instance": instance_id, "old": key_of(previous), "new": key_of(current)}
        row = await (await connection.execute(SQL["lock_form"], place)).fetchone()
        opened = stored_open_form(row[0]) if row and row[0] else None
        if opened is not None and opened.asked_of == previous:
            opened = replace(opened, asked_of=current)
        form = open_form_to_json(opened) if opened else None
        await connection.execute(SQL["move_conversation"], {**place, "form": form})
        await connection.execute(SQL["blank_former"], place)

    @retried
    async def record_opt_out(self, instance_id: int, opt_out: OptOut) -> None:
        """Raises `Unavailable`."""
        statement = SQL["opt_in"] if opt_out.over else SQL["opt_out"]
        await self._database.execute(statement, (key_of(opt_out.session_id), instance_id))

    async def is_opted_out(self, instance_id: int, session_id: str) -> bool:
        return await self.is_queue_opted_out(QueueKey(instance_id, key_of(session_id)))

    async def is_queue_opted_out(self, key: QueueKey) -> bool:
        return (
            await self._database.fetch_one(SQL["is_opted_out"], (key.session_key, key.instance_id))
            is not None
        )
