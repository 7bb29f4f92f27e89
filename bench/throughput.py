"""The engine end to end: from the stored message to the reply at its address, by workers in processes apart."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import orjson
import psycopg
import uvloop

from apps.components import StorageComponent
from apps.container import Container
from bench.engine import Stub, events
from bench.measuring import LOAD_CORE, ROOT, SERVER_CORE, cpu_seconds, pinned, python
from bench.ours import settings
from bench.part import Bench
from bench.report import Row, told
from bench.rounds import Figure, Sample, Samples, interleaved, middle_of, ratio
from domain.channels.messages import Event
from domain.events.model import EventFilter
from domain.instances.model import NewInstance

INSTANCES = 8
"""Over so many instances of as many users the messages are spread, as no one may take all places of a worker."""


class Replies(Stub):
    """Notes when the reply to each message came; other calls are those of the resource."""

    def __init__(self) -> None:
        super().__init__()
        self.at: dict[str, float] = {}

    def took(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"POST /answers"):
            self.at.setdefault(orjson.loads(body)["requestId"], time.perf_counter())
            super().took(head, body)


@dataclass(frozen=True)
class Run:
    """`statements` are PostgreSQL's per message, storing it included; latencies in milliseconds."""

    workers: int
    conversations: int
    per_second: float
    cpu_us: float
    statements: float
    p50_ms: float
    p99_ms: float

    def sample(self, database_us: float) -> Sample:
        return Sample(self.per_second, self.cpu_us, database_us, self.p50_ms, p99_ms=self.p99_ms)


WARM_SECONDS = 2.0
"""Messages at a `rate` count for the latency from then on: before, connections are opened and statements are prepared
and planned for the first time, which took 100 to 250 ms a message."""
SHAPES = {"one conversation": (1, 400), "100 conversations": (100, 4000)}
HALF = "half load"


def run(bench: Bench) -> list[Row]:
    """One worker and two, with one conversation and with many; then half of the load."""

    def measured(workers: int, conversations: int, count: int, rate: float | None = None) -> Sample:
        before = bench.database.cpu()
        dsn = bench.database.fresh("throughput")
        made = uvloop.run(measure(dsn, workers, conversations, count // 10 if bench.quick else count, rate))
        return made.sample((bench.database.cpu() - before) / count * 1e6)

    cases = {
        f"{shape}, {workers}": partial(measured, workers, *SHAPES[shape])
        for shape in SHAPES
        for workers in (1, 2)
    }
    samples = interleaved(cases, bench.rounds)
    half = middle_of(samples, "100 conversations, 1", "rate") / 2
    samples |= interleaved({HALF: partial(measured, 1, 100, 4000, half)}, bench.rounds)
    bench.report.keep("throughput", samples)
    return [
        _second_worker(samples, "one conversation", ">= 0.95"),
        _second_worker(samples, "100 conversations", ">= 1.7"),
        *(
            Row(
                f"stored message to reply at half load, {name[:3]}, ms",
                goal,
                value=Figure.of([getattr(sample, name) for sample in samples[HALF]], "{:.1f}"),
                details=f"at {half:,.0f}/s, 100 conversations, one worker",
            )
            for name, goal in (("p50_ms", "<= 15"), ("p99_ms", "<= 40"))
        ),
    ]


def _second_worker(samples: Samples, shape: str, goal: str) -> Row:
    one, two = f"{shape}, 1", f"{shape}, 2"
    return Row(
        f"messages/s of two workers against one, {shape}",
        goal,
        value=ratio(samples, two, one, "rate"),
        details=f"{told(samples, two)} / {told(samples, one)}",
    )


async def measure(
    dsn: str,
    workers: int,
    conversations: int,
    count: int,
    rate: float | None = None,
    *,
    followed: bool = False,
) -> Run:
    """`count` messages, all at once or `rate` a second; `followed` by a reader of all events, in this process."""
    before = _transactions(dsn)
    replies = Replies()
    address = (await replies.start()).removesuffix("/run")
    container = Container(settings=settings(), dsn=dsn, solitary=False)
    storage = StorageComponent(container, "core")
    await storage.start()
    instances = [
        (
            await container.storage().instances.add(
                f"user {n}", NewInstance("http-webhook", "b", {}, "agent::bench")
            )
        ).id
        for n in range(INSTANCES)
    ]
    reader = await _follow(container) if followed else None
    made = events(count, conversations, {"url": f"{address}/answers"})
    async with _running(dsn, f"{address}/run", workers) as pids:
        replies.expect(count)
        cpu, began = cpu_seconds(*pids), time.perf_counter()
        sent = await _load(container, instances, made, rate)
        async with asyncio.timeout(120):
            await replies.reached.wait()
        took, used = time.perf_counter() - began, cpu_seconds(*pids) - cpu
    if reader is not None:
        reader.cancel()
        await container.storage().event_feed.close()
    await storage.stop()
    cold = int(rate * WARM_SECONDS) if rate else 0
    warm = [event.request_id for event in made[min(cold, count // 2) :]]
    waits = sorted((replies.at[name] - sent[name]) * 1000 for name in warm)
    return Run(
        workers,
        conversations,
        count / took,
        used / count * 1e6,
        (_transactions(dsn) - before) / count,
        waits[len(waits) // 2],
        waits[min(len(waits) - 1, len(waits) * 99 // 100)],
    )


async def _follow(container: Container) -> asyncio.Task[None]:
    """Reads all events, once they are recorded."""
    pages = container.storage().event_feed.follow(EventFilter(), None)
    await anext(pages)

    async def read() -> None:
        async for _ in pages:
            pass

    return asyncio.create_task(read())


async def _load(
    container: Container, instances: Sequence[int], made: Sequence[Event], rate: float | None
) -> dict[str, float]:
    """Stores the messages; when each was stored. One conversation belongs to one instance."""
    sent: dict[str, float] = {}

    async def one(event: Event) -> None:
        await container.storage().inbox.add(instances[int(event.session_id[1:]) % INSTANCES], [event])
        sent[event.request_id] = time.perf_counter()

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number, event in enumerate(made):
            group.create_task(one(event))
            if rate:
                await asyncio.sleep(max(0.0, began + (number + 1) / rate - time.perf_counter()))
    return sent


@asynccontextmanager
async def _running(dsn: str, downstream: str, workers: int) -> AsyncIterator[list[int]]:
    """The first worker has the core of servers to itself; a second one shares that of the load."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'proto/gen'}"}
    command = [python(), "-m", "bench.ours", "worker", dsn, downstream]
    running = [
        subprocess.Popen(  # noqa: ASYNC220 - a program of its own, started once
            [*pinned((SERVER_CORE, LOAD_CORE)[number]), *command],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
        )
        for number in range(workers)
    ]
    try:
        for process in running:
            assert process.stdout is not None
            await asyncio.to_thread(process.stdout.readline)
        yield [process.pid for process in running]
    finally:
        for process in running:
            process.terminate()
        for process in running:
            await asyncio.to_thread(_ended, process)


def _ended(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _transactions(dsn: str) -> int:
    """Transactions of the database so far: the service runs nearly each statement in one of its own."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    return int(row[0])
