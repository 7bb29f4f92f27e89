"""Notifications between processes, and the lock that shows that a process lives.

One connection of its own LISTENs and holds the process's advisory lock. Notices go out after their commits,
gathered, through the pool: a NOTIFY inside the inserting transaction would serialise commits. Losing a notice delays
work until the next sweep and loses nothing.
"""

import asyncio
import logging
from collections.abc import Callable

import psycopg
from psycopg import sql

from adapters.outbound.storage.pool import NOTICING, Database, PromptConnection
from adapters.outbound.storage.queue.statements import ASYNC_COMMIT
from adapters.tasks import cancelled, end
from domain.refusals import Unavailable

log = logging.getLogger(__name__)

CHANNEL = "switchboard"
RECONNECT_SECONDS = 0.5
GATHER_SECONDS = 0.002
STOP_SECONDS = 0.7


class Signals:
    """`on_notification` gets each notice of other processes; `on_disconnect` is called
    when notices may have been missed."""

    def __init__(
        self,
        database: Database,
        worker_id: int,
        on_notification: Callable[[str], None],
        on_disconnect: Callable[[], None],
    ) -> None:
        self._database = database
        self._worker_id = worker_id
        self._on_notification = on_notification
        self._on_disconnect = on_disconnect
        self._outgoing: dict[str, None] = {}
        self._number = 0
        self._flusher: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None
        self._away = False
        self.ready = asyncio.Event()

    async def start(self) -> None:
        """Returns once the lock is held."""
        self._listener = asyncio.create_task(self._listen())
        await self.ready.wait()

    async def stop(self) -> None:
        await end(filter(None, (self._flusher, self._listener)), "wake-ups", STOP_SECONDS)

    def notify(self, notice: str) -> None:
        """Tells the other processes, soon; the same notice several times at once is one."""
        self._outgoing[notice] = None
        if self._flusher is None or self._flusher.done():
            self._flusher = asyncio.create_task(self._flush())

    async def _flush(self) -> None:
        """The first notice goes at once; those of the next moments are gathered."""
        while self._outgoing:
            notices, self._outgoing = list(self._outgoing), {}
            # A notice that has no value gets a number for one, so that it can be one worker's turn.
            valued = (notice if ":" in notice else f"{notice}:{self._number}" for notice in notices)
            payloads = [f"{self._worker_id}:{notice}" for notice in valued]
            self._number += 1
            try:
                await self._database.execute(
                    f"SELECT pg_notify('{CHANNEL}', n), (SELECT {ASYNC_COMMIT}) FROM unnest(%s::text[]) AS t(n)",
                    (payloads,),
                )
            except Unavailable:
                log.debug("a notice was not sent, the database is away")
            if cancelled():
                return
            await asyncio.sleep(GATHER_SECONDS)

    async def _listen(self) -> None:
        while True:
            try:
                connection = await PromptConnection.connect(
                    self._database.dsn, autocommit=True, application_name="switchboard-signals", **NOTICING
                )
                async with connection:
                    await connection.execute("SELECT pg_advisory_lock(%s)", (self._worker_id,))
                    await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
                    self._on_disconnect()
                    self.ready.set()
                    if self._away:
                        log.info("the connection for wake-ups is back")
                        self._away = False
                    own = f"{self._worker_id}:"
                    async for notice in connection.notifies():
                        if not notice.payload.startswith(own):
                            self._on_notification(notice.payload.partition(":")[2])
            except (psycopg.Error, OSError) as error:
                if not self._away:
                    log.warning("lost the connection for wake-ups, trying again: %s", type(error).__name__)
                    self._away = True
                self._on_disconnect()
            if cancelled():
                return
            await asyncio.sleep(RECONNECT_SECONDS)


TRANSACTION_POOLING = (
    "DATABASE_URL leads to a connection pooler in transaction mode, which keeps no sessions: LISTEN and advisory"
    " locks would be lost. Set pool_mode = session (PgBouncer), or name the PostgreSQL server itself"
)


def is_transaction_pooled(dsn: str) -> bool:
    """Return True if a second connection gets the session of the first, which is idle and open. A pooler takes the
    session that was used last, unless it is set to take them in turn. Raises `psycopg.Error`."""
    with (
        psycopg.connect(dsn, autocommit=True, connect_timeout=5, prepare_threshold=None) as first,
        psycopg.connect(dsn, autocommit=True, connect_timeout=5, prepare_threshold=None) as second,
    ):
        sessions = [
            connection.execute("SELECT pg_backend_pid()").fetchone() for connection in (first, second)
        ]
    return sessions[0] == sessions[1]
