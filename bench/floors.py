"""The floors of a message, beside ours in the same run: what its statements and its two calls take by themselves."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import uvloop

from bench.acknowledgement import HOOK, Case, instances, telegram_script
from bench.bare import Statements, by_aiohttp, by_own_connections, timed
from bench.database import Database
from bench.end_to_end import AIOGRAM, APART, OURS, running_bots
from bench.measuring import LOAD_CORE, SERVER_CORE, free_port, python, server
from bench.part import Bench
from bench.platform import standing_in
from bench.report import Row, told
from bench.rounds import Figure, Sample, Samples, interleaved, middle_of

MESSAGES = 1500
PACED_SECONDS = 3.0
RATE = 200.0
SHARED = 32
"""Messages of one statement: a group commit that finds 64 in flight takes about so many."""
SAME_CORE, OTHER_CORE = "database on its core", "database apart"
STATEMENTS, TOGETHER = "statements, each message alone", f"statements, {SHARED} messages together"
CALLS, OWN_CALLS = "calls by aiohttp", "calls by our client"
WHOLE, INSERT = "acknowledgement", f"its insert alone, {SHARED} rows"


@dataclass(frozen=True)
class Floor:
    """Measures by a process of its own core: this one, which moves there meanwhile."""

    database: Database
    dsn: str
    instance_id: int
    address: str

    def statements(
        self, core: int, count: int, size: int = 1, *, rate: float = 0.0, insert: bool = False
    ) -> Sample:
        async def measured() -> Sample:
            async with Statements.opened(self.dsn, self.instance_id, count // size, size) as statements:
                work = statements.store if insert else statements.run
                before = self.database.cpu()
                sample = await timed(work, count // size, size, in_flight=2 if size > 1 else 64, rate=rate)
                return replace(sample, database_us=(self.database.cpu() - before) / count * 1e6)

        with self.database.on(core), _on_server_core():
            return uvloop.run(measured())

    def calls(self, own: bool, count: int, *, rate: float = 0.0) -> Sample:
        async def measured() -> Sample:
            async with by_own_connections(self.address) if own else by_aiohttp(self.address) as work:
                return await timed(work, count, rate=rate)

        with _on_server_core():
            return uvloop.run(measured())


def run(bench: Bench) -> list[Row]:
    """All at once, 200 a second, and half of what ours takes; then the acknowledgement."""
    count = 200 if bench.quick else MESSAGES
    with running_bots(bench.database) as bots, _floor(bench.database) as floor:
        cases: dict[str, Callable[[], Sample]] = {
            OURS: partial(bots[OURS].measure, count),
            APART: partial(bots[APART].measure, count),
            AIOGRAM: partial(bots[AIOGRAM].measure, count),
            STATEMENTS: partial(floor.statements, LOAD_CORE, count),
            TOGETHER: partial(floor.statements, LOAD_CORE, 4 * count // SHARED * SHARED, SHARED),
            CALLS: partial(floor.calls, False, count),
            OWN_CALLS: partial(floor.calls, True, count),
        }
        samples = interleaved(cases, bench.rounds)
        rows = list(_rows("64 in flight", samples))
        for rate in (RATE, middle_of(samples, APART, "rate") / 2):
            number = int(rate * (1.0 if bench.quick else PACED_SECONDS))
            cases = {
                OURS: partial(bots[OURS].measure, number, rate),
                APART: partial(bots[APART].measure, number, rate),
                AIOGRAM: partial(bots[AIOGRAM].measure, number, rate),
                f"{STATEMENTS}, {SAME_CORE}": partial(floor.statements, SERVER_CORE, number, rate=rate),
                f"{STATEMENTS}, {OTHER_CORE}": partial(floor.statements, LOAD_CORE, number, rate=rate),
                OWN_CALLS: partial(floor.calls, True, number, rate=rate),
            }
            samples = interleaved(cases, bench.rounds, warm=False)
            rows += _rows(f"{rate:,.0f}/s", samples)
    return rows + _acknowledgement(bench)


def _acknowledgement(bench: Bench) -> list[Row]:
    dsn, port = bench.database.fresh("acknowledgements"), free_port()
    telegram, _ = asyncio.run(instances(dsn))
    with (
        _floor(bench.database) as floor,
        standing_in() as platform,
        server([python(), "-m", "bench.ours", "intake", dsn, str(port), platform], port) as pid,
    ):
        case = Case(HOOK(port, "bot-messenger", telegram), telegram_script, [pid])
        cases = {
            WHOLE: partial(case.measure, bench.database, 1.0 if bench.quick else 2.0),
            INSERT: partial(floor.statements, LOAD_CORE, 200 * SHARED, SHARED, insert=True),
        }
        return list(_rows("64 in flight", interleaved(cases, bench.rounds)))


def _rows(load: str, samples: Samples) -> Iterator[Row]:
    for name in samples:
        waits = ", ".join(
            f"{value[:3]} {middle_of(samples, name, value):.1f}" for value in ("p50_ms", "p99_ms")
        )
        service = Figure.of([sample.service_us for sample in samples[name]], "{:.0f}")
        both = Figure.of([sample.all_us for sample in samples[name]], "{:.0f}")
        yield Row(f"{load}: {name}", "", service, both, f"{waits} ms", told(samples, name))


@contextmanager
def _floor(database: Database) -> Iterator[Floor]:
    dsn, port = database.fresh("floors"), free_port()
    telegram, _ = asyncio.run(instances(dsn))
    with server([python(), "-m", "bench.bare", str(port)], port, LOAD_CORE):
        yield Floor(database, dsn, telegram, f"http://127.0.0.1:{port}/run")


@contextmanager
def _on_server_core() -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {SERVER_CORE} & before or {SERVER_CORE})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
