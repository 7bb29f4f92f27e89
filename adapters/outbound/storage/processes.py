"""Running processes, and the limits of platforms that their workers share, in PostgreSQL.

A shared limit is written when a platform asks to wait, when a breaker opens or closes, and when a worker has used up
its own share of a quota; not for each message.
"""

import os
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from sqlalchemy import ColumnElement, bindparam, delete, exists, func, select

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import read_statements
from adapters.outbound.storage.statements import upsert
from adapters.outbound.storage.tables import process
from domain.delivery.model import OpenBreaker, SharedState

SQL = read_statements(Path(__file__).with_suffix(".sql"))

BEAT_SECONDS = 5.0
"""What a heartbeat may take: a late one is followed by the next."""
WORKERS = ("worker", "standalone")


class PostgresProcesses:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def worker_alive(self) -> bool:
        return bool(await self._database.fetch_value(_WORKER_ALIVE))

    async def unworked(self) -> float | None:
        """For how many seconds messages have waited while no worker lives; None if one does, or none waits."""
        if await self.worker_alive():
            return None
        seconds = await self._database.fetch_value(SQL["oldest_due"])
        return None if seconds is None else float(seconds)

    async def beat(self, worker_id: int, role: str) -> None:
        await self._database.execute(_BEAT, {"worker": worker_id, "as_role": role}, within=BEAT_SECONDS)

    async def leave(self, worker_id: int) -> None:
        await self._database.execute(delete(process).filter_by(worker_id=worker_id))

    async def remove_silent(self) -> int:
        return await self._database.execute(delete(process).where(_silent(timedelta(hours=1))))


def _silent(time: timedelta) -> ColumnElement[bool]:
    return process.c.beat_at <= func.now() - time


_WORKER_ALIVE = select(exists().where(process.c.role.in_(WORKERS), ~_silent(timedelta(seconds=15))))
_BEAT = upsert(
    process, {"worker_id": bindparam("worker"), "role": bindparam("as_role"), "beat_at": func.now()}
)

MEGABYTE = 2**20
# Control groups version 2 and 1 (https://docs.kernel.org/admin-guide/cgroup-v2.html); "max" is no limit.
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_UNKNOWN = 1024 * MEGABYTE


def memory(limits: Iterable[Path] = _LIMITS) -> int:
    """Bytes of memory: the machine's, or the container's where it has a limit."""
    try:
        sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):  # not on every system
        sizes = [_UNKNOWN]
    for path in limits:
        text = path.read_text().strip() if path.is_file() else ""
        if text.isdigit():
            sizes.append(int(text))
    return min(sizes)


def part_of_memory(part: int, least: int, most: int) -> int:
    """Megabytes: the `part`-th part of the memory, at least and at most so many."""
    return max(least, min(most, memory() // part // MEGABYTE))


LONGEST_REASON = 500


class PostgresSharedLimits:
    """`ports.outbox.SharedLimits`."""

    def __init__(self, database: Database, worker_id: int = 0) -> None:
        self._database = database
        self._worker_id = worker_id

    async def state(self) -> SharedState:
        workers, rank, cooldowns, breakers = 1, 0, [], []
        for kind, key, instance_id, seconds, count in await self._database.fetch(
            SQL["shared_limits"], (self._worker_id,)
        ):
            if kind == 0:
                workers, rank = count, instance_id
            elif kind == 1:
                cooldowns.append((key, seconds))
            else:
                breakers.append(OpenBreaker(instance_id, seconds, count))
        return SharedState(workers, cooldowns, breakers, rank)

    async def reserve(self, key: str, interval: float, burst: int, max_wait: float) -> float:
        parameters = {
            "key": key,
            "interval": interval,
            "slack": (burst - 1) * interval,
            "max_wait": max_wait,
        }
        row = await self._database.fetch_one(SQL["reserve_slot"], parameters)
        assert row is not None
        return float(row[0])

    async def cool_down(self, key: str, seconds: float) -> None:
        await self._database.execute(SQL["cool_down"], (key, seconds))

    async def open_breaker(self, breaker: OpenBreaker, reason: str) -> None:
        await self._database.execute(
            SQL["open_breaker"],
            (breaker.seconds, breaker.openings, storable(reason)[:LONGEST_REASON], breaker.instance_id),
        )

    async def close_breaker(self, instance_id: int) -> None:
        await self._database.execute("DELETE FROM send_breaker WHERE instance_id = %s", (instance_id,))

    async def remove_expired(self) -> None:
        await self._database.execute(SQL["remove_expired_limits"])
