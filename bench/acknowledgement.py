"""Acknowledgements: durable, proved, deduplicated, against servers that only answer, and against pgbench."""

import asyncio
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from apps.compose.container import Container
from bench import inserts, scripts
from bench.database import Database
from bench.measuring import cpu_seconds, free_port, python, server, wrk
from bench.ours import settings
from bench.part import Bench
from bench.peers_environment import peers_python
from bench.platform import standing_in
from bench.report import Row, against
from bench.rounds import Sample, Samples, interleaved, ratio
from domain.instances.model import NewInstance

CONNECTIONS = 64
SECONDS = 2.0
SECRET = "bench-signing-secret"
BOT_TOKEN = "123456:bench"
TOKEN = hashlib.sha256(BOT_TOKEN.encode()).hexdigest()
HOOK = "http://127.0.0.1:{}/api/agent/channels/{}/{}/webhook".format
OURS, SLACK, REMOTE, PGBENCH = "ours, Telegram", "ours, Slack", "ours, remote core", "pgbench"
BARE, BOLT, AIOGRAM, PTB = "bare FastAPI", "slack_bolt async", "aiogram", "python-telegram-bot"


def telegram_script(path: Path) -> Path:
    return scripts.telegram(path, TOKEN)


def slack_script(path: Path) -> Path:
    return scripts.slack(path, SECRET, 40_000)


@dataclass
class Case:
    """A server under load: its address, script, and the processes whose CPU counts."""

    url: str
    script: Callable[[Path], Path]
    pids: list[int] = field(default_factory=list)

    def measure(self, database: Database | None, seconds: float) -> Sample:
        with tempfile.TemporaryDirectory() as folder:
            script = self.script(Path(folder) / "load.lua")
            of_database, before = database.cpu() if database else 0.0, cpu_seconds(*self.pids)
            load = wrk(self.url, script, CONNECTIONS, seconds)
            service = cpu_seconds(*self.pids) - before
            stored = database.cpu() - of_database if database else 0.0
        if load.errors:
            raise SystemExit(f"{self.url} answered {load.errors} of {load.requests} requests with an error")
        each = 1e6 / max(1, load.requests)
        return Sample(load.rps, service * each, stored * each, load.p50_ms, p99_ms=load.p99_ms)


def run(bench: Bench) -> list[Row]:
    """Every server alone under load, in turn."""
    dsn = bench.database.fresh("acknowledgements")
    seconds = 1.0 if bench.quick else SECONDS
    with _servers(dsn) as cases:
        turns = {
            name: partial(case.measure, bench.database if name.startswith("ours") else None, seconds)
            for name, case in cases.items()
        }
        turns[PGBENCH] = partial(inserts.measure, dsn, bench.database, seconds)
        samples = interleaved(turns, bench.rounds)
    bench.report.keep("acknowledgement", samples)
    return rows(samples)


@contextmanager
def _servers(dsn: str) -> Iterator[dict[str, Case]]:
    telegram_id, slack_id = asyncio.run(instances(dsn))
    peers = peers_python()
    with ExitStack() as stack:

        def start(*command: str) -> tuple[int, int]:
            port = free_port()
            return port, stack.enter_context(server([each.format(port=port) for each in command], port))

        def case(url: str, script: Callable[[Path], Path], *command: str) -> Case:
            port, pid = start(*command)
            return Case(f"http://127.0.0.1:{port}{url}", script, [pid])

        platform = stack.enter_context(standing_in())
        ours, ours_pid = start(python(), "-m", "bench.ours", "intake", dsn, "{port}", platform)
        core, core_pid = start(python(), "-m", "bench.ours", "core", dsn, "{port}", platform)
        remote, remote_pid = start(python(), "-m", "bench.ours", "gateway", "{port}", f"127.0.0.1:{core}")
        telegram = partial(HOOK, ours, "bot-messenger", telegram_id)
        yield {
            BARE: case("/hook", telegram_script, python(), "bench/peers/bare.py", "{port}"),
            OURS: Case(telegram(), telegram_script, [ours_pid]),
            AIOGRAM: case("/webhook", telegram_script, peers, "bench/peers/aiogram_bot.py", "{port}", TOKEN),
            PTB: case("/webhook", telegram_script, peers, "bench/peers/ptb.py", "{port}", TOKEN),
            SLACK: Case(HOOK(ours, "workspace-chat", slack_id), slack_script, [ours_pid]),
            BOLT: case("/slack/events", slack_script, peers, "bench/peers/slack.py", "{port}"),
            REMOTE: Case(HOOK(remote, "bot-messenger", telegram_id), telegram_script, [core_pid, remote_pid]),
        }


async def instances(dsn: str, resource: str = "agent::echo") -> tuple[int, int]:
    """A Telegram and a Slack instance, straight in the store: no platform is told."""
    container = Container(settings=settings(), dsn=dsn, solitary=True)
    await container.database().open()
    store = container.storage().instances
    telegram = await store.add("bench", NewInstance("bot-messenger", "t", {"botToken": BOT_TOKEN}, resource))
    slack_config = {"botToken": "xoxb-1", "signingSecret": SECRET}
    slack = await store.add("bench", NewInstance("workspace-chat", "s", slack_config, resource))
    await container.database().close()
    return telegram.id, slack.id


def rows(samples: Samples) -> list[Row]:
    what = "acknowledgement, {} against {}".format
    remote = ratio(samples, REMOTE, OURS, "service_us")
    both = ratio(samples, REMOTE, OURS, "all_us")
    return [
        against(what(OURS, BARE), ">= 0.85", samples, OURS, BARE),
        against(what(SLACK, BOLT), ">= 2.0", samples, SLACK, BOLT),
        against(what(OURS, AIOGRAM), ">= 1.6", samples, OURS, AIOGRAM),
        against(what(OURS, PTB), ">= 1.6", samples, OURS, PTB),
        inserts.row(samples, OURS, PGBENCH),
        Row("CPU of a callback through a remote core against a direct one", "<= 1.4", remote, both),
    ]
