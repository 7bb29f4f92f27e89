"""What a message cannot do without, and no other line of the service: its statements by psycopg, its calls over HTTP.

python -m bench.bare PORT      a server that answers each request at once
"""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import quantiles
from typing import Any

import aiohttp
import psycopg
import uvloop

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.storage import arrays
from adapters.outbound.storage.arrays import Bigints
from adapters.outbound.storage.queue import conversations as outcomes
from adapters.outbound.storage.queue import inbox
from adapters.outbound.storage.queue.conversations import message_key
from adapters.outbound.storage.queue.inbox import InboxRow
from adapters.outbound.storage.queue.statements import SQL
from bench.engine import Stub, StubProtocol
from bench.message_floor import OWNER, marks
from bench.rounds import Sample
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.messages import Event, Sender
from ports.http import HttpRequest
from ports.queue import EventOutcome, QueueKey

REPLIES = "SELECT id FROM outbox WHERE inbox_id = ANY(%(events)s) ORDER BY inbox_id"
CONNECTIONS = 12
"""As many as the service has at most."""
PLANNED = 12
"""Messages until a connection has prepared its statements and planned them for good."""
TEXT = "and how do I change the address on my order? " * 13

Work = Callable[[int], Awaitable[float]]
"""Does the message of that number, or the group of messages; the time at which its reply could be sent."""


def event(number: int) -> Event:
    return Event(
        f"bare {time.time_ns()} {number}",
        f"session {number % 2000}",
        Sender("123456"),
        f"This is number {number} {TEXT}",
        {"chat_id": 100_000 + number % 2000, "message_id": number},
        request_id=f"request {number}",
    )


@dataclass
class Statements:
    """The three statements of `size` messages at a time, with parameters that are made before. The connection that
    was used last is used next."""

    instance_id: int
    size: int
    free: asyncio.LifoQueue[Any] = field(default_factory=asyncio.LifoQueue)
    made: list[list[dict[str, object]]] = field(default_factory=list)

    @classmethod
    @asynccontextmanager
    async def opened(cls, dsn: str, instance_id: int, groups: int, size: int) -> AsyncIterator[Statements]:
        found = cls(instance_id, size)
        connections = [
            await psycopg.AsyncConnection.connect(dsn, autocommit=True) for _ in range(CONNECTIONS)
        ]
        for connection in connections:
            arrays.register(connection.adapters)
        try:
            for connection in connections:
                await found.warm(connection)
            for connection in connections:
                found.free.put_nowait(connection)
            found.made = found.groups(groups)
            yield found
        finally:
            for connection in connections:
                await connection.close()

    async def warm(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self.free.put_nowait(connection)
        self.made = self.groups(PLANNED)
        for group in range(PLANNED):
            await self.run(group)
        self.free.get_nowait()

    def groups(self, count: int) -> list[list[dict[str, object]]]:
        return [self._parameters(range(n * self.size, (n + 1) * self.size)) for n in range(count)]

    def _parameters(self, numbers: Sequence[int]) -> list[dict[str, object]]:
        """Of the three statements; the ids of the rows, which only the database knows, are put in later."""
        rows = [InboxRow.of(self.instance_id, event(number)) for number in numbers]
        keys = [QueueKey(self.instance_id, row.session_key) for row in rows]
        told = [
            EventOutcome(
                key,
                number,
                row.event.target,
                [OutboundMessage({"text": TEXT})],
                answer=Answer(TEXT),
                last=True,
                request_id=row.event.request_id,
            )
            for number, key, row in zip(numbers, keys, rows, strict=True)
        ]
        keys_of_replies = [message_key(outcome.request_id, outcome.inbox_id, 0) for outcome in told]
        return [
            inbox.columns_of(rows),
            {**outcomes.columns_of(told), "owner": OWNER},
            marks(numbers, keys_of_replies),
        ]

    async def run(self, group: int) -> float:
        stored, outcome, mark = self.made[group]
        ids = Bigints(row[2] for row in await self._execute(SQL["enqueue_events"], stored))
        await self._execute(SQL["complete_events"], {**outcome, "ids": ids, "main": ids, "events": ids})
        at = time.perf_counter()
        sent = Bigints(id for (id,) in await self._execute(REPLIES, {"events": ids}))
        await self._execute(SQL["finish_messages"], {**mark, "ids": sent})
        return at

    async def store(self, group: int) -> float:
        """The first statement alone."""
        await self._execute(SQL["enqueue_events"], self.made[group][0])
        return time.perf_counter()

    async def _execute(self, query: str, parameters: dict[str, object]) -> list[tuple[Any, ...]]:
        connection = await self.free.get()
        try:
            rows: list[tuple[Any, ...]] = await (await connection.execute(query, parameters)).fetchall()
            return rows
        finally:
            self.free.put_nowait(connection)


@asynccontextmanager
async def by_aiohttp(address: str) -> AsyncIterator[Work]:
    """The two calls of a message as anybody would write them."""
    async with aiohttp.ClientSession() as http:

        async def calls(number: int) -> float:
            async with http.post(address, json={"text": f"message {number} {TEXT}"}) as answer:
                result = await answer.json()
            async with http.post(address, json=result) as taken:
                await taken.read()
            return time.perf_counter()

        yield calls


@asynccontextmanager
async def by_own_connections(address: str) -> AsyncIterator[Work]:
    """The two calls by the client of the service."""
    http = AioHttp(AddressPolicy())

    async def calls(number: int) -> float:
        answer = await http.send(HttpRequest("POST", address, json={"text": f"message {number} {TEXT}"}))
        await http.send(HttpRequest("POST", address, content=answer.body))
        return time.perf_counter()

    try:
        yield calls
    finally:
        await http.close()


async def timed(work: Work, groups: int, size: int = 1, *, in_flight: int = 64, rate: float = 0.0) -> Sample:
    """All groups of messages, so many at once or at a `rate`; CPU of this process for each message."""
    gate, waits = asyncio.Semaphore(groups if rate else in_flight), []

    async def one(number: int, at: float) -> None:
        async with gate:
            began = at or time.perf_counter()
            waits.append((await work(number) - began) * 1000)

    used, began = _cpu(), time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for number in range(groups):
            at = began + number / rate if rate else 0.0
            if rate:
                await asyncio.sleep(max(0.0, at - time.perf_counter()))
            tasks.create_task(one(number, time.perf_counter() if rate else 0.0))
    took, count = time.perf_counter() - began, groups * size
    parts = quantiles(waits, n=100)
    return Sample(
        count / took, (_cpu() - used) / count * 1e6, p50_ms=parts[49], p95_ms=parts[94], p99_ms=parts[98]
    )


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: StubProtocol(Stub()), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
