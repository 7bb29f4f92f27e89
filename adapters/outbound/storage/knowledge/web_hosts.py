"""The web servers that sources read: each gets one request at a time, over all processes."""

from sqlalchemy import func, select

from adapters.outbound.storage.codec import storable, storable_reason
from adapters.outbound.storage.knowledge.tables import web_host
from adapters.outbound.storage.pool import Database
from domain.knowledge.sources.model import key_of
from ports.http import KnownRobots

ACQUIRE = """
INSERT INTO web_host (key, free_at) VALUES (%(key)s, now() + %(seconds)s * interval '1 second')
ON CONFLICT (key) DO UPDATE SET free_at = excluded.free_at WHERE web_host.free_at <= now() RETURNING 0.0
"""
WAIT = "SELECT greatest(0.1, extract(epoch FROM free_at - now()))::float8 FROM web_host WHERE key = %(key)s"
KEEP_HOST = """
UPDATE web_host SET robots = coalesce(%(text)s, robots), robots_error = %(error)s,
    robots_until = now() + %(seconds)s * interval '1 second'
WHERE key = %(key)s
"""

host = web_host.c


class PostgresWebHosts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(self, host: str, seconds: float) -> float:
        values = {"key": key_of(host), "seconds": seconds}
        if await self._database.fetch_one(ACQUIRE, values) is not None:
            return 0.0
        return float(await self._database.fetch_value(WAIT, values) or 0.1)

    async def release(self, host: str, rest: float) -> None:
        await self._database.execute(
            "UPDATE web_host SET free_at = now() + %s * interval '1 second' WHERE key = %s",
            (rest, key_of(host)),
        )

    async def robots(self, name: str) -> KnownRobots:
        is_due = func.coalesce(host.robots_until < func.now(), True)
        statement = select(host.robots, host.robots_error, is_due).filter_by(key=key_of(name))
        row = await self._database.fetch_one(statement)
        return KnownRobots(*row) if row else KnownRobots(None, None, True)

    async def keep_robots(self, host: str, text: str | None, error: str | None, seconds: float) -> None:
        outcome = {
            "text": None if text is None else storable(text),
            "error": None if error is None else storable_reason(error),
        }
        await self._database.execute(KEEP_HOST, {"key": key_of(host), "seconds": seconds, **outcome})
