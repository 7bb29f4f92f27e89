"""What is on record of a session moves with the person that it belongs to."""

from sqlalchemy import case, exists, update

from adapters.outbound.storage.codec import dump, key_of
from adapters.outbound.storage.conversation_tables import chat_history, tool_approval, tool_confirmation
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database


class PostgresSessions:
    """`ports.sessions.Sessions`. Messages that wait are still worked off under the former name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def rename(self, instance_id: int, previous: str, current: str) -> None:
        """Raises `Unavailable`."""
        old, new = key_of(previous), key_of(current)
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
        async with self._database.transaction() as connection:
            await connection.run(history.values(session_key=new))
            await connection.run(questions.where(~has_question).values(session_key=new, asked_of=asked_of))
            await connection.run(approvals.where(~is_approved).values(session_key=new))
