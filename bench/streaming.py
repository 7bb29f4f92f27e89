"""A streamed answer of 2,000 tokens against plain ones of the same text, in Telegram, from an http resource.

python -m bench --only streaming

CPU is that of the worker's process less what it uses when idle. The resource gives one token at a time, as an event
of its own.
"""

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise

import uvloop
from aiohttp import web

from apps.compose.container import Container
from apps.processes.components import StorageComponent
from bench.measuring import ROOT, SERVER_CORE, cpu_seconds, pinned, python
from bench.ours import settings
from bench.part import Bench
from bench.report import Row
from bench.rounds import Figure
from domain.channels.messages import Event, Sender
from domain.instances.model import NewInstance
from tests.support.servers import serving

TOKENS = 2000
TOKENS_PER_SECOND = 100
CHATS = 20
"""Conversations at a time, each with an answer under way."""
IDLE_SECONDS = 10.0
ROUNDS = 3
TOKEN = "123456:bench"
SENTENCE = "Steam that leaves the boiler is hot, and the valve of the line opens before it does."
END = "exhausted"


def markdown() -> str:
    """About four characters a token, with headings, lists and emphasis as models write them."""
    blocks: list[str] = []
    words = SENTENCE.split()
    while sum(map(len, blocks)) < 4 * TOKENS:
        number = len(blocks)
        text = " ".join(words[(number + at) % len(words)] for at in range(60))
        blocks.append(f"## Part {number}" if number % 6 == 0 else f"{text} **{number} bar**, `valve`.")
        if number % 5 == 0:
            blocks.append("\n".join(f"- {word} *{number}*" for word in words[:4]))
    return "\n\n".join(blocks)[: 4 * TOKENS - len(END) - 2] + f"\n\n{END}"


@dataclass
class Platform:
    """Telegram and the resource. `calls` are the messages and edits of each chat, with their times."""

    text: str
    streams: bool = False
    calls: dict[int, list[float]] = field(default_factory=dict)
    signs: int = 0
    sent: asyncio.Event = field(default_factory=asyncio.Event)
    last: dict[int, str] = field(default_factory=dict)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if request.path == "/run":
            return await self._run(request)
        method = request.path.rpartition("/")[2]
        if method == "sendChatAction":
            self.signs += 1
        elif method in ("sendMessage", "editMessageText"):
            self.calls.setdefault(body["chat_id"], []).append(time.perf_counter())
            self.last[body["chat_id"]] = body["text"]
            self.sent.set()
        message = body.get("message_id") or len(self.calls.get(body.get("chat_id"), ()))
        return web.json_response({"ok": True, "result": {"message_id": message, "username": "bench"}})

    async def _run(self, request: web.Request) -> web.StreamResponse:
        if not self.streams:
            return web.json_response({"text": self.text})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        began, event = time.perf_counter(), web.json_response
        for number in range(TOKENS):
            delta = event({"textDelta": self.text[4 * number : 4 * number + 4]}).body
            await response.write(b"data: " + bytes(delta) + b"\n\n")
            await asyncio.sleep(max(0.0, began + number / TOKENS_PER_SECOND - time.perf_counter()))
        await response.write(b"data: " + bytes(event({"text": self.text}).body) + b"\n\n")
        return response

    async def finished(self, chats: int) -> None:
        """Waits until each chat shows the end of the text."""
        while sum(END in text for text in self.last.values()) < chats:
            self.sent.clear()
            await self.sent.wait()


@dataclass(frozen=True)
class Cost:
    """`cpu_ms` and `calls` of one answer, `shortest` seconds between two calls in one chat."""

    cpu_ms: float
    calls: float
    signs: float
    shortest: float
    seconds: float


async def measure(dsn: str, rounds: int) -> list[tuple[Cost, Cost]]:
    """The costs of a streamed and of a plain answer, in each round."""
    platform = Platform(markdown())
    async with serving(platform.handle) as url:
        container = Container(settings=settings(BOT_MESSENGER_API_URL=url), dsn=dsn, solitary=False)
        storage = StorageComponent(container, "core")
        await storage.start()
        new = NewInstance("bot-messenger", "b", {"botToken": TOKEN}, "agent::bench")
        instance = (await container.storage().instances.add("bench", new)).id
        async with _worker(dsn, url) as pid:
            await _answers(container, instance, platform, 1_000_000, streams=True)  # warms up
            idle = await _idle(pid)
            found = []
            for chats in range(2_000_000, 2_000_000 + rounds * 2_000, 2_000):
                streamed = await _cost(container, instance, platform, pid, idle, chats, streams=True)
                plain = await _cost(container, instance, platform, pid, idle, chats + 1_000, streams=False)
                found.append((streamed, plain))
        await storage.stop()
    return found


async def _idle(pid: int) -> float:
    """CPU seconds of a second."""
    before = cpu_seconds(pid)
    await asyncio.sleep(IDLE_SECONDS)
    return (cpu_seconds(pid) - before) / IDLE_SECONDS


async def _cost(
    container: Container,
    instance: int,
    platform: Platform,
    pid: int,
    idle: float,
    first: int,
    *,
    streams: bool,
) -> Cost:
    cpu, began, signs = cpu_seconds(pid), time.perf_counter(), platform.signs
    await _answers(container, instance, platform, first, streams=streams)
    took = time.perf_counter() - began
    used = cpu_seconds(pid) - cpu - idle * took
    gaps = [later - earlier for calls in platform.calls.values() for earlier, later in pairwise(calls)]
    calls = sum(map(len, platform.calls.values()))
    return Cost(
        used / CHATS * 1000, calls / CHATS, (platform.signs - signs) / CHATS, min(gaps, default=0.0), took
    )


async def _answers(
    container: Container, instance: int, platform: Platform, first: int, *, streams: bool
) -> None:
    """One answer in each chat."""
    platform.streams = streams
    platform.calls, platform.last = {}, {}
    async with asyncio.timeout(300):
        for chat in range(first, first + CHATS):
            await container.storage().inbox.add(instance, [_event(chat)])
            await asyncio.sleep(1.0 / CHATS)  # edits of all at one moment would be too many for the bot
        await platform.finished(CHATS)
    await asyncio.sleep(1.0)


def _event(chat: int) -> Event:
    return Event(
        f"e{chat}", str(chat), Sender(str(chat)), "Tell me", {"chat_id": chat}, request_id=f"r{chat}"
    )


@asynccontextmanager
async def _worker(dsn: str, url: str) -> AsyncIterator[int]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'proto/gen'}"}
    command = [*pinned(SERVER_CORE), python(), "-m", "bench.ours", "worker", dsn, f"{url}/run", url]
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
    costs = uvloop.run(measure(bench.database.fresh("streaming"), min(bench.rounds, ROUNDS)))
    bench.report.raw["streaming"] = [[asdict(cost) for cost in pair] for pair in costs]
    return rows(costs)


def rows(rounds: Sequence[tuple[Cost, Cost]]) -> list[Row]:
    """The costs of all rounds, the calls of the one in the middle."""
    streamed, plain = sorted(rounds, key=lambda costs: costs[0].cpu_ms / costs[1].cpu_ms)[len(rounds) // 2]
    most = streamed.seconds + 1
    return [
        Row(
            f"CPU, a streamed answer of {TOKENS} tokens against a plain one",
            "<= 3",
            Figure.of([one.cpu_ms / other.cpu_ms for one, other in rounds]),
            details=(
                f"{streamed.cpu_ms:.1f} ms / {plain.cpu_ms:.1f} ms at {TOKENS_PER_SECOND} tokens/s, {CHATS} chats"
            ),
        ),
        Row(
            "calls of a streamed answer, Telegram, messages and edits",
            f"<= {most:.0f}",
            value=f"{streamed.calls:.1f}",
            details=(
                f"shortest gap {streamed.shortest:.2f} s; plain: {plain.calls:.0f}; "
                f"typing signs: {streamed.signs:.1f}"
            ),
        ),
    ]
