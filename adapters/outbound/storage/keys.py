"""API keys, sessions and sign-in links in PostgreSQL."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import ip_address, ip_network
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.schema import Timestamp, columns_of
from adapters.outbound.storage.tables import api_key, app_user
from adapters.outbound.storage.users import SEEN_AGAIN, mark_seen, raise_role
from domain.access.model import FORMER_MEMBER, ApiKey, KeyKind, Role, Scope, UserState, lower_role, parse_role
from domain.access.sessions import SESSION_IDLE
from ports.access import NewCredential

KEY = columns_of(
    api_key,
    "id user_id role prefix created_at revoked_at kind name expires_at parent_id scopes created_by"
    " device address used_at is_proved",
)
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


def _keys(*more: Any) -> Select[Any]:
    """Keys, each with the role of its user."""
    joined = api_key.outerjoin(app_user, app_user.c.id == api_key.c.user_id)
    return select(*KEY, app_user.c.role.label("user_role"), *more).select_from(joined)


AWAKE = or_(
    api_key.c.kind != KeyKind.SESSION,
    func.coalesce(api_key.c.used_at, api_key.c.created_at) > bindparam("now", type_=Timestamp) - SESSION_IDLE,
)
"""No session that was not used for long. What was made in it goes on until it expires."""
FIND = (
    _keys(app_user.c.last_seen_at)
    .where(api_key.c.hash == bindparam("hash"), api_key.c.kind == bindparam("of_kind"), LIVE, AWAKE)
    .where(app_user.c.state.is_distinct_from(UserState.SUSPENDED.value))
)
"""A constant, as each call of the API runs it. A key that was made while its user was suspended is no key."""


class PostgresKeys:
    """`ports.access.KeyStore`. Index `api_key_hash_key` and the primary key; lists: `api_key_by_user`,
    `api_key_by_kind`; what was made with a key: `api_key_by_parent`. Of an address that failed to sign in the hash is
    stored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, digest: bytes, kind: KeyKind, now: datetime) -> ApiKey | None:
        parameters = {"hash": digest, "of_kind": kind, "now": now}
        row = await self._database.fetch_one(FIND, parameters)
        if row is None:
            return None
        *columns, last_seen_at = row
        key = _known(columns)
        if last_seen_at is None or now - last_seen_at > SEEN_AGAIN:
            await self._database.execute(mark_seen(key.user_id, now))
        if kind is KeyKind.SESSION and (key.used_at is None or now - key.used_at > SEEN_AGAIN):
            used = update(api_key).where(api_key.c.id == key.id).values(used_at=now)
            await self._database.execute(used)
        return key

    async def get(self, key_id: int, now: datetime) -> ApiKey | None:
        statement = _keys(LIVE).where(api_key.c.id == key_id, api_key.c.kind != KeyKind.LINK)
        return _key(await self._database.fetch_one(statement, {"now": now}))

    @retried
    async def add(self, new: NewCredential, now: datetime) -> ApiKey:
        added = insert(api_key).values(
            user_id=new.user_id,
            role=_stored(new.role),
            prefix=new.prefix,
            hash=new.digest,
            kind=new.kind,
            name=new.name,
            created_at=now,
            expires_at=new.expires_at,
            parent_id=new.parent_id,
            scopes=None if new.scopes is None else sorted(new.scopes),
            created_by=new.created_by,
            address=new.address,
            device=new.device,
            is_proved=new.is_proved,
            used_at=now if new.kind is KeyKind.SESSION else None,
        )
        async with self._database.transaction() as connection:
            if new.kind is KeyKind.SESSION:  # its user may have lost a role meanwhile
                await connection.run(mark_seen(new.user_id, now))
            else:
                await connection.run(raise_role(new.user_id, new.role, now))
            row = await (await connection.run(added.returning(*KEY))).fetchone()
        assert row is not None
        return _known(row)

    async def list(
        self,
        kind: KeyKind,
        now: datetime,
        user_id: str | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> Sequence[ApiKey]:
        listed = _keys(LIVE).where(api_key.c.kind == kind, api_key.c.id > after)
        if user_id is not None:
            listed = listed.where(api_key.c.user_id == user_id)
        if kind is KeyKind.SESSION:
            listed = listed.where(LIVE, AWAKE)
        rows = await self._database.fetch(listed.order_by(api_key.c.id).limit(limit), {"now": now})
        return [_known(row) for row in rows]

    async def revoke(self, key_id: int, now: datetime) -> bool:
        return await self._database.execute(REVOKE, {"id": key_id, "now": now}) > 0

    async def mark_proved(self, session_id: int) -> None:
        await self._database.execute(
            update(api_key)
            .where(api_key.c.id == session_id, api_key.c.kind == KeyKind.SESSION)
            .values(is_proved=True)
        )

    async def take_link(self, digest: bytes, now: datetime) -> ApiKey | None:
        taken = delete(api_key).where(api_key.c.hash == digest, api_key.c.kind == KeyKind.LINK, LIVE)
        return _key(await self._database.fetch_one(taken.returning(*KEY), {"now": now}))

    async def oldest(self, role: Role, user_id: str | None, now: datetime) -> ApiKey | None:
        keys = _keys().where(api_key.c.kind == KeyKind.KEY, api_key.c.role == _stored(role), LIVE)
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


def _stored(role: Role) -> str:
    """Processes of the former version know a member's keys by this name alone."""
    return FORMER_MEMBER if role is Role.MEMBER else role


def _key(row: tuple[Any, ...] | None) -> ApiKey | None:
    return _known(row) if row else None


def _known(row: Sequence[Any]) -> ApiKey:
    """A key of the columns `KEY`, the role of its user, and whether it lives; without the last it does. Its role is
    not more than that of its user."""
    columns, more = row[: len(KEY)], row[len(KEY) :]
    id, user_id, role, prefix, created, revoked, kind, name, expires_at, parent_id, scopes = columns[:11]
    created_by, device, address, used_at, is_proved = columns[11:]
    user_role = more[0] if more else None
    return ApiKey(
        id,
        user_id,
        lower_role(parse_role(role), Role(user_role)) if user_role else parse_role(role),
        prefix,
        created,
        revoked,
        KeyKind(kind),
        name,
        expires_at,
        parent_id,
        None if scopes is None else tuple(map(Scope, scopes)),
        created_by,
        more[1] if len(more) > 1 else True,
        device or "",
        address or "",
        used_at,
        bool(is_proved),
    )
