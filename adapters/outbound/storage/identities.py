"""Verified identities and verifications under way in PostgreSQL.

Of codes, bot links and OAuth states only digests are stored.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, insert, or_, select, text, update

from adapters.outbound.storage.codec import dump, key_of, storable
from adapters.outbound.storage.events import log_one
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.statements import upsert, upsert_of_instance
from adapters.outbound.storage.tables import (
    access_notice,
    verification_code,
    verification_link,
    verification_send,
    verification_state,
    verified_identity,
)
from adapters.outbound.system.encryption import ConfigCipher, DecryptionError
from domain.channels.messages import Identity
from domain.events import EventKind
from domain.verification.model import CODE_LIFE, CODE_TRIES, SENDS_PER_HOUR, SENDS_PER_USER, Provider, normal
from ports.access import CodeTry, PendingOAuth

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


LOOK_AGAIN = "UPDATE person_sender SET beginning = '-' WHERE identity_keys && %s"
"""The user is joined with the person who writes the next message with that identity. Index
`person_sender_identified`."""


class PostgresIdentities:
    """`ports.access.IdentityStore`."""

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
                value = {"field": identity.field, "value": storable(identity.value)}
                verified = {**value, "normal": _key(identity), "user_id": user_id, "verified_at": func.now()}
                await connection.run(upsert(verified_identity, verified))
                await connection.execute(LOOK_AGAIN, ([f"{key_of(identity.field)}:{_key(identity)}"],))
                data = dump(value)
                await connection.run(log_one(EventKind.IDENTITY_VERIFIED, user_id=user_id, data=data))

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


def _key(identity: Identity) -> str:
    return key_of(normal(identity))


HOUR = timedelta(hours=1)
LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:subject, 7))")

code, link, send, state = (
    verification_code.c,
    verification_link.c,
    verification_send.c,
    verification_state.c,
)


class PostgresVerifications:
    """`ports.access.VerificationStore`; PKCE verifiers are encrypted, as they must be read again."""

    def __init__(self, database: Database, cipher: ConfigCipher) -> None:
        self._database = database
        self._cipher = cipher

    @retried
    async def add_code(self, user_id: str, address: str, digest: bytes, now: datetime) -> float | None:
        pending = {"user_id": user_id, "address": address, "digest": digest, "expires_at": now + CODE_LIFE}
        async with self._database.transaction() as connection:
            wait = await _count_send(connection, address, user_id, now)
            if wait is None:
                await connection.run(upsert(verification_code, {**pending, "tries": 0}))
        return wait

    @retried
    async def count_send(self, address: str, sender: str, now: datetime) -> float | None:
        async with self._database.transaction() as connection:
            return await _count_send(connection, address, key_of(sender), now)

    async def try_code(self, user_id: str, now: datetime) -> CodeTry | None:
        pending = update(verification_code).where(
            code.user_id == user_id, code.expires_at > now, code.tries < CODE_TRIES
        )
        counted = pending.values(tries=code.tries + 1).returning(code.address, code.digest)
        row = await self._database.fetch_one(counted)
        return CodeTry(*row) if row else None

    async def take_code(self, user_id: str, digest: bytes) -> bool:
        removed = delete(verification_code).filter_by(user_id=user_id, digest=digest)
        return await self._database.execute(removed) > 0

    async def add_link(self, digest: bytes, user_id: str, expires_at: datetime) -> None:
        added = insert(verification_link).values(digest=digest, user_id=user_id, expires_at=expires_at)
        await self._database.execute(added)

    async def bind_link(self, digest: bytes, messenger_id: str, now: datetime) -> str | None:
        bound = update(verification_link).where(*_usable(digest, messenger_id, now))
        bound = bound.values(messenger_id=key_of(messenger_id), bound_at=now)
        user_id: str | None = await self._database.fetch_value(bound.returning(link.user_id))
        return user_id

    async def take_bound_link(self, messenger_id: str, now: datetime) -> str | None:
        taken = delete(verification_link).filter_by(messenger_id=key_of(messenger_id))
        rows = await self._database.fetch(taken.returning(link.bound_at, link.expires_at, link.user_id))
        live = [(bound_at, user_id) for bound_at, expires_at, user_id in rows if expires_at > now]
        return max(live)[1] if live else None

    async def take_link(self, digest: bytes, messenger_id: str, now: datetime) -> str | None:
        taken = delete(verification_link).where(*_usable(digest, messenger_id, now))
        user_id: str | None = await self._database.fetch_value(taken.returning(link.user_id))
        return user_id

    async def add_state(
        self, digest: bytes, provider: Provider, pending: PendingOAuth, expires_at: datetime
    ) -> None:
        added = insert(verification_state).values(
            digest=digest,
            provider=provider.value,
            user_id=pending.user_id,
            verifier=self._cipher.encrypt(pending.verifier),
            expires_at=expires_at,
        )
        await self._database.execute(added)

    async def take_state(self, digest: bytes, provider: Provider, now: datetime) -> PendingOAuth | None:
        taken = delete(verification_state).filter_by(digest=digest, provider=provider.value)
        row = await self._database.fetch_one(taken.returning(state.user_id, state.verifier, state.expires_at))
        if row is None or row[2] <= now:
            return None
        try:
            return PendingOAuth(row[0], self._cipher.decrypt(row[1]))
        except DecryptionError:
            return None  # begun with a key that is gone: the person begins anew


async def _count_send(connection: Connection, address: str, sender: str, now: datetime) -> float | None:
    """Counts a mail, unless there were too many to the address or by the sender: seconds to wait then."""
    limits = ((send.address == address, SENDS_PER_HOUR), (send.user_id == sender, SENDS_PER_USER))
    for subject in sorted((f"to:{address}", f"by:{sender}")):
        await connection.run(LOCK, {"subject": subject})
    for same, limit in limits:
        latest = select(send.sent_at).where(same, send.sent_at > now - HOUR)
        cursor = await connection.run(latest.order_by(send.sent_at.desc()).offset(limit - 1).limit(1))
        if row := await cursor.fetchone():
            return max(1.0, float((row[0] + HOUR - now).total_seconds()))
    await connection.run(insert(verification_send).values(address=address, user_id=sender, sent_at=now))
    return None


def _usable(digest: bytes, messenger_id: str, now: datetime) -> tuple[ColumnElement[bool], ...]:
    unbound = or_(link.messenger_id.is_(None), link.messenger_id == key_of(messenger_id))
    return link.digest == digest, link.expires_at > now, unbound
