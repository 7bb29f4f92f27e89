"""Connections whose statements can be interrupted, also where the server hangs."""

import asyncio
from typing import Any, TypeVar

from psycopg import AsyncConnection, AsyncCursor, waiting
from psycopg.abc import PQGen
from psycopg.errors import QueryCanceled
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow
from sqlalchemy.sql.expression import ClauseElement

from adapters.outbound.storage.statements import render

T = TypeVar("T")

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
