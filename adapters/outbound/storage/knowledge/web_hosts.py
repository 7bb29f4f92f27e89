"""The web servers that sources read: each gets one request at a time, over all processes."""

from sqlalchemy import func, select

from adapters.outbound.storage.codec import storable, storable_reason
from adapters.outbound.storage.knowledge.tables import SQL, web_host
from adapters.outbound.storage.pool import Database
from domain.knowledge.sources.model import key_of
from ports.http import KnownRobots

host = web_host.c


class PostgresWebHosts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(self, host: str, seconds: float) -> float:
        values = {"key": key_of(host), "seconds": seconds}
        if await self._database.fetch_one(SQL["acquire_host"], values) is not None:
            return 0.0
        return float(await self._database.fetch_value(SQL["wait_for_host"], values) or 0.1)

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
        await self._database.execute(SQL["keep_robots"], {"key": key_of(host), "seconds": seconds, **outcome})
