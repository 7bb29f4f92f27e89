"""A message through a stored agent against one through a rule of RESOURCES_FILE: the same resource, in Telegram.

python -m bench --only agents

CPU is that of the worker's process less what it uses when idle. Other parts compare other pairs of resources.
"""

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean

import uvloop
from aiohttp import web

from apps.compose.container import Container
from apps.processes.components import StorageComponent
from bench.measuring import ROOT, SERVER_CORE, cpu_seconds, pinned, python
from bench.ours import settings
from bench.part import Bench
from bench.report import Row
from bench.rounds import Figure
from domain.agents.model import AgentDefinition
from domain.channels.messages import Event, Sender
from domain.instances.model import NewInstance
from tests.support.servers import serving

MESSAGES = 250
"""Of one measurement, each in a conversation of its own."""
PAIRS = 6
"""Measurements of each kind in a round, in turns, so that a machine that becomes slower slows both."""
IDLE_SECONDS = 5.0
TOKEN = "123456:bench"
RULE = '[[rule]]\nmatch = "agent::{name}"\nkind = "http"\nurl = "{{url}}/run"\n'


@dataclass(frozen=True)
class Pair:
    """Two resources to compare: `rules` has a place for the address of the platform, `program` runs the worker.
    `database_cpu`: seconds of the database, where they count too."""

    names: tuple[str, str] = ("stored", "ruled")
    rules: str = RULE.format(name="ruled")
    program: str = "bench.ours"
    database_cpu: Callable[[], float] = float


@dataclass
class Platform:
    """Telegram and the resource."""

    sent: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        if request.path == "/run":
            usage = {"inputTokens": 812, "outputTokens": 64}
            return web.json_response({"text": "It is noon.", "usage": usage})
        if request.path.endswith("sendMessage"):
            self.sent += 1
            self.news.set()
        return web.json_response({"ok": True, "result": {"message_id": self.sent, "username": "bench"}})

    async def reached(self, count: int) -> None:
        while self.sent < count:
            self.news.clear()
            await self.news.wait()


@dataclass(frozen=True)
class Cost:
    """CPU of one message, and how many were answered in a second."""

    cpu_us: float
    rate: float


async def measure(dsn: str, rounds: int, pair: Pair) -> list[tuple[Cost, Cost]]:
    """The costs of a message through the one resource, and through the other, in each round."""
    platform = Platform()
    async with serving(platform.handle) as url:
        container = Container(settings=settings(BOT_MESSENGER_API_URL=url), dsn=dsn, solitary=False)
        storage = StorageComponent(container, "core")
        await storage.start()
        definition = AgentDefinition("http", {"url": f"{url}/run"})
        await container.storage().agents.add("bench", "stored", "Stored", definition, (), 10)
        instances = [
            (await container.storage().instances.add("bench", new)).id
            for new in (
                NewInstance("bot-messenger", name, {"botToken": TOKEN}, f"agent::{name}")
                for name in pair.names
            )
        ]
        costs = []
        async with _worker(dsn, url, pair) as pid:
            cpu = partial(_cpu, pid, pair)
            first = 1_000_000
            for instance in instances:  # warms up
                await _cost(container, instance, platform, cpu, 0.0, first)
                first += MESSAGES
            idle = await _idle(cpu)
            for _ in range(rounds):
                measured: dict[int, list[Cost]] = {instance: [] for instance in instances}
                for number in range(PAIRS):
                    for instance in instances if number % 2 else reversed(instances):
                        measured[instance].append(
                            await _cost(container, instance, platform, cpu, idle, first)
                        )
                        first += MESSAGES
                costs.append((_mean(measured[instances[0]]), _mean(measured[instances[1]])))
        await storage.stop()
    return costs


def _mean(costs: Sequence[Cost]) -> Cost:
    return Cost(fmean(cost.cpu_us for cost in costs), fmean(cost.rate for cost in costs))


def _cpu(pid: int, pair: Pair) -> float:
    return cpu_seconds(pid) + pair.database_cpu()


async def _idle(cpu: Callable[[], float]) -> float:
    """CPU seconds of a second."""
    before = cpu()
    await asyncio.sleep(IDLE_SECONDS)
    return (cpu() - before) / IDLE_SECONDS


async def _cost(
    container: Container,
    instance: int,
    platform: Platform,
    cpu: Callable[[], float],
    idle: float,
    first: int,
) -> Cost:
    before, began, sent = cpu(), time.perf_counter(), platform.sent
    events = [_event(chat) for chat in range(first, first + MESSAGES)]
    async with asyncio.timeout(300):
        for start in range(0, MESSAGES, 50):
            await container.storage().inbox.add(instance, events[start : start + 50])
        await platform.reached(sent + MESSAGES)
    took = time.perf_counter() - began
    await asyncio.sleep(1.0)
    used = cpu() - before - idle * (time.perf_counter() - began)
    return Cost(used / MESSAGES * 1_000_000, MESSAGES / took)


def _event(chat: int) -> Event:
    return Event(
        f"e{chat}", str(chat), Sender(str(chat)), "Tell me", {"chat_id": chat}, request_id=f"r{chat}"
    )


@asynccontextmanager
async def _worker(dsn: str, url: str, pair: Pair) -> AsyncIterator[int]:
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "resources.toml"
        rules.write_text(pair.rules.format(url=url), "utf-8")
        path = f"{ROOT}{os.pathsep}{ROOT / 'proto/gen'}"
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "RESOURCES_FILE": str(rules),
            "PLATFORM_LIMITS": "answers",
        }
        command = [*pinned(SERVER_CORE), python(), "-m", pair.program, "worker", dsn, f"{url}/none", url]
        process = await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, env=environment, stdout=subprocess.PIPE
        )
        try:
            assert process.stdout is not None
            await process.stdout.readline()
            yield process.pid
        finally:
            process.terminate()
            await process.wait()


def run(bench: Bench) -> list[Row]:
    """A part of the bench that is measured only where it is named."""
    costs = uvloop.run(measure(bench.database.fresh("agents"), bench.rounds, Pair()))
    bench.report.raw["agents"] = [[asdict(cost) for cost in pair] for pair in costs]
    return rows(costs)


def rows(rounds: Sequence[tuple[Cost, Cost]]) -> list[Row]:
    stored, ruled = sorted(rounds, key=lambda costs: costs[0].cpu_us / costs[1].cpu_us)[len(rounds) // 2]
    return [
        Row(
            "CPU, a message through a stored agent against one through a rule",
            "<= 1.03",
            Figure.of([one.cpu_us / other.cpu_us for one, other in rounds]),
            details=f"{stored.cpu_us:.0f} / {ruled.cpu_us:.0f} µs; {stored.rate:.0f} / {ruled.rate:.0f} a second",
        )
    ]
