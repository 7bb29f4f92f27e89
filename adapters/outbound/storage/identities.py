"""Verified identities in PostgreSQL, and who stands behind a sender."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from adapters.outbound.storage.codec import key_of, storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from domain.channels.messages import Identity
from domain.verification.rules import normal

GIVE = """
INSERT INTO verified_identity (field, normal, value, user_id) VALUES (%s, %s, %s, %s)
ON CONFLICT (field, normal) DO UPDATE SET value = excluded.value, user_id = excluded.user_id, verified_at = now()
"""

NOTICE = """
INSERT INTO access_notice (instance_id, external_id, noticed_at)
SELECT id, %(external_id)s, %(now)s FROM channel_instance WHERE id = %(instance_id)s
ON CONFLICT (instance_id, external_id) DO UPDATE SET noticed_at = excluded.noticed_at
WHERE access_notice.noticed_at <= %(now)s - %(every)s
RETURNING 1
"""


class PostgresIdentities:
    """`ports.verification.IdentityStore`, and the part of `ports.identities.People` that rests on it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_user(self, user_id: str) -> Sequence[Identity]:
        rows = await self._database.fetch(
            "SELECT field, value FROM verified_identity WHERE user_id = %s ORDER BY id", (user_id,)
        )
        return [Identity(field, value) for field, value in rows]

    @retried
    async def give(self, user_id: str, identities: Sequence[Identity]) -> None:
        # In one order everywhere, so that two users who verify the same identities cannot lock each other out.
        ordered = sorted(identities, key=lambda each: (each.field, _key(each)))
        async with self._database.transaction() as connection:
            for each in ordered:
                await connection.execute(GIVE, (each.field, _key(each), storable(each.value), user_id))

    async def take(self, user_id: str, identity: Identity) -> bool:
        removed = await self._database.execute(
            "DELETE FROM verified_identity WHERE user_id = %s AND field = %s AND normal = %s",
            (user_id, identity.field, _key(identity)),
        )
        return removed > 0

    async def resolve(self, identities: Sequence[Identity]) -> str | None:
        """The user behind the first of the identities that is verified."""
        if not identities:
            return None
        rows = await self._database.fetch(
            "SELECT v.user_id FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY AS given (field, normal, place)"
            " JOIN verified_identity v ON v.field = given.field AND v.normal = given.normal"
            " ORDER BY given.place LIMIT 1",
            ([each.field for each in identities], [_key(each) for each in identities]),
        )
        return str(rows[0][0]) if rows else None

    async def may_notice(self, instance_id: int, external_id: str, now: datetime, every: timedelta) -> bool:
        parameters = {
            "instance_id": instance_id,
            "external_id": key_of(external_id),
            "now": now,
            "every": every,
        }
        return await self._database.fetch_one(NOTICE, parameters) is not None


def _key(identity: Identity) -> str:
    """What identities are compared by."""
    return key_of(normal(identity))
