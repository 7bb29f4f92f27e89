"""From webhook to reply beside what a user would pick: the same updates, answered by aiogram and by slack_bolt.

Every one of them asks the same resource over HTTP and sends the same reply. Ours is `switchboard up`, with everything
stored, on one core, its database on the same core; and once more with the database on the other one. The others store
nothing; with a queue, procrastinate on a database of the same PostgreSQL or arq on Redis, they do the same work as
ours: they store each message before they acknowledge it, and a worker answers it, all on one core. Quotas of
platforms are off, as the others keep none. CPU of the same messages is told at full load.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import quantiles

import psycopg
import uvloop
from redis import Redis

from adapters.outbound.storage.queue.statements import EventStatus, MessageStatus
from bench.acknowledgement import HOOK, SECRET, TOKEN, instances
from bench.database import Database
from bench.exchange import PACED_CONNECTIONS, Exchange
from bench.measuring import LOAD_CORE, SERVER_CORE, cpu_seconds, free_port, server
from bench.part import Bench
from bench.peers_environment import peers_python
from bench.report import Row, against
from bench.rounds import Sample, Samples, interleaved, middle_of, ratio
from bench.scripts import slack_event, slack_signature, telegram_update
from bench.start import running
from tests.support.postgres import on_database
from tests.support.redis import redis_program, running_redis

MESSAGES = 1500
PACED_SECONDS = 4.0
IN_FLIGHT = 64
OURS, APART, AIOGRAM = "ours, Telegram", "ours, Telegram, database apart", "aiogram"
SLACK, SLACK_APART, BOLT = "ours, Slack", "ours, Slack, database apart", "slack_bolt async"
HALF = "at half load"
NAME = "end_to_end"
WRONG = f"""
SELECT (SELECT count(*) FROM inbox WHERE status = {EventStatus.FAILED}),
    (SELECT count(*) FROM outbox WHERE status = {MessageStatus.DEAD}),
    (SELECT count(*) FROM (SELECT FROM outbox GROUP BY inbox_id HAVING count(*) > 1) several)
"""
PAIRS = ((OURS, AIOGRAM), (APART, AIOGRAM), (SLACK, BOLT), (SLACK_APART, BOLT))
GOALS = {AIOGRAM: ">= 1.2 (CPU of the service)", BOLT: ">= 0.65 (CPU of the service)"}
QUEUES = {"procrastinate": ">= 3 (rate)", "arq": ">= 1 (rate)"}
QUEUED = tuple((ours, other, queue) for ours, other in ((OURS, AIOGRAM), (SLACK, BOLT)) for queue in QUEUES)


@dataclass(frozen=True)
class Bot:
    """A bot, the requests that it gets, and the database that it uses."""

    loop: asyncio.Runner
    exchange: Exchange
    port: int
    pid: int
    database: Database | None = None
    apart: bool = False

    def measure(self, count: int, rate: float = 0.0) -> Sample:
        """All messages at once, or `rate` of them a second."""
        exchange, database = self.exchange, self.database
        self.loop.run(exchange.connect(self.port, PACED_CONNECTIONS if rate else IN_FLIGHT))
        load = exchange.paced(count, rate) if rate else exchange.at_once(count, IN_FLIGHT)
        stored, before = database.cpu() if database else 0.0, cpu_seconds(self.pid)
        with ExitStack() as stack:
            if database:
                stack.enter_context(database.on(LOAD_CORE if self.apart else SERVER_CORE))
            began = time.perf_counter()
            self.loop.run(load)
            took = time.perf_counter() - began
        used = cpu_seconds(self.pid) - before
        of_database = database.cpu() - stored if database else 0.0
        waits = [(exchange.replied[number] - at) * 1000 for number, at in exchange.sent.items()]
        parts = quantiles(waits, n=100)
        each = 1e6 / count
        return Sample(count / took, used * each, of_database * each, parts[49], parts[94], parts[98])


def run(bench: Bench) -> list[Row]:
    """All at once first; then half of what ours took, for all."""
    count = 200 if bench.quick else MESSAGES
    with running_bots(bench.database) as bots:
        full = interleaved({name: partial(bot.measure, count) for name, bot in bots.items()}, bench.rounds)
        rates = {other: middle_of(full, ours, "rate") / 2 for ours, other in ((OURS, AIOGRAM), (SLACK, BOLT))}
        paced: dict[str, Callable[[], Sample]] = {}
        for ours, other in PAIRS:
            for name in (ours, other):
                rate = rates[other]
                paced[name] = partial(bots[name].measure, int(rate * PACED_SECONDS), rate)
        half = interleaved(paced, bench.rounds)
        _refuse_wrong(bots, on_database(bench.database.dsn, NAME))
    bench.report.keep("end to end", full)
    bench.report.keep(f"end to end, {HALF}", half)
    return [
        *(row for ours, other in PAIRS for row in _rows(full, half, ours, other, rates[other])),
        *(
            against(f"end to end, {ours} against {other}", QUEUES[queue], full, ours, other)
            for ours, peer, queue in QUEUED
            if (other := with_queue(peer, queue)) in bots
        ),
    ]


def with_queue(peer: str, queue: str) -> str:
    """The name of a peer that has a queue."""
    return f"{peer} with {queue}"


def _refuse_wrong(bots: Mapping[str, Bot], dsn: str) -> None:
    """Ends a run in which a message was answered twice or failed: its figures would be those of something else."""
    twice = sum(len(exchange.twice) for exchange in {bot.exchange for bot in bots.values()})
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(WRONG).fetchone()
    assert row is not None
    if twice or any(row):
        raise SystemExit(
            f"the bench refuses this run: {twice} messages were answered twice, {row[0]} events failed,"
            f" {row[1]} replies could not be sent, {row[2]} events have several replies"
        )


def _rows(full: Samples, half: Samples, ours: str, other: str, rate: float) -> Iterator[Row]:
    yield against(f"end to end, {ours} against {other}", GOALS[other], full, ours, other)
    for value in ("p50_ms", "p95_ms", "p99_ms"):
        waits = [middle_of(half, name, value) for name in (ours, other)]
        yield Row(
            f"end to end {HALF}, {value[:3]}, {ours} against {other}",
            "<= 60 ms" if value == "p99_ms" else "",
            value=ratio(half, ours, other, value),
            details=f"{waits[0]:.1f} ms / {waits[1]:.1f} ms at {rate:,.0f}/s",
        )


@contextmanager
def running_bots(database: Database) -> Iterator[dict[str, Bot]]:
    dsn, peers = database.fresh(NAME), peers_python()
    telegram_id, slack_id = asyncio.run(instances(dsn, "agent::bench"))
    cores = os.sched_getaffinity(0)
    with ExitStack() as stack:
        loop = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        ours = free_port()
        addresses: dict[Exchange, str] = {}

        def exchange(make: Callable[[str, int], bytes], path: str) -> Exchange:
            made = Exchange(partial(make, path))
            addresses[made] = f"http://127.0.0.1:{loop.run(made.serve())}"
            return made

        telegram = exchange(_telegram, f"/{HOOK(ours, 'bot-messenger', telegram_id).split('/', 3)[3]}")
        slack = exchange(slack_request, f"/{HOOK(ours, 'workspace-chat', slack_id).split('/', 3)[3]}")
        own = stack.enter_context(
            running(
                "up",
                DATABASE_URL=dsn,
                HTTP_PORT=str(ours),
                BOT_MESSENGER_API_URL=addresses[telegram],
                WORKSPACE_CHAT_API_URL=addresses[slack],
                DOWNSTREAM_URL=f"{addresses[telegram]}/run",
                PLATFORM_LIMITS="answers",
                OUTBOUND_POLICY="open",
            )
        ).pid

        def peer(name: str, *queue: str, storage: Database | None = None) -> Bot:
            """An answering peer, which has a queue in its storage where one is named."""
            port = free_port()
            if name == AIOGRAM:
                made, script, own_arguments = exchange(_telegram, "/webhook"), "aiogram", [TOKEN]
            else:
                made, script, own_arguments = exchange(slack_request, "/slack/events"), "slack", []
            command = [
                peers,
                f"bench/peers/answering_{script}.py",
                str(port),
                *own_arguments,
                addresses[made],
            ]
            pid = stack.enter_context(server([*command, *queue], port))
            return Bot(loop, made, port, pid, storage)

        queued = {
            with_queue(name, "procrastinate"): peer(
                name, "procrastinate", database.fresh(f"procrastinate_{number}"), storage=database
            )
            for number, name in enumerate((AIOGRAM, BOLT))
        }
        if program := redis_program():
            for name in (AIOGRAM, BOLT):
                url = stack.enter_context(running_redis(program, appendonly="yes"))
                with Redis.from_url(url) as client:
                    store = Database(url, int(client.info()["process_id"]))
                queued[with_queue(name, "arq")] = peer(name, "arq", url, storage=store)
        else:
            print("  without arq: there is no redis-server (apt-get install redis-server)", flush=True)
        bots = {
            OURS: Bot(loop, telegram, ours, own, database),
            APART: Bot(loop, telegram, ours, own, database, apart=True),
            AIOGRAM: peer(AIOGRAM),
            SLACK: Bot(loop, slack, ours, own, database),
            SLACK_APART: Bot(loop, slack, ours, own, database, apart=True),
            BOLT: peer(BOLT),
            **queued,
        }
        os.sched_setaffinity(0, {LOAD_CORE} & cores or cores)
        stack.callback(os.sched_setaffinity, 0, cores)
        yield bots


def _telegram(path: str, number: int) -> bytes:
    update = telegram_update(number, 100_000 + number % 2000, _text(number))
    return _request(path, json.dumps(update), f"X-Telegram-Bot-Api-Secret-Token: {TOKEN}")


def slack_request(path: str, number: int) -> bytes:
    body, stamp = json.dumps(slack_event(number, _text(number))), str(int(time.time()))
    signature = slack_signature(SECRET, stamp, body)
    return _request(path, body, f"X-Slack-Request-Timestamp: {stamp}\r\nX-Slack-Signature: {signature}")


def _text(number: int) -> str:
    return f"This is number {number} " + "and how do I change the address on my order? " * 13


def _request(path: str, body: str, header: str) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n{header}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
