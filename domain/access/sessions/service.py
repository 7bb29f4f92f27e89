"""Sessions of browsers: signing in and out."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from domain.access.model import ApiKey, KeyKind, Session
from domain.access.tokens import SESSION_PREFIX, digest, kind_of, shown
from domain.refusals import TooMany, Unauthenticated
from ports.clock import Clock, Ids
from ports.keys import KeyStore, NewCredential, SignInTries

SESSION_LIFE = timedelta(days=7)
UNKNOWN = "this API key is not known, or it was revoked; check that you copied all of it"
USED = "this link was used already, or is older than an hour; get a new one with: switchboard console link"
TRIED = "this API key or link is not known, and too many wrong ones came from your address; try again later"


@dataclass(eq=False)
class SessionService:
    """`ports.keys.Sessions`."""

    keys: KeyStore
    tries: SignInTries
    ids: Ids
    clock: Clock

    async def sign_in(self, credential: str, address: str) -> Session:
        now, credential = self.clock.now(), credential.strip()
        is_link = kind_of(credential) is KeyKind.LINK
        key = await self._key(credential, is_link, now)
        if key is None:
            if wait := await self.tries.count(address, now):
                raise TooMany(TRIED, wait)
            raise Unauthenticated(USED if is_link else UNKNOWN)
        parent: ApiKey | None = key
        if is_link:
            parent = await self.keys.get(key.parent_id, now) if key.parent_id else None
        expires_at = now + SESSION_LIFE
        if parent and parent.expires_at:
            expires_at = min(expires_at, parent.expires_at)
        return await self._open(key, parent.id if parent else None, expires_at, now)

    async def sign_out(self, token: str) -> None:
        now = self.clock.now()
        if session := await self.keys.find(digest(token), KeyKind.SESSION, now):
            await self.keys.revoke(session.id, now)

    async def _key(self, credential: str, is_link: bool, now: datetime) -> ApiKey | None:
        if is_link:
            return await self.keys.take_link(digest(credential), now)
        return await self.keys.find(digest(credential), KeyKind.KEY, now)

    async def _open(self, key: ApiKey, parent_id: int | None, expires_at: datetime, now: datetime) -> Session:
        token = SESSION_PREFIX + self.ids.token()
        new = NewCredential(
            key.user_id,
            key.role,
            shown(token),
            digest(token),
            KeyKind.SESSION,
            key.name,
            expires_at,
            parent_id,
        )
        await self.keys.add(new, now)
        return Session(token, expires_at)
