"""What is pending of verifications, in PostgreSQL: codes, bot links, OAuth states. Only digests are stored."""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, UpdateBase, delete, insert, or_, select, text, update

from adapters.outbound.security.encryption import ConfigCipher, DecryptionError
from adapters.outbound.storage.access_tables import (
    verification_code,
    verification_link,
    verification_send,
    verification_state,
)
from adapters.outbound.storage.codec import key_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.statements import upsert
from domain.verification.model import CODE_LIFE, CODE_TRIES, SENDS_PER_HOUR, SENDS_PER_USER, Provider
from ports.access import CodeTry, PendingOAuth

HOUR = timedelta(hours=1)
LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:subject, 7))")

code, link, send, state = (
    verification_code.c,
    verification_link.c,
    verification_send.c,
    verification_state.c,
)


class PostgresCodes:
    """`ports.access.CodeStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def put(self, user_id: str, address: str, digest: bytes, now: datetime) -> float | None:
        limits = ((send.address == address, SENDS_PER_HOUR), (send.user_id == user_id, SENDS_PER_USER))
        sent = insert(verification_send).values(address=address, user_id=user_id, sent_at=now)
        pending = {"user_id": user_id, "address": address, "digest": digest, "expires_at": now + CODE_LIFE}
        async with self._database.transaction() as connection:
            for subject in sorted((f"to:{address}", f"by:{user_id}")):
                await connection.run(LOCK, {"subject": subject})
            for same, limit in limits:
                latest = select(send.sent_at).where(same, send.sent_at > now - HOUR)
                cursor = await connection.run(latest.order_by(send.sent_at.desc()).offset(limit - 1).limit(1))
                if row := await cursor.fetchone():
                    return max(1.0, float((row[0] + HOUR - now).total_seconds()))
            await connection.run(sent)
            await connection.run(upsert(verification_code, {**pending, "tries": 0}))
        return None

    async def attempt(self, user_id: str, now: datetime) -> CodeTry | None:
        pending = update(verification_code).where(
            code.user_id == user_id, code.expires_at > now, code.tries < CODE_TRIES
        )
        counted = pending.values(tries=code.tries + 1).returning(code.address, code.digest)
        row = await self._database.fetch_one(counted)
        return CodeTry(*row) if row else None

    async def consume(self, user_id: str, digest: bytes) -> bool:
        removed = delete(verification_code).filter_by(user_id=user_id, digest=digest)
        return await self._database.execute(removed) > 0


class DeepLinkStore:
    """`ports.access.LinkStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, digest: bytes, user_id: str, expires_at: datetime) -> None:
        added = insert(verification_link).values(digest=digest, user_id=user_id, expires_at=expires_at)
        await self._database.execute(added)

    async def bind(self, digest: bytes, messenger_id: str, now: datetime) -> str | None:
        bound = update(verification_link).where(*_usable(digest, messenger_id, now))
        bound = bound.values(messenger_id=key_of(messenger_id), bound_at=now)
        return await self._user(bound.returning(link.user_id))

    async def take_bound(self, messenger_id: str, now: datetime) -> str | None:
        taken = delete(verification_link).filter_by(messenger_id=key_of(messenger_id))
        rows = await self._database.fetch(taken.returning(link.bound_at, link.expires_at, link.user_id))
        live = [(bound_at, user_id) for bound_at, expires_at, user_id in rows if expires_at > now]
        return max(live)[1] if live else None

    async def take(self, digest: bytes, messenger_id: str, now: datetime) -> str | None:
        taken = delete(verification_link).where(*_usable(digest, messenger_id, now))
        return await self._user(taken.returning(link.user_id))

    async def _user(self, statement: UpdateBase) -> str | None:
        user_id: str | None = await self._database.fetch_value(statement)
        return user_id


def _usable(digest: bytes, messenger_id: str, now: datetime) -> tuple[ColumnElement[bool], ...]:
    unbound = or_(link.messenger_id.is_(None), link.messenger_id == key_of(messenger_id))
    return link.digest == digest, link.expires_at > now, unbound


class PostgresStates:
    """`ports.access.StateStore`; the PKCE verifier is encrypted, as it must be read again."""

    def __init__(self, database: Database, cipher: ConfigCipher) -> None:
        self._database = database
        self._cipher = cipher

    async def put(
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

    async def take(self, digest: bytes, provider: Provider, now: datetime) -> PendingOAuth | None:
        taken = delete(verification_state).filter_by(digest=digest, provider=provider.value)
        row = await self._database.fetch_one(taken.returning(state.user_id, state.verifier, state.expires_at))
        if row is None or row[2] <= now:
            return None
        try:
            return PendingOAuth(row[0], self._cipher.decrypt(row[1]))
        except DecryptionError:
            return None  # begun with a key that is gone: the person begins anew
