"""The service is told to stop while something that it needs hangs: it ends in time, and loses nothing."""

import asyncio
import base64
import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from aiohttp import WSMsgType, web
from redis import Redis

from adapters.outbound.storage.embedded import EmbeddedPostgres
from tests.drivers.platform import PlatformDriver
from tests.support.folders import an_open_folder
from tests.support.platforms.discord import APPLICATION, TOKEN, Discord, GatewayStandIn
from tests.support.ports import free_port
from tests.support.receiver import Receiver
from tests.support.redis import redis_program, running_redis
from tests.support.service import (
    ROOT,
    Service,
    database_ended,
    database_processes,
    descendants,
    postmaster,
    resume,
    suspend,
)
from tests.support.waiting import until

pytestmark = pytest.mark.processes

PROMISED_S = 10.0
"""Seconds that a stop takes at most, as the documentation says: the kernel sees to it."""
SLACK_S = 8.0
"""Until a busy machine has told the process, and noticed that it has ended: less than what it may wait for at all."""
INSTANCES = 140


def stop(service: Service, sign: signal.Signals = signal.SIGTERM) -> int:
    """Its exit status; it must end in time, and without a stack trace."""
    assert service.stop(sign) < PROMISED_S + SLACK_S, service.output
    at = service.output.find("Traceback")
    assert at < 0, service.output[max(0, at - 500) : at + 4000]
    return service.process.returncode


def a_webhook(service: Service, receiver: Receiver) -> str:
    made = service.create_instance(
        channelId="http-webhook",
        channelName="hook",
        config={"responseWebhookUrl": receiver.url},
        downStreamResourceId="agent::echo",
    )
    return f"{service.base}/api/agent/channels/http-webhook/{made['instanceId']}/webhook"


def say(url: str, text: str, seconds: float = 60) -> int:
    body = {"message": text, "sessionId": text}
    headers = {"Idempotency-Key": text}
    return httpx.post(url, json=body, headers=headers, timeout=seconds, trust_env=False).status_code


def first_process(data_dir: Path) -> list[int]:
    return [postmaster(data_dir)]


@pytest.mark.parametrize("suspended", [database_processes, first_process])
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_while_its_own_database_is_suspended(
    open_folder: Path, suspended: Callable[[Path], list[int]], sign: signal.Signals
) -> None:
    with Receiver(lambda _: None) as receiver, Service(open_folder / "data") as service:
        hook = a_webhook(service, receiver)
        assert say(hook, "before") == 200
        suspend(lambda: suspended(service.data_dir))
        with contextlib.suppress(httpx.TimeoutException):
            say(hook, "meanwhile", 1)
        stop(service, sign)
        database_ended(service.data_dir)
        service.start()
        assert say(hook, "after") == 200
        until(lambda: {"before", "after"} <= {b["response"] for b in receiver.bodies}, "both are answered")


def test_a_second_signal_ends_it_at_once(open_folder: Path) -> None:
    with Service(open_folder / "data") as service:
        until(lambda: a_second_signal_ends(service), "it is ended before it ends of itself", seconds=300)
        service.start()


def a_second_signal_ends(service: Service) -> bool:
    """Stops it, and starts it before where need be. False where the signal came too late, which a busy machine may
    send a while after the first one.
    """
    if service.process.poll() is not None:
        service.start()
    suspend(lambda: database_processes(service.data_dir))
    service.process.send_signal(signal.SIGTERM)
    until(lambda: not listens(service.http_port), "it is stopping")
    service.stop(signal.SIGTERM)
    database_ended(service.data_dir)
    return service.process.returncode == 128 + signal.SIGTERM


def listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def test_a_suspended_database_keeps_nobody_waiting(open_folder: Path) -> None:
    with Service(open_folder / "data") as service, service.client() as client:
        pids = suspend(lambda: database_processes(service.data_dir))
        assert client.get("/healthz").status_code == 200
        until(lambda: client.get("/readyz").status_code == 503, "it is not ready")
        assert client.get("/metrics").status_code == 200
        resume(pids)
        until(lambda: client.get("/readyz").status_code == 200, "it is ready again")


@pytest.fixture(scope="module")
def external() -> Iterator[tuple[dict[str, str], list[int]]]:
    """Settings of processes on a database of another machine, and the processes of that database."""
    port = free_port()
    with (
        an_open_folder() as folder,
        EmbeddedPostgres(folder, fast_and_unsafe=True, tcp_port=port) as dsn,
    ):
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("CREATE ROLE app SUPERUSER LOGIN PASSWORD 'sesame'")
            name = connection.info.dbname
        yield (
            {
                "DATABASE_URL": f"postgresql://app:sesame@127.0.0.1:{port}/{name}",
                "INTERNAL_SERVICE_KEY": secrets.token_urlsafe(32),
                "CONFIG_ENCRYPTION_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
                "OUTBOUND_ALLOW": "127.0.0.0/8",
            },
            first_process(folder),
        )


@contextmanager
def hanging(postmasters: list[int]) -> Iterator[None]:
    """The server and all that it forked are suspended while the block runs."""
    pids = suspend(lambda: [*postmasters, *(child for pid in postmasters for child in descendants(pid))])
    try:
        yield
    finally:
        resume(pids)


@pytest.mark.parametrize("command", ["up", "worker", "core"])
def test_it_ends_while_an_external_database_is_suspended(
    open_folder: Path, external: tuple[dict[str, str], list[int]], redis_url: str, command: str
) -> None:
    settings, server = external
    settings = {**settings, "REDIS_URL": redis_url}
    with Service(open_folder / command, command, settings) as service, hanging(server):
        stop(service)


@pytest.mark.parametrize("command", ["up", "worker", "core"])
def test_it_ends_while_it_waits_for_a_suspended_database_at_its_start(
    open_folder: Path, external: tuple[dict[str, str], list[int]], redis_url: str, command: str
) -> None:
    settings, server = external
    service = Service(open_folder / command, command, {**settings, "REDIS_URL": redis_url})
    with hanging(server):
        service.launch()
        until(lambda: connects(service.process.pid, settings["DATABASE_URL"]), "it waits for the database")
        assert stop(service) != 0


def test_it_ends_while_the_queue_is_suspended(
    open_folder: Path, external: tuple[dict[str, str], list[int]]
) -> None:
    program = redis_program()
    if program is None:
        pytest.skip("no redis-server")
    with running_redis(program) as url, Redis.from_url(url) as client:
        queue = [int(client.info()["process_id"])]
        with Service(open_folder / "up", "up", {**external[0], "REDIS_URL": url}) as service, hanging(queue):
            assert httpx.get(service.base + "/healthz", timeout=60, trust_env=False).status_code == 200
            assert stop(service) == 0


def connects(pid: int, url: str) -> bool:
    port = int(url.rpartition(":")[2].partition("/")[0])
    inodes = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            inodes.add(str(each.readlink()))
    lines = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return any(
        int(each[2].partition(":")[2], 16) == port and f"socket:[{each[9]}]" in inodes for each in lines
    )


def test_a_gateway_ends_while_its_core_is_suspended(
    open_folder: Path, external: tuple[dict[str, str], list[int]], redis_url: str
) -> None:
    ports = {"HTTP_PORT": str(free_port()), "GRPC_PORT": str(free_port())}
    core = Service(open_folder / "core", "core", {**external[0], **ports, "REDIS_URL": redis_url})
    gateway = Service(open_folder / "gateway", "gateway", ports)
    with core, gateway:
        ready = gateway.base + "/readyz"
        until(lambda: httpx.get(ready, timeout=60, trust_env=False).status_code == 200, "it is ready")
        suspend(lambda: [core.process.pid])
        with contextlib.suppress(httpx.TimeoutException):
            httpx.get(ready, timeout=1, trust_env=False)
        assert stop(gateway) == 0


class Greeting(GatewayStandIn):
    """Greets each bot that enters."""

    async def serve(self, request: web.Request, url: str) -> web.WebSocketResponse:
        self.paths.append(request.path)
        connection = web.WebSocketResponse()
        await connection.prepare(request)
        await connection.send_json({"op": 10, "d": {"heartbeat_interval": self.interval}})
        session = {"session_id": "s", "resume_gateway_url": url, "user": {"id": "1"}}
        async for message in connection:
            if message.type is WSMsgType.TEXT and message.json()["op"] == 2:
                await connection.send_json({"op": 0, "t": "READY", "s": 1, "d": session})
        return connection


class Silent(GatewayStandIn):
    """Takes connections and never says a word."""

    async def serve(self, request: web.Request, url: str) -> web.WebSocketResponse:
        self.paths.append(request.path)
        await asyncio.Event().wait()
        raise AssertionError


@contextmanager
def discord(gateway: GatewayStandIn) -> Iterator[str]:
    """The address of its API."""
    driver, platform = PlatformDriver(), Discord()
    platform.gateway = gateway
    driver.show(platform)
    try:
        yield driver.url + "/api/v10"
    finally:
        driver.close()


@pytest.mark.parametrize("suspended", [False, True], ids=["database up", "database suspended"])
@pytest.mark.parametrize("kind", [Greeting, Silent])
def test_it_ends_with_many_discord_bots(
    open_folder: Path, kind: type[GatewayStandIn], suspended: bool
) -> None:
    gateway = kind()
    with discord(gateway) as url, a_service(open_folder, GAMING_CHAT_API_URL=url) as service:
        add_bots(service)
        until(lambda: len(gateway.paths) >= INSTANCES, "the bots are connected", seconds=120)
        if suspended:
            suspend(lambda: database_processes(service.data_dir))
        status = stop(service)
        assert suspended or status == 0
        database_ended(service.data_dir)


def a_service(folder: Path, **settings: str) -> Service:
    return Service(folder / "data", settings=settings)


def add_bots(service: Service) -> None:
    with service.client() as client:
        for number in range(INSTANCES):
            body: Mapping[str, Any] = {
                "channelId": "gaming-chat",
                "channelName": f"bot {number}",
                "config": {"botToken": TOKEN, "applicationId": APPLICATION},
            }
            answer = client.post("/api/agent/channel-instances", json=body)
            assert answer.status_code == 201, answer.text


STUBBORN = {
    "ignores cancellation": 0,
    "swallows cancellation": 0,
    "fails to stop": 0,
    "starts for ever": 130,
    "blocks the end of the interpreter": 0,
    "blocks the loop": 1,
    "blocks a thread": 1,
    "holds the interpreter": -signal.SIGALRM,
}


@dataclass(frozen=True)
class End:
    """How a process ended after it was told to: its exit status, the seconds it took, and its standard error."""

    status: int
    took: float
    said: str


@pytest.fixture(scope="module")
def ends() -> dict[str, End]:
    """Those of all stubborn parts, which mostly wait: at the same time."""
    with ThreadPoolExecutor(len(STUBBORN)) as aside:
        return dict(zip(STUBBORN, aside.map(end_of, STUBBORN), strict=True))


def end_of(kind: str) -> End:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.stubborn", kind],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/proto/gen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        return End(process.returncode, time.monotonic() - began, said)


@pytest.mark.parametrize("kind", STUBBORN)
def test_a_part_that_does_not_stop_is_left_behind(ends: dict[str, End], kind: str) -> None:
    end = ends[kind]
    assert end.took < PROMISED_S + SLACK_S
    assert end.status == STUBBORN[kind], end.said
    assert "Traceback" not in end.said or kind == "fails to stop"
    if end.status != -signal.SIGALRM:
        assert (
            "the stubborn one" in end.said or end.status == 1 or kind == "blocks the end of the interpreter"
        )
