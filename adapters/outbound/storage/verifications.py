"""What is pending of verifications, in PostgreSQL: codes, bot links, OAuth states. Only digests are stored."""

from __future__ import annotations

from datetime import datetime, timedelta

from adapters.outbound.security.encryption import ConfigCipher, SealError
from adapters.outbound.storage.codec import key_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from domain.verification.model import Provider
from domain.verification.rules import CODE_LIFE, CODE_TRIES, SENDS_PER_HOUR, SENDS_PER_USER
from ports.verification import CodeTry, PendingOAuth

HOUR = timedelta(hours=1)

PUT_CODE = """
INSERT INTO verification_code (user_id, address, digest, expires_at) VALUES (%s, %s, %s, %s)
ON CONFLICT (user_id) DO UPDATE
SET address = excluded.address, digest = excluded.digest, expires_at = excluded.expires_at, tries = 0
"""


class PostgresCodes:
    """`ports.verification.CodeStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def put(self, user_id: str, address: str, digest: bytes, now: datetime) -> float | None:
        async with self._database.transaction() as connection:
            for subject in sorted((f"to:{address}", f"by:{user_id}")):
                await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 7))", (subject,))
            limits = (("address", address, SENDS_PER_HOUR), ("user_id", user_id, SENDS_PER_USER))
            for column, value, limit in limits:
                wait = await _wait(connection, column, value, limit, now)
                if wait is not None:
                    return wait
            await connection.execute(
                "INSERT INTO verification_send (address, user_id, sent_at) VALUES (%s, %s, %s)",
                (address, user_id, now),
            )
            await connection.execute(PUT_CODE, (user_id, address, digest, now + CODE_LIFE))
        return None

    async def attempt(self, user_id: str, now: datetime) -> CodeTry | None:
        row = await self._database.fetch_one(
            "UPDATE verification_code SET tries = tries + 1"
            " WHERE user_id = %s AND expires_at > %s AND tries < %s RETURNING address, digest",
            (user_id, now, CODE_TRIES),
        )
        return CodeTry(row[0], bytes(row[1])) if row else None

    async def consume(self, user_id: str, digest: bytes) -> bool:
        removed = await self._database.execute(
            "DELETE FROM verification_code WHERE user_id = %s AND digest = %s", (user_id, digest)
        )
        return removed > 0


async def _wait(connection: Connection, column: str, value: str, limit: int, now: datetime) -> float | None:
    """Seconds until one more may be sent, None when one may be sent now."""
    cursor = await connection.execute(
        f"SELECT sent_at FROM verification_send WHERE {column} = %s AND sent_at > %s"
        " ORDER BY sent_at DESC OFFSET %s LIMIT 1",
        (value, now - HOUR, limit - 1),
    )
    row = await cursor.fetchone()
    return max(1.0, (row[0] + HOUR - now).total_seconds()) if row else None


class DeepLinkStore:
    """`ports.verification.LinkStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, digest: bytes, user_id: str, expires_at: datetime) -> None:
        await self._database.execute(
            "INSERT INTO verification_link (digest, user_id, expires_at) VALUES (%s, %s, %s)",
            (digest, user_id, expires_at),
        )

    async def bind(self, digest: bytes, messenger_id: str, now: datetime) -> str | None:
        row = await self._database.fetch_one(
            "UPDATE verification_link SET messenger_id = %s, bound_at = %s WHERE digest = %s AND expires_at > %s"
            " AND (messenger_id IS NULL OR messenger_id = %s) RETURNING user_id",
            (key_of(messenger_id), now, digest, now, key_of(messenger_id)),
        )
        return str(row[0]) if row else None

    async def take_bound(self, messenger_id: str, now: datetime) -> str | None:
        rows = await self._database.fetch(
            "DELETE FROM verification_link WHERE messenger_id = %s RETURNING user_id, bound_at, expires_at",
            (key_of(messenger_id),),
        )
        live = [row for row in rows if row[2] > now]
        return str(max(live, key=lambda row: row[1])[0]) if live else None

    async def take(self, digest: bytes, messenger_id: str, now: datetime) -> str | None:
        row = await self._database.fetch_one(
            "DELETE FROM verification_link WHERE digest = %s AND expires_at > %s"
            " AND (messenger_id IS NULL OR messenger_id = %s) RETURNING user_id",
            (digest, now, key_of(messenger_id)),
        )
        return str(row[0]) if row else None


class PostgresStates:
    """`ports.verification.StateStore`; the PKCE verifier is sealed, as it must be read again."""

    def __init__(self, database: Database, seal: ConfigCipher) -> None:
        self._database = database
        self._seal = seal

    async def put(
        self, digest: bytes, provider: Provider, pending: PendingOAuth, expires_at: datetime
    ) -> None:
        await self._database.execute(
            "INSERT INTO verification_state (digest, provider, user_id, verifier, expires_at)"
            " VALUES (%s, %s, %s, %s, %s)",
            (digest, provider.value, pending.user_id, self._seal.seal(pending.verifier), expires_at),
        )

    async def take(self, digest: bytes, provider: Provider, now: datetime) -> PendingOAuth | None:
        row = await self._database.fetch_one(
            "DELETE FROM verification_state WHERE digest = %s AND provider = %s"
            " RETURNING user_id, verifier, expires_at",
            (digest, provider.value),
        )
        if row is None or row[2] <= now:
            return None
        try:
            return PendingOAuth(row[0], self._seal.open(row[1]))
        except SealError:
            return None  # begun with a key that is gone: the person begins anew


async def sweep(database: Database) -> None:
    """Removes what has expired."""
    for query in (
        "DELETE FROM verification_code WHERE expires_at < now()",
        "DELETE FROM verification_link WHERE expires_at < now()",
        "DELETE FROM verification_state WHERE expires_at < now()",
        "DELETE FROM verification_send WHERE sent_at < now() - interval '2 hours'",
        "DELETE FROM access_notice WHERE noticed_at < now() - interval '2 days'",
    ):
        await database.execute(query)
