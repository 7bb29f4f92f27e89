"""API keys in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.outbound.storage.pool import Database
from domain.access.model import ApiKey, Role

COLUMNS = "id, user_id, role, prefix, created_at, revoked_at"


class PostgresKeys:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, digest: bytes) -> ApiKey | None:
        row = await self._database.fetch_one(
            f"SELECT {COLUMNS} FROM api_key WHERE hash = %s AND revoked_at IS NULL",
            (digest,),
        )
        return _key(row) if row else None

    async def add(self, user_id: str, role: Role, prefix: str, digest: bytes) -> ApiKey:
        row = await self._database.fetch_one(
            f"INSERT INTO api_key (user_id, role, prefix, hash) VALUES (%s, %s, %s, %s) RETURNING {COLUMNS}",
            (user_id, role.value, prefix, digest),
        )
        assert row is not None
        return _key(row)

    async def list(self) -> Sequence[ApiKey]:
        rows = await self._database.fetch(f"SELECT {COLUMNS} FROM api_key ORDER BY id")
        return [_key(row) for row in rows]

    async def revoke(self, key_id: int) -> bool:
        return bool(
            await self._database.execute(
                "UPDATE api_key SET revoked_at = now() WHERE id = %s AND revoked_at IS NULL", (key_id,)
            )
        )


def _key(row: tuple[Any, ...]) -> ApiKey:
    return ApiKey(row[0], row[1], Role(row[2]), row[3], row[4], row[5])
