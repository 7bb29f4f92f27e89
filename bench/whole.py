"""Whole processes: second start, memory, and from webhook to reply, in one process and in three."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import aiohttp
from aiohttp import web

from bench.measuring import ROOT, SERVER_CORE, free_port, pinned, python, server
from bench.ours import KEY

IMPORTS = (
    "import fastapi, uvicorn, grpc.aio, psycopg, psycopg_pool, sqlalchemy, alembic, aiohttp, arq, orjson,nacl.secret,"
    "dependency_injector.containers, structlog, prometheus_client, fakeredis"
)


@dataclass(frozen=True)
class Running:
    pid: int
    rest: str
    key: str
    seconds: float


@contextmanager
def up(data_dir: Path) -> Iterator[Running]:
    """`switchboard up` in one process; `seconds` from start to ready."""
    port = free_port()
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'proto/gen'}",
        "DATA_DIR": str(data_dir),
        "HTTP_PORT": str(port),
        "GRPC_PORT": str(free_port()),
        "INTERNAL_SERVICE_KEY": "bench",
        "CONFIG_ENCRYPTION_KEY": KEY,
        "LOG_LEVEL": "error",
    }
    started = time.perf_counter()
    command = [*pinned(SERVER_CORE), python(), "-m", "apps.cli", "up"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if "ready" in line:
                break
        took = time.perf_counter() - started
        yield Running(process.pid, f"http://127.0.0.1:{port}", "bench", took)
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def second_start(rounds: int) -> tuple[float, float]:
    """Medians in seconds: start to ready on an existing DATA_DIR, and the bare imports."""
    starts, imports = [], []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        data = Path(folder) / "data"
        with up(data):
            pass
        for _ in range(rounds):
            with up(data) as running:
                starts.append(running.seconds)
            began = time.perf_counter()
            subprocess.run([*pinned(SERVER_CORE), python(), "-c", IMPORTS], check=True, cwd=ROOT)
            imports.append(time.perf_counter() - began)
    return median(starts), median(imports)


def idle_memory() -> float:
    """Resident MB of the service's own process, ready and idle, the database aside."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with up(Path(folder) / "data") as running:
            time.sleep(3)
            status = Path(f"/proc/{running.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


@dataclass(frozen=True)
class Latency:
    ack_ms: float
    reply_ms: float

    @property
    def ratio(self) -> float:
        return self.reply_ms / self.ack_ms


def one_process(rate: int, seconds: float) -> Latency:
    """Webhook to reply with everything in one process."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with up(Path(folder) / "data") as running:
            return asyncio.run(_latency(running.rest, rate, seconds))


def three_processes(dsn: str, redis_url: str, rate: int, seconds: float) -> Latency:
    """The same with gateway, core and worker apart."""
    environment = {
        "DATABASE_URL": dsn,
        "REDIS_URL": redis_url,
        "INTERNAL_SERVICE_KEY": "bench",
        "CONFIG_ENCRYPTION_KEY": KEY,
        "OUTBOUND_POLICY": "open",
        "LOG_LEVEL": "error",
    }
    rest, grpc = free_port(), free_port()
    before = {name: os.environ.get(name) for name in (*environment, "GRPC_PORT", "HTTP_PORT", "CORE_TARGET")}
    os.environ.update(environment, GRPC_PORT=str(grpc), HTTP_PORT=str(rest), CORE_TARGET=f"127.0.0.1:{grpc}")
    try:
        with ExitStack() as stack:
            stack.enter_context(server([python(), "-m", "apps.cli", "core"], grpc))
            stack.enter_context(_worker())
            stack.enter_context(server([python(), "-m", "apps.cli", "gateway"], rest))
            return asyncio.run(_latency(f"http://127.0.0.1:{rest}", rate, seconds))
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _worker() -> Iterator[None]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'proto/gen'}"}
    command = [*pinned(SERVER_CORE), python(), "-m", "apps.cli", "worker"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        process.stdout.readline()
        yield
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


async def _latency(rest: str, rate: int, seconds: float) -> Latency:
    """Open loop: one webhook every 1/rate seconds, each answered at our own address."""
    arrived: dict[str, float] = {}
    all_there = asyncio.Event()
    total = int(rate * seconds)

    async def take(request: web.Request) -> web.Response:
        body = await request.json()
        arrived[body["sessionId"]] = time.perf_counter()
        if len(arrived) >= total:
            all_there.set()
        return web.Response()

    app = web.Application()
    app.router.add_post("/answers", take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    answers = f"http://127.0.0.1:{runner.addresses[0][1]}/answers"
    async with aiohttp.ClientSession() as session:
        hook = await _instance(session, rest, answers)
        acks, sent = await _load(session, hook, rate, total)
        async with asyncio.timeout(60):
            await all_there.wait()
    await runner.cleanup()
    replies = [arrived[name] - at for name, at in sent.items()]
    return Latency(median(acks) * 1000, median(replies) * 1000)


async def _instance(session: aiohttp.ClientSession, rest: str, answers: str) -> str:
    body = {
        "channelId": "http-webhook",
        "channelName": f"bench {time.time()}",
        "config": {"responseWebhookUrl": answers},
        "downStreamResourceId": "agent::echo",
    }
    headers = {"authorization": "Bearer bench", "x-user-id": "bench"}
    async with session.post(f"{rest}/api/agent/channel-instances", json=body, headers=headers) as response:
        created = await response.json()
    return f"{rest}/api/agent/channels/http-webhook/{created['instanceId']}/webhook"


async def _load(
    session: aiohttp.ClientSession, hook: str, rate: int, total: int
) -> tuple[list[float], dict[str, float]]:
    acks: list[float] = []
    sent: dict[str, float] = {}

    async def one(number: int) -> None:
        name = f"s{number}"
        sent[name] = time.perf_counter()
        async with session.post(hook, json={"message": "hello", "sessionId": name}) as response:
            await response.read()
            assert response.status == 200, response.status
        acks.append(time.perf_counter() - sent[name])

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(total):
            group.create_task(one(number))
            await asyncio.sleep(max(0.0, began + (number + 1) / rate - time.perf_counter()))
    return acks, sent
