"""What the soak looks at: memory, files, connections, sizes of tables, the queue, the event loop."""

import re
import time
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psycopg

from bench.measuring import cpu_seconds, family

TABLES = """
SELECT regexp_replace(relname, '_p[0-9]+$', ''), sum(pg_total_relation_size(c.oid))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind = 'r' GROUP BY 1
"""
CONNECTIONS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
OLDEST = re.compile(r"^switchboard_queue_oldest_seconds\S* (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Sample:
    """At a time of the monotonic clock. Memory is the proportional set size in MB; `machine_ms` is the processor time
    of a fixed computation: a machine that others share gets slower and faster."""

    at: float
    machine_ms: float
    service_mb: float
    database_mb: float
    service_files: int
    connections: int
    oldest_s: float
    loop_ms: float
    service_cpu_s: float
    database_cpu_s: float
    messages: int
    tables: dict[str, int]


class Sampler:
    def __init__(self, pid: int, dsn: str, session: aiohttp.ClientSession, base: str) -> None:
        self._pid = pid
        self._session = session
        self._base = base
        self._database = psycopg.connect(dsn, autocommit=True)

    async def take(self, messages: int) -> Sample:
        service, database = [], []
        for pid in family(self._pid):
            (database if _name(pid) == "postgres" else service).append(pid)
        began = time.monotonic()
        async with self._session.get(f"{self._base}/healthz") as answer:
            await answer.read()
        loop_ms = (time.monotonic() - began) * 1000
        async with self._session.get(f"{self._base}/metrics") as answer:
            ages = [float(age) for age in OLDEST.findall(await answer.text())]
        row = self._database.execute(CONNECTIONS).fetchone()
        return Sample(
            at=time.monotonic(),
            machine_ms=_machine_ms(),
            service_mb=sum(map(_pss_mb, service)),
            database_mb=sum(map(_pss_mb, database)),
            service_files=sum(map(_files, service)),
            connections=row[0] if row else 0,
            oldest_s=max(ages, default=0.0),
            loop_ms=loop_ms,
            service_cpu_s=cpu_seconds(*service),
            database_cpu_s=cpu_seconds(*database),
            messages=messages,
            tables={name: int(size) for name, size in self._database.execute(TABLES)},
        )

    def rows(self) -> dict[str, int]:
        """The planner's count of rows of the tables that messages go through."""
        query = "SELECT relname, n_live_tup FROM pg_stat_user_tables WHERE n_live_tup > 1000 ORDER BY 1"
        return dict(self._database.execute(query).fetchall())

    def close(self) -> None:
        self._database.close()


def _machine_ms() -> float:
    return min(_computation_ms() for _ in range(3))


def _computation_ms() -> float:
    began = time.thread_time()
    sum(number * number for number in range(100_000))
    return (time.thread_time() - began) * 1000


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _pss_mb(pid: int) -> float:
    """Without shared memory: PostgreSQL's buffers fill up to their fixed size while tables are smaller. 0 for
    a process that has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    sizes = {
        name: int(size) for name, size in re.findall(r"^(Pss|Pss_Shmem):\s+(\d+) kB", text, re.MULTILINE)
    }
    return (sizes.get("Pss", 0) - sizes.get("Pss_Shmem", 0)) / 1024


def _files(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return 0
