"""The engine end to end: from the stored message to the reply at its address, by workers in processes apart."""

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

import orjson
import psycopg
import uvloop

from apps.compose.container import Container
from apps.processes.components import StorageComponent
from bench.database import Database
from bench.engine import Stub, events
from bench.measuring import LOAD_CORE, ROOT, SERVER_CORE, cpu_seconds, pinned, python
from bench.ours import settings
from bench.part import Bench
from bench.report import Row, against
from bench.rounds import Figure, Sample, Samples, interleaved, middle_of
from domain.channels.messages import Event
from domain.events import EventFilter
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


class SlowReplies(Replies):
    """The resource runs `SLOTS` calls at a time, each for a while; the others wait in line."""

    def __init__(self) -> None:
        super().__init__()
        self._slots = asyncio.Semaphore(SLOTS)
        self._running: set[asyncio.Task[None]] = set()

    def answer(self, transport: asyncio.Transport, head: bytes) -> None:
        if head.startswith(b"POST /answers"):
            super().answer(transport, head)
            return
        task = asyncio.create_task(self._run(transport, head))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, transport: asyncio.Transport, head: bytes) -> None:
        async with self._slots:
            await asyncio.sleep(SLOW_SECONDS)
        super().answer(transport, head)


@dataclass(frozen=True)
class Load:
    """`count` messages, all at once or `rate` a second, after `warm` others that count for nothing: while those run,
    connections are opened and each statement is planned for the first ten times on each of them."""

    conversations: int
    count: int
    warm: int
    rate: float | None = None
    slow: bool = False


@dataclass(frozen=True)
class Run:
    """`statements` are PostgreSQL's per message, storing it included; latencies in milliseconds."""

    per_second: float
    cpu_us: float
    database_us: float
    statements: float
    p50_ms: float
    p99_ms: float

    @property
    def sample(self) -> Sample:
        return Sample(self.per_second, self.cpu_us, self.database_us, self.p50_ms, p99_ms=self.p99_ms)


SLOTS, SLOW_SECONDS = 8, 0.1
SLOW = "a slow resource"
SHAPES = {
    "one conversation": Load(1, 800, 400),
    "100 conversations": Load(100, 4000, 1000),
    SLOW: Load(100, 320, 100, slow=True),
}
GOALS = {"one conversation": ">= 0.95", "100 conversations": ">= 1.7", SLOW: ">= 0.95"}
HALF = "half load"


def run(bench: Bench) -> list[Row]:
    """One worker and two, with one conversation, with many, and with a slow resource; then half of the load."""
    statements: dict[str, list[float]] = {}

    def measured(name: str, workers: int, load: Load) -> Sample:
        dsn = bench.database.fresh("throughput")
        made = uvloop.run(measure(bench.database, dsn, workers, _shorter(load) if bench.quick else load))
        statements.setdefault(name, []).append(made.statements)
        return made.sample

    cases = {
        name: partial(measured, name, workers, load)
        for shape, load in SHAPES.items()
        for workers in (1, 2)
        for name in [f"{shape}, {workers}"]
    }
    samples = interleaved(cases, bench.rounds)
    half = middle_of(samples, "100 conversations, 1", "rate") / 2
    load = Load(100, 4000, 1000, rate=half)
    samples |= interleaved({HALF: partial(measured, HALF, 1, load)}, bench.rounds)
    bench.report.keep("throughput", samples)
    return [
        *(_second_worker(samples, statements, shape) for shape in SHAPES),
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


def _shorter(load: Load) -> Load:
    return replace(load, count=load.count // 10, warm=load.warm // 10)


def _second_worker(samples: Samples, statements: Mapping[str, Sequence[float]], shape: str) -> Row:
    """Two against one: how often the CPU time of one holds that of two, and the rate."""
    one, two = f"{shape}, 1", f"{shape}, 2"
    row = against(f"two workers against one, {shape}", GOALS[shape], samples, two, one)
    done = " / ".join(f"{median(statements[name]):.2f}" for name in (two, one))
    return replace(row, details=f"{row.details}; {done} transactions a message")


async def measure(
    database: Database,
    dsn: str,
    workers: int,
    load: Load,
    *,
    followed: bool = False,
    begin: Callable[[], None] = lambda: None,
) -> Run:
    """`followed` by a reader of all events, in this process; `begin` is called before the messages that count."""
    replies = SlowReplies() if load.slow else Replies()
    address = (await replies.start()).removesuffix("/run")
    made = events(load.warm + load.count, load.conversations, {"url": f"{address}/answers"})
    async with _core(dsn, followed) as container, _running(dsn, f"{address}/run", workers) as pids:
        instances = await _instances(container)
        await _answered(container, instances, made[: load.warm], replies)
        begin()
        before, cpu, of_database = _transactions(dsn), cpu_seconds(*pids), database.cpu()
        began = time.perf_counter()
        sent = await _answered(container, instances, made[load.warm :], replies, load.rate)
        took, used = time.perf_counter() - began, cpu_seconds(*pids) - cpu
        of_database = database.cpu() - of_database
    statements = _transactions(dsn) - before
    waits = sorted((replies.at[name] - at) * 1000 for name, at in sent.items())
    each = [1e6 * used / load.count, 1e6 * of_database / load.count, statements / load.count]
    return Run(load.count / took, *each, waits[len(waits) // 2], waits[len(waits) * 99 // 100])


@asynccontextmanager
async def _core(dsn: str, followed: bool) -> AsyncIterator[Container]:
    """What stores messages."""
    container = Container(settings=settings(), dsn=dsn, solitary=False)
    storage = StorageComponent(container, "core")
    await storage.start()
    reader = await _follow(container) if followed else None
    yield container
    if reader is not None:
        reader.cancel()
        await container.storage().event_feed.close()
    await storage.stop()


async def _instances(container: Container) -> list[int]:
    store = container.storage().instances
    new = NewInstance("http-webhook", "b", {}, "agent::bench")
    return [(await store.add(f"user {n}", new)).id for n in range(INSTANCES)]


async def _answered(
    container: Container,
    instances: Sequence[int],
    made: Sequence[Event],
    replies: Replies,
    rate: float | None = None,
) -> dict[str, float]:
    """Stores the messages and waits for their replies; when each was stored."""
    replies.expect(len(made))
    sent = await _load(container, instances, made, rate)
    async with asyncio.timeout(120):
        await replies.reached.wait()
    return sent


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
