"""API keys in PostgreSQL."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, insert, select, update

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.tables import api_key
from domain.access.model import ApiKey, Role

KEY = api_key.c["id", "user_id", "role", "prefix", "created_at", "revoked_at"]


class PostgresKeys:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, digest: bytes) -> ApiKey | None:
        live = select(*KEY).where(api_key.c.hash == digest, api_key.c.revoked_at.is_(None))
        row = await self._database.fetch_one(live)
        return _key(*row) if row else None

    async def add(self, user_id: str, role: Role, prefix: str, digest: bytes) -> ApiKey:
        added = insert(api_key).values(user_id=user_id, role=role, prefix=prefix, hash=digest)
        [row] = await self._database.fetch(added.returning(*KEY))
        return _key(*row)

    async def list(self) -> Sequence[ApiKey]:
        return [_key(*row) for row in await self._database.fetch(select(*KEY).order_by(api_key.c.id))]

    async def revoke(self, key_id: int) -> bool:
        live = update(api_key).where(api_key.c.id == key_id, api_key.c.revoked_at.is_(None))
        return await self._database.execute(live.values(revoked_at=func.now())) > 0


def _key(id: int, user_id: str, role: str, *rest: Any) -> ApiKey:
    return ApiKey(id, user_id, Role(role), *rest)
