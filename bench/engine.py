"""The engine: dispatch with a durable result, order, claims."""

from __future__ import annotations

import asyncio
import random
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import aiohttp
import uvloop
from dependency_injector import providers

from apps.compose.container import Container
from apps.processes.components import StorageComponent, WorkerComponent
from apps.processes.process import collect_rarely
from bench.database import Database
from bench.ours import settings
from bench.part import Bench
from bench.report import Row, against
from bench.rounds import Sample, interleaved
from domain.channels.messages import Event, Sender
from domain.instances.model import NewInstance
from domain.routing.model import RunRequest, RunResult

STUB = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{"text": "hello"}'


class Stub:
    """A server that answers every request with a result, as fast as a stream protocol can."""

    def __init__(self) -> None:
        self.count = 0
        self.goal = 0
        self.reached = asyncio.Event()

    async def start(self) -> str:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: StubProtocol(self), "127.0.0.1", 0)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/run"

    def answer(self, transport: asyncio.Transport, head: bytes) -> None:
        transport.write(STUB)

    def took(self, head: bytes, body: bytes) -> None:
        self.count += 1
        if self.count >= self.goal:
            self.reached.set()

    def expect(self, goal: int) -> None:
        self.count, self.goal = 0, goal
        self.reached.clear()


class StubProtocol(asyncio.Protocol):
    def __init__(self, stub: Stub) -> None:
        self._stub = stub
        self._buffer = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while True:
            head, separator, rest = self._buffer.partition(b"\r\n\r\n")
            if not separator:
                return
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            if len(rest) < length:
                return
            self._buffer = rest[length:]
            self._stub.answer(self._transport, head)
            self._stub.took(head, rest[:length])


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Throughput:
    per_second: float
    cpu_us: float


async def _timed(count: int, work: Callable[[], Any]) -> Throughput:
    started, cpu = time.perf_counter(), _cpu()
    await work()
    return Throughput(count / (time.perf_counter() - started), (_cpu() - cpu) / count * 1e6)


def events(count: int, sessions: int, target: dict[str, Any]) -> list[Event]:
    return [
        Event(
            f"e{random.getrandbits(60)}",
            f"s{n % sessions}",
            Sender("x"),
            f"message {n}",
            target,
            request_id=f"r{n}",
        )
        for n in range(count)
    ]


async def _filled(container: Container, count: int, sessions: int, target: dict[str, Any]) -> int:
    """An http-webhook instance with `count` events in its inbox; its id."""
    new = NewInstance("http-webhook", f"bench {random.getrandbits(40)}", {}, "agent::bench")
    instance = await container.storage().instances.add("bench", new)
    made = events(count, sessions, target)
    await asyncio.gather(*(container.storage().inbox.add(instance.id, [each]) for each in made))
    return instance.id


def run(bench: Bench) -> list[Row]:
    """Dispatch against bare tasks; order and the CPU of few busy conversations."""
    count = 500 if bench.quick else 4000

    def bare() -> Sample:
        made = uvloop.run(plain(count))
        return Sample(made.per_second, made.cpu_us, 0.0)

    def ours() -> Sample:
        return dispatched(bench.database, bench.database.fresh("dispatch"), count)

    samples = interleaved({"ours": ours, "bare": bare}, bench.rounds)
    bench.report.keep("dispatch", samples)
    found = [
        uvloop.run(order(bench.database.fresh("orders"), sessions, count)) for sessions in (10, 100, 2000)
    ]
    return [
        against("dispatch with a durable result against bare tasks", "", samples, "ours", "bare"),
        *_order_rows(found, count),
    ]


def _order_rows(found: Sequence[Order], count: int) -> list[Row]:
    figures = "; ".join(f"{each.sessions}: {each.per_second:,.0f}/s, {each.cpu_us:.0f} µs" for each in found)
    few, _, many = found
    return [
        Row(
            "order violations, 2 workers, 10/100/2000 sessions",
            "0",
            value=str(sum(each.violations for each in found)),
            details=figures,
        ),
        Row(
            "CPU a message, 10 busy sessions against 2000",
            "<= 5",
            value=f"{few.cpu_us / many.cpu_us:.2f}",
            details=f"all {count} answered once: {all(each.answered == count for each in found)}",
        ),
    ]


def dispatched(database: Database, dsn: str, count: int) -> Sample:
    """`durable` with the CPU of PostgreSQL."""
    before: list[float] = []
    made = uvloop.run(durable(dsn, count, lambda: before.append(database.cpu())))
    return Sample(made.per_second, made.cpu_us, (database.cpu() - before[0]) / count * 1e6)


async def durable(dsn: str, count: int, begin: Callable[[], object]) -> Throughput:
    """One worker with everything recorded. As many messages come first that do not count: they open the connections,
    and each statement is planned for the first ten times on each of them. Then `begin` is called."""
    stub = Stub()
    target = {"url": await stub.start()}
    container = Container(settings=settings(DOWNSTREAM_URL=target["url"]), dsn=dsn, solitary=True)
    storage = StorageComponent(container, "worker")
    await storage.start()
    collect_rarely()

    async def worked_off() -> None:
        worker = WorkerComponent(container)
        stub.expect(2 * count)
        await worker.start()
        running = asyncio.create_task(worker.run())
        await stub.reached.wait()
        await _drained(container)
        await worker.stop()
        await asyncio.gather(running, return_exceptions=True)

    await _filled(container, count, count // 4, target)
    await worked_off()
    await _filled(container, count, count // 4, target)
    begin()
    figures = await _timed(count, worked_off)
    await storage.stop()
    return figures


async def plain(count: int) -> Throughput:
    """Bare tasks doing the same two calls, as anybody would write them; as many that do not count come first."""
    stub = Stub()
    url = await stub.start()
    gate = asyncio.Semaphore(256)

    async def one(http: aiohttp.ClientSession, number: int) -> None:
        async with gate:
            async with http.post(url, json={"text": f"message {number}"}) as answer:
                result = await answer.json()
            async with http.post(url, json=result) as taken:
                await taken.read()

    async with aiohttp.ClientSession() as http:

        async def all_of_them() -> None:
            await asyncio.gather(*(one(http, number) for number in range(count)))

        collect_rarely()
        await all_of_them()
        return await _timed(count, all_of_them)


async def _drained(container: Container) -> None:
    while await container.database().fetch_one("SELECT 1 FROM queue WHERE pending > 0 LIMIT 1"):
        await asyncio.sleep(0.01)


class _Recorder:
    """A downstream resource that notes the order in which it is asked."""

    def __init__(self) -> None:
        self.seen: dict[str, list[int]] = {}

    async def run(self, request: RunRequest) -> RunResult:
        self.seen.setdefault(request.session_id, []).append(int(request.text.rpartition(" ")[2]))
        await asyncio.sleep(random.random() * 0.004)
        return RunResult("ok")

    def violations(self) -> int:
        return sum(later < earlier for numbers in self.seen.values() for earlier, later in pairwise(numbers))


@dataclass(frozen=True)
class Order:
    sessions: int
    per_second: float
    cpu_us: float
    violations: int
    answered: int


async def order(dsn: str, sessions: int, count: int) -> Order:
    """Two workers on one database."""
    recorder = _Recorder()
    containers = [Container(settings=settings(), dsn=dsn, solitary=False) for _ in range(2)]
    parts: list[Any] = []
    for container in containers:
        container.downstream.override(providers.Object(recorder))
        parts += [StorageComponent(container, "worker"), WorkerComponent(container)]
        await parts[-2].start()
    await _filled(containers[0], count, sessions, {"url": None})

    async def work() -> None:
        running = []
        for worker in parts[1::2]:
            await worker.start()
            running.append(asyncio.create_task(worker.run()))
        await _drained(containers[0])
        for part in reversed(parts):
            await part.stop()
        await asyncio.gather(*running, return_exceptions=True)

    figures = await _timed(count, work)
    answered = sum(len(numbers) for numbers in recorder.seen.values())
    return Order(sessions, figures.per_second, figures.cpu_us, recorder.violations(), answered)
