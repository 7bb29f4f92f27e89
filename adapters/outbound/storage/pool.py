"""The connection pool, and connections whose statements can be interrupted, also while the server hangs."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, AsyncCursor, waiting
from psycopg.abc import PQGen
from psycopg.errors import QueryCanceled
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from sqlalchemy.sql.expression import ClauseElement

from adapters.outbound.storage import arrays
from adapters.outbound.storage.failures import refusal_of, retried
from adapters.outbound.storage.statements import render
from domain.knowledge.text_match import FUZZY_FLOOR

log = logging.getLogger(__name__)


T = TypeVar("T")
P = ParamSpec("P")

CANCEL_SECONDS = 0.5
"""What the server gets to end a statement whose caller was cancelled. psycopg itself waits ten seconds."""
INTERVAL = 0.1
"""psycopg's own: seconds after which it looks for signals."""


class PromptConnection(AsyncConnection[TupleRow]):
    """Closes itself when a statement was interrupted and the server does not end it in time."""

    async def run(self, query: str | ClauseElement, parameters: Any = ()) -> AsyncCursor[TupleRow]:
        """Executes a statement: text, or a Core expression."""
        if isinstance(query, str):
            return await self.execute(query, parameters)
        return await self.execute(*render(query, parameters))

    async def wait(self, gen: PQGen[T], interval: float = INTERVAL, timeout: float | None = None) -> T:
        try:
            return await waiting.wait_async(gen, self.pgconn.socket, interval=interval, timeout=timeout)
        except asyncio.CancelledError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                await self._end_statement(gen, interval)
            raise

    async def _end_statement(self, gen: PQGen[T], interval: float) -> None:
        """Whatever goes wrong here leaves the connection in an unknown state: it must not be used again."""
        try:
            async with asyncio.timeout(CANCEL_SECONDS):
                await self.cancel_safe(timeout=CANCEL_SECONDS)
                await waiting.wait_async(gen, self.pgconn.socket, interval=interval)
        except QueryCanceled:
            return
        except BaseException as failure:
            self.pgconn.finish()
            if not isinstance(failure, Exception):
                raise


Connection = PromptConnection

SEARCH_WIDTH = 200
"""Candidates that a search of a vector index keeps; queries far from all clusters are searched wider."""
STATEMENT_SECONDS = 20.0
"""Seconds after which a statement counts as lost: the server may hang with its connections open. Shorter than a
lease, so that what holds one learns of it in time."""
BULK_SECONDS = 600.0
"""The same for statements that go through whole tables."""
CLOSE_SECONDS = 0.5
"""Seconds for the pool's own tasks, one of which may wait for a server that hangs."""
PATIENCE = 5.0
"""Seconds that a caller waits for a connection while others hold them all."""
SHORT_PATIENCE = 1.0
"""The same while the server is away: platforms that call us wait three seconds at most."""
NOTICING: Mapping[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""How libpq notices within half a minute that a server behind a network is gone without a word; without these the
operating system would take hours."""
RECONNECT_SECONDS = 2.0
"""How long one attempt to connect is repeated, at growing intervals; the next caller begins a new one. More would
let the pool sleep on when the server is back."""


@dataclass(eq=False)
class _Unit:
    """A transaction that the statements of one task run in, and what waits for its commit."""

    connection: Connection
    task: asyncio.Task[Any] | None
    committed: list[Callable[[], object]] = field(default_factory=list)


_unit: ContextVar[_Unit | None] = ContextVar("unit", default=None)


def _current_unit() -> _Unit | None:
    """The unit of this task. Tasks that it began have connections of their own."""
    unit = _unit.get()
    return unit if unit and unit.task is asyncio.current_task() else None


def after_commit(work: Callable[P, object]) -> Callable[P, None]:
    """Does `work` at once, and within a unit after its commit."""

    def begin(*arguments: P.args, **named: P.kwargs) -> None:
        if unit := _current_unit():
            unit.committed.append(lambda: work(*arguments, **named))
        else:
            work(*arguments, **named)

    return begin


class Database:
    """A pool of autocommitting connections to one PostgreSQL.

    Every way in turns an outage into `StorageAway`, so that callers see one refusal however the server went away.
    A value that cannot be stored is `Invalid`, a conflict with other transactions that does not end `Unavailable`;
    any other error of the database is handed on as it is.
    """

    def __init__(self, dsn: str, *, min_size: int = 1, max_size: int = 12, wait: float | None = None) -> None:
        self.dsn = dsn
        self._wait = PATIENCE if wait is None else wait
        self._away = False
        self._held = 0
        self._pool = AsyncConnectionPool[Connection](
            dsn,
            min_size=min_size,
            max_size=max_size,
            connection_class=PromptConnection,
            open=False,
            timeout=self._wait,
            reconnect_timeout=RECONNECT_SECONDS,
            check=None,
            kwargs={"autocommit": True, "application_name": "switchboard", **NOTICING},
            configure=_configure,
            name="switchboard",
        )

    async def open(self) -> None:
        """Opens the pool. Raises `StorageAway` when the server does not answer."""
        try:
            await self._pool.open(wait=True, timeout=self._wait)
        except Exception as error:
            _refuse(error, lost=True)
            raise

    async def close(self) -> None:
        await self._pool.close(timeout=CLOSE_SECONDS)

    @asynccontextmanager
    async def connection(self, within: float | None = None) -> AsyncIterator[Connection]:
        """A connection for a moment. Raises `StorageAway` when the server is away, or the block takes more than
        `within` seconds."""
        if unit := _current_unit():
            try:
                # A statement that fails, and is caught, must not end the whole unit.
                async with unit.connection.transaction():
                    yield unit.connection
            except Exception as error:
                _refuse(error, lost=unit.connection.closed)
                raise
            return
        connection: Connection | None = None
        try:
            async with asyncio.timeout(within):
                # Put back by hand: the pool's own context manager would end a transaction each time, and our
                # connections commit by themselves.
                try:
                    connection = await self._pool.getconn(SHORT_PATIENCE if self._away else self._wait)
                except PoolTimeout:
                    self._note(away=self._away or not self._held)
                    raise
                self._held += 1
                try:
                    yield connection
                finally:
                    self._held -= 1
                    self._note(away=connection.closed)
                    await self._pool.putconn(connection)
        except Exception as error:
            _refuse(error, lost=connection is None or connection.closed)
            raise

    def _note(self, *, away: bool) -> None:
        if away is not self._away:
            self._away = away
            log.warning("the database is away" if away else "the database is back")

    @asynccontextmanager
    async def transaction(self, within: float = BULK_SECONDS) -> AsyncIterator[Connection]:
        """A connection inside one transaction. What is done in it is `failures.retried` by the caller."""
        async with self.connection(within) as connection, connection.transaction():
            yield connection

    @asynccontextmanager
    async def unit(self) -> AsyncIterator[None]:
        """One transaction for all statements that this task runs in the block, whichever store runs them."""
        async with self.transaction() as connection:
            unit = _Unit(connection, asyncio.current_task())
            token = _unit.set(unit)
            try:
                yield
            finally:
                _unit.reset(token)
        for work in unit.committed:
            work()

    @retried
    async def fetch(
        self, query: str | ClauseElement, parameters: Any = (), within: float = STATEMENT_SECONDS
    ) -> list[tuple[Any, ...]]:
        """All rows of one statement, as text or as a Core expression."""
        async with self.connection(within) as connection:
            cursor = await connection.run(query, parameters)
            return [] if cursor.rownumber is None else await cursor.fetchall()

    async def fetch_one(
        self, query: str | ClauseElement, parameters: Any = (), within: float = STATEMENT_SECONDS
    ) -> tuple[Any, ...] | None:
        rows = await self.fetch(query, parameters, within)
        return rows[0] if rows else None

    async def fetch_column(self, query: str | ClauseElement, parameters: Any = ()) -> list[Any]:
        return [row[0] for row in await self.fetch(query, parameters)]

    async def fetch_value(self, query: str | ClauseElement, parameters: Any = ()) -> Any:
        """The first value of the first row of one statement, or None."""
        row = await self.fetch_one(query, parameters)
        return row[0] if row else None

    @retried
    async def execute(
        self, query: str | ClauseElement, parameters: Any = (), within: float = STATEMENT_SECONDS
    ) -> int:
        """Runs one statement; the number of rows it touched."""
        async with self.connection(within) as connection:
            return (await connection.run(query, parameters)).rowcount


async def _configure(connection: Connection) -> None:
    """Arrays that are packed already, and vectors; how wide their indexes are searched, and from where on words
    count as similar."""
    arrays.register(connection.adapters)
    await register_vector_async(connection)
    await connection.execute(
        "SELECT set_config('hnsw.ef_search', %s, false), set_config('pg_trgm.similarity_threshold', %s, false)",
        (str(SEARCH_WIDTH), str(FUZZY_FLOOR)),
    )


def _refuse(error: Exception, *, lost: bool) -> None:
    """Raises the refusal that an error comes to, if it is one."""
    if refusal := refusal_of(error, lost=lost):
        raise refusal from error
