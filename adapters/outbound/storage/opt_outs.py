"""People who want no more messages, in PostgreSQL."""

from adapters.outbound.storage.codec import key_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from domain.channels.messages import OptOut
from ports.queue import QueueKey

BEGIN = """
INSERT INTO opt_out (instance_id, session_key) SELECT id, %s FROM channel_instance WHERE id = %s
ON CONFLICT DO NOTHING
"""
END = "DELETE FROM opt_out WHERE session_key = %s AND instance_id = %s"
HOLDS = "SELECT 1 FROM opt_out WHERE session_key = %s AND instance_id = %s"


class PostgresOptOuts:
    """`ports.outbox.OptOuts`. All statements go by the primary key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def record(self, instance_id: int, opt_out: OptOut) -> None:
        """Raises `Unavailable`."""
        statement = END if opt_out.over else BEGIN
        await self._database.execute(statement, (key_of(opt_out.session_id), instance_id))

    async def is_opted_out(self, instance_id: int, session_id: str) -> bool:
        return await self.holds(QueueKey(instance_id, key_of(session_id)))

    async def holds(self, key: QueueKey) -> bool:
        return await self._database.fetch_one(HOLDS, (key.session_key, key.instance_id)) is not None
