"""What is on record of a session moves with the person that it belongs to."""

from __future__ import annotations

from adapters.outbound.storage.codec import dump, key_of
from adapters.outbound.storage.pool import Database

MOVE = """
WITH history AS (
    UPDATE chat_history SET session_key = %(current)s
    WHERE instance_id = %(instance)s AND session_key = %(previous)s
), question AS (
    UPDATE tool_confirmation SET lane_key = %(current)s,
        asked_of = CASE WHEN asked_of = %(was)s THEN %(is)s ELSE asked_of END
    WHERE instance_id = %(instance)s AND lane_key = %(previous)s AND NOT EXISTS (
        SELECT FROM tool_confirmation
        WHERE instance_id = %(instance)s AND lane_key = %(current)s AND closed_at IS NULL
    ) AND closed_at IS NULL
)
UPDATE tool_approval a SET lane_key = %(current)s
WHERE instance_id = %(instance)s AND lane_key = %(previous)s AND NOT EXISTS (
    SELECT FROM tool_approval b
    WHERE b.instance_id = a.instance_id AND b.lane_key = %(current)s AND b.tool_key = a.tool_key
)
"""


class PostgresSessions:
    """`ports.storage.Sessions`. Messages that wait are still worked off under the former name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def move(self, instance_id: int, previous: str, current: str) -> None:
        """Raises `Unavailable`."""
        await self._database.execute(
            MOVE,
            {
                "instance": instance_id,
                "previous": key_of(previous),
                "current": key_of(current),
                "was": dump(previous),
                "is": dump(current),
            },
        )
