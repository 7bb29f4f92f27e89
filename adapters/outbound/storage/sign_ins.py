"""Sign-ins under way and accounts at the OpenID provider in PostgreSQL."""

import json
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import delete, func, insert, literal, select

from adapters.outbound.storage.codec import key_of
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.statements import upsert
from adapters.outbound.storage.tables import provider_account, session_token, sign_in_state
from adapters.outbound.system.encryption import ConfigCipher, DecryptionError

account = provider_account.c


class PostgresSignIns:
    """`ports.sign_in.SignInStore`. Primary keys, and index `provider_account_by_user`."""

    def __init__(self, database: Database, cipher: ConfigCipher) -> None:
        self._database = database
        self._cipher = cipher

    async def begin(self, kind: str, digest: bytes, data: Mapping[str, str], expires_at: datetime) -> None:
        encrypted = self._cipher.encrypt(json.dumps(dict(data)))
        row = {"digest": digest, "kind": kind, "data": encrypted, "expires_at": expires_at}
        await self._database.execute(insert(sign_in_state).values(row))

    async def take(self, kind: str, digest: bytes, now: datetime) -> Mapping[str, str] | None:
        taken = delete(sign_in_state).filter_by(digest=digest, kind=kind)
        row = await self._database.fetch_one(
            taken.returning(sign_in_state.c.data, sign_in_state.c.expires_at)
        )
        if row is None or row[1] <= now:
            return None
        try:
            data: Mapping[str, str] = json.loads(self._cipher.decrypt(row[0]))
        except DecryptionError:
            return None  # begun with a key that is gone: the person begins anew
        return data

    async def user_of(self, issuer: str, subject: str) -> str | None:
        of_account = select(account.user_id).filter_by(issuer=key_of(issuer), subject=key_of(subject))
        user_id: str | None = await self._database.fetch_value(of_account)
        return user_id

    async def has_account(self, issuer: str, user_id: str) -> bool:
        own = select(literal(1)).where(account.user_id == user_id, account.issuer == key_of(issuer))
        return await self._database.fetch_value(own.limit(1)) is not None

    async def tie(self, issuer: str, subject: str, user_id: str) -> None:
        names = {"issuer": key_of(issuer), "subject": key_of(subject)}
        tied = {**names, "user_id": user_id, "created_at": func.now()}
        await self._database.execute(upsert(provider_account, tied))

    async def keep_token(self, session_id: int, token: str) -> None:
        kept = {"session_id": session_id, "token": self._cipher.encrypt(token)}
        await self._database.execute(insert(session_token).values(kept))

    async def token_of(self, session_id: int) -> str | None:
        row = await self._database.fetch_one(select(session_token.c.token).filter_by(session_id=session_id))
        try:
            return self._cipher.decrypt(row[0]) if row else None
        except DecryptionError:
            return None
