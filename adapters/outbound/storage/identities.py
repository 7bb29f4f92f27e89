"""Verified identities in PostgreSQL, and who stands behind a sender."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import Insert

from adapters.outbound.storage.access_tables import access_notice, verified_identity
from adapters.outbound.storage.codec import dump, key_of, storable
from adapters.outbound.storage.events.recording import log_one
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.statements import upsert, upsert_of_instance
from domain.channels.messages import Identity
from domain.events import EventKind
from domain.verification.model import normal

_RESOLVE = """
SELECT v.user_id FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS given (field, normal, position)
JOIN verified_identity v ON v.field = given.field AND v.normal = given.normal
WHERE v.user_id = coalesce(%s, v.user_id) ORDER BY given.position LIMIT 1
"""
"""Runs for each message of an instance with access control."""


_USERS = """
SELECT v.field, v.normal, v.user_id FROM unnest(%s::text[], %s::text[]) AS given (field, normal)
JOIN verified_identity v ON v.field = given.field AND v.normal = given.normal
"""
"""Primary key."""


class PostgresIdentities:
    """`ports.access.IdentityStore`, and the part of `ports.access.UserResolver` that rests on it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_user(self, user_id: str) -> Sequence[Identity]:
        columns = verified_identity.c
        identities = select(columns.field, columns.value).where(columns.user_id == user_id)
        rows = await self._database.fetch(identities.order_by(columns.id))
        return [Identity(field, value) for field, value in rows]

    @retried
    async def give(self, user_id: str, identities: Sequence[Identity]) -> None:
        # In one order everywhere, so that two users who verify the same identities cannot lock each other out.
        ordered = sorted(identities, key=lambda identity: (identity.field, _key(identity)))
        async with self._database.transaction() as connection:
            for identity in ordered:
                await connection.run(_given(user_id, identity))
                told = dump({"field": identity.field, "value": storable(identity.value)})
                await connection.run(log_one(EventKind.IDENTITY_VERIFIED, user_id=user_id, data=told))

    async def take(self, user_id: str, identity: Identity) -> bool:
        owned = delete(verified_identity).filter_by(
            user_id=user_id, field=identity.field, normal=_key(identity)
        )
        return await self._database.execute(owned) > 0

    async def resolve(self, identities: Sequence[Identity], only_user: str | None) -> str | None:
        """The user behind the first of the identities that is verified, for `only_user` where one is given."""
        if not identities:
            return None
        fields = [identity.field for identity in identities]
        keys = [_key(identity) for identity in identities]
        row = await self._database.fetch_one(_RESOLVE, (fields, keys, only_user))
        return str(row[0]) if row else None

    async def users_of(self, identities: Sequence[Identity]) -> Mapping[Identity, str]:
        """The users that these identities are verified for."""
        keys = {identity: (identity.field, _key(identity)) for identity in identities}
        fields, normals = [field for field, _ in keys.values()], [normal for _, normal in keys.values()]
        rows = await self._database.fetch(_USERS, (fields, normals)) if keys else []
        users = {(field, normal): user_id for field, normal, user_id in rows}
        return {identity: users[key] for identity, key in keys.items() if key in users}

    async def may_notify(self, instance_id: int, external_id: str, now: datetime, every: timedelta) -> bool:
        notice = {"external_id": key_of(external_id), "noticed_at": now}
        is_old = access_notice.c.noticed_at <= now - every
        return (
            await self._database.execute(upsert_of_instance(access_notice, instance_id, notice, is_old)) > 0
        )


def _given(user_id: str, identity: Identity) -> Insert:
    values = {"field": identity.field, "normal": _key(identity), "value": storable(identity.value)}
    return upsert(verified_identity, {**values, "user_id": user_id, "verified_at": func.now()})


def _key(identity: Identity) -> str:
    return key_of(normal(identity))
