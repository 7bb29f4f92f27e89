"""Whether a message was erased while it was being worked on."""

from adapters.outbound.storage.pool import Connection

IS_ERASED = "SELECT event = '{}' FROM inbox WHERE id = %s FOR SHARE"
"""Waits for an erasure that is under way, and keeps one off until the transaction is over. Primary key."""


async def is_erased(connection: Connection, inbox_id: int | None) -> bool:
    """Whether nothing may be kept of a message any more; part of the transaction that would keep it."""
    if inbox_id is None:
        return False
    row = await (await connection.execute(IS_ERASED, (inbox_id,))).fetchone()
    return bool(row and row[0])
