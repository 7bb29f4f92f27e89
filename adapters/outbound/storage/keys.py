"""API keys, sessions and sign-in links in PostgreSQL."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import ip_address, ip_network
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, delete, exists, insert, or_, select

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.schema import Timestamp, columns_of
from adapters.outbound.storage.tables import api_key
from domain.access.model import ApiKey, KeyKind, Role
from ports.access import NewCredential

KEY = columns_of(api_key, "id user_id role prefix created_at revoked_at kind name expires_at parent_id")
MOST_TRIES = 20
"""Wrong credentials of one address within `WINDOW`."""
WINDOW = timedelta(minutes=15)

TRY = """
INSERT INTO sign_in_try AS t (address, tries, until) VALUES (%(address)s, 1, %(until)s)
ON CONFLICT (address) DO UPDATE SET tries = CASE WHEN t.until > %(now)s THEN t.tries + 1 ELSE 1 END,
    until = CASE WHEN t.until > %(now)s THEN t.until ELSE excluded.until END
RETURNING tries, until
"""
REVOKE = f"""
WITH RECURSIVE made AS (
    SELECT id FROM api_key WHERE id = %(id)s AND kind <> '{KeyKind.LINK}'
    UNION ALL
    SELECT k.id FROM api_key k JOIN made m ON k.parent_id = m.id
)
UPDATE api_key SET revoked_at = %(now)s WHERE revoked_at IS NULL AND id IN (SELECT id FROM made)
"""


def _valid(columns: Any) -> ColumnElement[bool]:
    now = bindparam("now", type_=Timestamp)
    return and_(columns.revoked_at.is_(None), or_(columns.expires_at.is_(None), columns.expires_at > now))


_parent = api_key.alias()
_PARENT_LIVES = exists().where(_parent.c.id == api_key.c.parent_id, _valid(_parent.c))
LIVE = and_(_valid(api_key.c), or_(api_key.c.parent_id.is_(None), _PARENT_LIVES))
"""Neither revoked nor expired at the parameter `now`, and its parent, where it has one, neither."""

FIND = select(*KEY).where(api_key.c.hash == bindparam("hash"), api_key.c.kind == bindparam("of_kind"), LIVE)
"""A constant, as each call of the API runs it."""


class PostgresKeys:
    """`ports.access.KeyStore`. Index `api_key_hash_key` and the primary key; lists: `api_key_by_user`,
    `api_key_by_kind`; what was made with a key: `api_key_by_parent`. Of an address that failed to sign in the hash is
    stored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, digest: bytes, kind: KeyKind, now: datetime) -> ApiKey | None:
        parameters = {"hash": digest, "of_kind": kind, "now": now}
        return _key(await self._database.fetch_one(FIND, parameters))

    async def get(self, key_id: int, now: datetime) -> ApiKey | None:
        statement = select(*KEY, LIVE).where(api_key.c.id == key_id, api_key.c.kind != KeyKind.LINK)
        return _key(await self._database.fetch_one(statement, {"now": now}))

    async def add(self, new: NewCredential, now: datetime) -> ApiKey:
        added = insert(api_key).values(
            user_id=new.user_id,
            role=new.role,
            prefix=new.prefix,
            hash=new.digest,
            kind=new.kind,
            name=new.name,
            created_at=now,
            expires_at=new.expires_at,
            parent_id=new.parent_id,
        )
        [row] = await self._database.fetch(added.returning(*KEY))
        return _known(*row)

    async def list(
        self,
        kind: KeyKind,
        now: datetime,
        user_id: str | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> Sequence[ApiKey]:
        listed = select(*KEY, LIVE).where(api_key.c.kind == kind, api_key.c.id > after)
        if user_id is not None:
            listed = listed.where(api_key.c.user_id == user_id)
        if kind is KeyKind.SESSION:
            listed = listed.where(LIVE)
        rows = await self._database.fetch(listed.order_by(api_key.c.id).limit(limit), {"now": now})
        return [_known(*row) for row in rows]

    async def revoke(self, key_id: int, now: datetime) -> bool:
        return await self._database.execute(REVOKE, {"id": key_id, "now": now}) > 0

    async def take_link(self, digest: bytes, now: datetime) -> ApiKey | None:
        taken = delete(api_key).where(api_key.c.hash == digest, api_key.c.kind == KeyKind.LINK, LIVE)
        return _key(await self._database.fetch_one(taken.returning(*KEY), {"now": now}))

    async def oldest(self, role: Role, user_id: str | None, now: datetime) -> ApiKey | None:
        keys = select(*KEY).where(api_key.c.kind == KeyKind.KEY, api_key.c.role == role, LIVE)
        if user_id is not None:
            keys = keys.where(api_key.c.user_id == user_id)
        return _key(await self._database.fetch_one(keys.order_by(api_key.c.id).limit(1), {"now": now}))

    async def count_failed_sign_in(self, address: str, now: datetime) -> float | None:
        """Of an IPv6 address its first 64 bits count: a host has all the rest to choose from."""
        with suppress(ValueError):
            if (parsed := ip_address(address)).version == 6 and not parsed.ipv4_mapped:
                address = str(ip_network((parsed, 64), strict=False))
        hashed = sha256(address.encode("utf-8", "surrogatepass")).digest()
        parameters = {"address": hashed, "now": now, "until": now + WINDOW}
        [(tries, until)] = await self._database.fetch(TRY, parameters)
        return max(1.0, (until - now).total_seconds()) if tries > MOST_TRIES else None


def _key(row: tuple[Any, ...] | None) -> ApiKey | None:
    return _known(*row) if row else None


def _known(
    id: int,
    user_id: str,
    role: str,
    prefix: str,
    created: datetime,
    revoked: datetime | None,
    kind: str,
    *rest: Any,
) -> ApiKey:
    return ApiKey(id, user_id, Role(role), prefix, created, revoked, KeyKind(kind), *rest)
