"""Events that are stored together with a cursor, in the transaction of a connection."""

import logging
from collections.abc import Sequence

from adapters.outbound.storage.failures import is_of_rows
from adapters.outbound.storage.pool import Connection
from adapters.outbound.storage.queue.inbox import ENQUEUE, InboxRow, columns_of
from adapters.outbound.storage.queue.states import NOT_OFFERED

log = logging.getLogger(__name__)


async def add_arrivals(connection: Connection, arrivals: Sequence[InboxRow]) -> Sequence[bool | None]:
    """Stores events; whether each is fresh, None for one that cannot be stored, which does not cost the others."""
    fresh, lost = await _added(connection, arrivals)
    return [None if row.event_key in lost else row.event_key in fresh for row in arrivals]


async def _added(connection: Connection, arrivals: Sequence[InboxRow]) -> tuple[set[str], set[str]]:
    """The keys of the events that are new, and of those that cannot be stored."""
    if not arrivals:
        return set(), set()
    try:
        async with connection.transaction():
            rows = await connection.execute(ENQUEUE, {**columns_of(arrivals), **NOT_OFFERED})
            return {row[1] for row in await rows.fetchall()}, set()
    except Exception as error:
        if not is_of_rows(error, lost=connection.closed):
            raise
        if len(arrivals) == 1:
            log.exception("an event cannot be stored", extra={"instance": arrivals[0].instance_id})
            return set(), {arrivals[0].event_key}
    half = len(arrivals) // 2
    fresh, lost = await _added(connection, arrivals[:half])
    more_fresh, more_lost = await _added(connection, arrivals[half:])
    return fresh | more_fresh, lost | more_lost
