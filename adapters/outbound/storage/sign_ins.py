"""Sign-ins under way, accounts at the OpenID provider, invitations and passkeys in PostgreSQL."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, func, insert, literal, select, update
from sqlalchemy.dialects.postgresql import insert as upserting

from adapters.outbound.storage.codec import key_of, storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.schema import columns_of
from adapters.outbound.storage.statements import upsert
from adapters.outbound.storage.tables import (
    invitation,
    passkey,
    provider_account,
    session_token,
    sign_in_state,
)
from adapters.outbound.system.encryption import ConfigCipher, DecryptionError
from domain.access.model import Invitation, Passkey, Role
from ports.sign_in import NewInvitation, NewPasskey

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

    async def untie(self, user_id: str) -> int:
        return await self._database.execute(delete(provider_account).where(account.user_id == user_id))

    async def keep_token(self, session_id: int, token: str) -> None:
        kept = {"session_id": session_id, "token": self._cipher.encrypt(token)}
        await self._database.execute(insert(session_token).values(kept))

    async def token_of(self, session_id: int) -> str | None:
        row = await self._database.fetch_one(select(session_token.c.token).filter_by(session_id=session_id))
        try:
            return self._cipher.decrypt(row[0]) if row else None
        except DecryptionError:
            return None


INVITATION = columns_of(
    invitation, "id email role team_ids created_by created_at expires_at accepted_at user_id"
)
invited = invitation.c


class PostgresInvitations:
    """`ports.sign_in.InvitationStore`. Primary key, index `invitation_digest_key`, and `invitation_by_email`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def add(self, new: NewInvitation, now: datetime) -> Invitation:
        former = delete(invitation).where(invited.email == new.email, invited.accepted_at.is_(None))
        added = insert(invitation).values(
            digest=new.digest,
            email=new.email,
            role=new.role,
            team_ids=list(new.team_ids),
            created_by=new.created_by,
            created_at=now,
            expires_at=new.expires_at,
        )
        async with self._database.transaction() as connection:
            await connection.run(former)
            row = await (await connection.run(added.returning(*INVITATION))).fetchone()
        assert row is not None
        return _invitation(row)

    async def find(self, digest: bytes, now: datetime) -> Invitation | None:
        return await self._one(now, invited.digest == digest)

    async def of_email(self, email: str, now: datetime) -> Invitation | None:
        return await self._one(now, invited.email == storable(email))

    async def _one(self, now: datetime, condition: ColumnElement[bool]) -> Invitation | None:
        open_one = select(*INVITATION).where(
            condition, invited.accepted_at.is_(None), invited.expires_at > now
        )
        row = await self._database.fetch_one(open_one.limit(1))
        return _invitation(row) if row else None

    async def list(self, after: int, limit: int) -> Sequence[Invitation]:
        rows = await self._database.fetch(
            select(*INVITATION).where(invited.id > after).order_by(invited.id).limit(limit)
        )
        return [_invitation(row) for row in rows]

    async def accept(self, invitation_id: int, user_id: str, now: datetime) -> bool:
        accepted = (
            update(invitation)
            .where(invited.id == invitation_id, invited.accepted_at.is_(None), invited.expires_at > now)
            .values(accepted_at=now, user_id=user_id)
        )
        return await self._database.execute(accepted) == 1

    async def remove(self, invitation_id: int) -> bool:
        waiting = delete(invitation).where(invited.id == invitation_id, invited.accepted_at.is_(None))
        return await self._database.execute(waiting) == 1


def _invitation(row: tuple[Any, ...]) -> Invitation:
    id, email, role, team_ids, *more = row
    return Invitation(id, email, Role(role), tuple(team_ids), *more)


PASSKEY = columns_of(passkey, "id user_id credential_id public_key sign_count name created_at used_at")


class PostgresPasskeys:
    """`ports.sign_in.PasskeyStore`. Primary key, and indexes `passkey_credential_id_key` and `passkey_by_user`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, new: NewPasskey, now: datetime) -> Passkey | None:
        added = upserting(passkey).values(
            user_id=new.user_id,
            credential_id=new.credential_id,
            public_key=new.public_key,
            sign_count=new.sign_count,
            name=storable(new.name),
            created_at=now,
        )
        unknown = added.on_conflict_do_nothing(index_elements=[passkey.c.credential_id])
        row = await self._database.fetch_one(unknown.returning(*PASSKEY))
        return _passkey(row) if row else None

    async def find(self, credential_id: bytes) -> Passkey | None:
        named = select(*PASSKEY).where(passkey.c.credential_id == credential_id)
        row = await self._database.fetch_one(named)
        return _passkey(row) if row else None

    async def of_user(self, user_id: str) -> Sequence[Passkey]:
        own = select(*PASSKEY).where(passkey.c.user_id == user_id).order_by(passkey.c.id)
        return [_passkey(row) for row in await self._database.fetch(own)]

    async def used(self, passkey_id: int, sign_count: int, now: datetime) -> None:
        used = update(passkey).where(passkey.c.id == passkey_id)
        await self._database.execute(used.values(sign_count=sign_count, used_at=now))

    async def remove(self, user_id: str, passkey_id: int) -> bool:
        removed = delete(passkey).where(passkey.c.id == passkey_id, passkey.c.user_id == user_id)
        return await self._database.execute(removed) == 1

    async def remove_all(self, user_id: str) -> int:
        return await self._database.execute(delete(passkey).where(passkey.c.user_id == user_id))


def _passkey(row: tuple[Any, ...]) -> Passkey:
    id, user_id, credential_id, public_key, *more = row
    return Passkey(id, user_id, bytes(credential_id), bytes(public_key), *more)
