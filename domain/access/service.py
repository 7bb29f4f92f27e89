"""Authenticates callers, manages API keys, and signs people in to the console."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from domain import limits
from domain.access import model
from domain.paging import Page, checked_limit
from domain.refusals import Fault, Forbidden, Invalid, NotFound, TooMany, Unauthenticated
from domain.values import iso_milliseconds
from ports.access import KeyStore, NewCredential
from ports.system import Clock, Ids

SERVICE_USER = "internal-service"
FIRST_ADMIN = "admin"
LINK_LIFE = timedelta(hours=1)


class AccessService:
    """Authenticates API keys, sessions and the internal service key.

    `service_key` is compared in constant time; with it comes a caller that may act on everything, or as the
    user it names.
    """

    def __init__(self, keys: KeyStore, ids: Ids, clock: Clock, service_key: str) -> None:
        self._keys = keys
        self._ids = ids
        self._clock = clock
        self._service_digest = model.digest(service_key)

    def is_service_key(self, token: str) -> bool:
        return hmac.compare_digest(model.digest(token), self._service_digest)

    async def authenticate(self, token: str, acting_for: str | None = None) -> model.Caller:
        """The caller of an API key or of the service key. Raises `Unauthenticated`, `Invalid`.

        `acting_for` names the user that a service acts for; it counts with the service key alone.
        """
        if self.is_service_key(token):
            if acting_for:
                check_user(acting_for, "x-user-id")
                return model.Caller(acting_for, model.Role.USER, is_service=True)
            return model.Caller(SERVICE_USER, model.Role.ADMIN, is_service=True)
        return await self._caller(token, model.KeyKind.KEY)

    async def authenticate_session(self, token: str) -> model.Caller:
        """The caller of a browser's session. Raises `Unauthenticated`."""
        return await self._caller(token, model.KeyKind.SESSION)

    async def _caller(self, token: str, kind: model.KeyKind) -> model.Caller:
        is_of_kind = model.kind_of(token) is kind
        key = await self._keys.find(model.digest(token), kind, self._clock.now()) if is_of_kind else None
        if key is None:
            raise Unauthenticated("Unauthorized")
        return model.Caller(key.user_id, key.role, key_id=key.id, expires_at=key.expires_at)

    async def create_key(
        self,
        user_id: str,
        role: model.Role,
        name: str = "",
        expires_at: datetime | None = None,
        parent_id: int | None = None,
    ) -> tuple[model.ApiKey, str]:
        """A new key and its secret, which is not to be had again. Raises `Invalid`."""
        check_user(user_id, "user")
        token = model.KEY_PREFIX + self._ids.token()
        new = NewCredential(
            user_id.strip(),
            role,
            model.shown(token),
            model.digest(token),
            name=name,
            expires_at=expires_at,
            parent_id=parent_id,
        )
        return await self._keys.add(new, self._clock.now()), token

    async def list_keys(self) -> Sequence[model.ApiKey]:
        return await self._keys.list(model.KeyKind.KEY, self._clock.now())

    async def revoke_key(self, key_id: int) -> None:
        """Raises `NotFound` when no live key or session has this id."""
        if not await self._keys.revoke(key_id, self._clock.now()):
            raise NotFound(f"no live key has the id {key_id}; 'switchboard keys list' shows them")

    async def find_key(self, token: str) -> model.ApiKey | None:
        """The live key that this is."""
        return await self._keys.find(model.digest(token), model.KeyKind.KEY, self._clock.now())

    async def create_link(self, user_id: str | None = None, role: model.Role | None = None) -> str:
        """A token that signs a user in once, within an hour. Without a user: the one of the oldest live admin key.

        The role is that of the user's keys where none is given. The link, and the session that it opens, end with the
        oldest key that the user has in this role, where there is one. Raises `Invalid`.
        """
        if user_id is not None:
            check_user(user_id, "user")
            user_id = user_id.strip()
        now, key = self._clock.now(), None
        roles = [role] if role else [model.Role.ADMIN, model.Role.USER] if user_id else [model.Role.ADMIN]
        for possible in roles:
            key = key or await self._keys.oldest(possible, user_id, now)
        token = model.LINK_PREFIX + self._ids.token()
        new = NewCredential(
            key.user_id if key else user_id or FIRST_ADMIN,
            key.role if key else roles[-1],
            model.shown(token),
            model.digest(token),
            model.KeyKind.LINK,
            expires_at=now + LINK_LIFE,
            parent_id=key.id if key else None,
        )
        await self._keys.add(new, now)
        return token


def check_user(user_id: str, field: str) -> None:
    fault = limits.text_fault(user_id, limits.USER_ID) if user_id.strip() else "must not be empty"
    if fault:
        raise Invalid.of([Fault(field, fault)])


LISTED = (model.KeyKind.KEY, model.KeyKind.SESSION)
NO_KEY = "there is no key {}"


@dataclass(eq=False)
class KeyService:
    """The API keys of a caller, for an admin those of all users."""

    access: AccessService
    store: KeyStore
    clock: Clock

    async def create(self, caller: model.Caller, new: model.NewKey) -> model.CreatedKey:
        """The key ends with the key or session that it is made with, which it cannot outlive.

        Raises `Invalid`, `Forbidden` (another user's key, or a role above the caller's own).
        """
        faults = []
        if fault := limits.text_fault(new.name, limits.KEY_NAME):
            faults.append(Fault("name", fault))
        if new.expires_in_days is not None and not 1 <= new.expires_in_days <= limits.KEY_DAYS:
            faults.append(Fault("expiresInDays", f"must be a whole number from 1 to {limits.KEY_DAYS}"))
        if faults:
            raise Invalid.of(faults)
        if new.user_id is not None:
            check_user(new.user_id, "userId")
        user_id = new.user_id.strip() if new.user_id is not None else caller.user
        if not caller.may_act_for(user_id):
            raise Forbidden("only an admin makes keys for other users")
        if new.role is model.Role.ADMIN and not caller.is_admin:
            raise Forbidden("only an admin makes keys with the role admin")
        created = await self.access.create_key(
            user_id, new.role, new.name.strip(), self._end(caller, new.expires_in_days), caller.key_id
        )
        return model.CreatedKey(*created)

    def _end(self, caller: model.Caller, days: int | None) -> datetime | None:
        """When the new key expires: with the credential of the caller at the latest. Raises `Invalid`."""
        now = self.clock.now()
        expires_at = now + timedelta(days=days) if days else caller.expires_at
        if expires_at is None or caller.expires_at is None or expires_at <= caller.expires_at:
            return expires_at
        most = (caller.expires_at - now).days
        mend = f"give at most {most}, or leave it out" if most else "leave it out"
        raise Invalid.of(
            [
                Fault(
                    "expiresInDays",
                    f"must not reach beyond {iso_milliseconds(caller.expires_at)}, when the key or session that makes"
                    f" this key expires: {mend}",
                )
            ]
        )

    async def list(self, caller: model.Caller, kind: str, cursor: int, limit: int) -> Page[model.ApiKey, int]:
        """Keys or sessions (`kind`: "key", "session"), ordered by id. Raises `Invalid`."""
        if kind not in LISTED:
            raise Invalid.of([Fault("kind", f"must be one of {', '.join(LISTED)}")])
        rows = await self.store.list(
            model.KeyKind(kind), self.clock.now(), caller.scope, cursor, checked_limit(limit) + 1
        )
        return Page(rows[:limit], rows[limit - 1].id if len(rows) > limit else None)

    async def revoke(self, caller: model.Caller, key_id: int) -> None:
        """Ends a key or a session, with all that was made with it. Raises `NotFound`, `Forbidden`."""
        now = self.clock.now()
        key = await self.store.get(key_id, now)
        if key is None:
            raise NotFound(NO_KEY.format(key_id))
        if not caller.may_act_for(key.user_id):
            raise Forbidden("this key belongs to another user")
        await self.store.revoke(key_id, now)


SESSION_LIFE = timedelta(days=7)
UNKNOWN = "this API key is not known, or it was revoked; check that you copied all of it"
USED = "this link was used already, or is older than an hour; get a new one with: switchboard console link"
TRIED = "this API key or link is not known, and too many wrong ones came from your address; try again later"


@dataclass(eq=False)
class SessionService:
    """Sessions of browsers."""

    keys: KeyStore
    ids: Ids
    clock: Clock

    async def sign_in(self, credential: str, address: str) -> model.Session:
        """Opens a session with an API key or a sign-in link's token; `address` is where the caller is.

        `Access.authenticate_session` takes its token until the session expires, is ended by `sign_out` or revoked, or
        its key is; on every gateway from that moment on. Raises `Unauthenticated` with what
        to do, `TooMany` instead after too many wrong credentials of one address. A right one is never refused.
        """
        now, credential = self.clock.now(), credential.strip()
        is_link = model.kind_of(credential) is model.KeyKind.LINK
        key = (
            await self.keys.take_link(model.digest(credential), now)
            if is_link
            else await self.keys.find(model.digest(credential), model.KeyKind.KEY, now)
        )
        if key is None:
            if wait := await self.keys.count_failed_sign_in(address, now):
                raise TooMany(TRIED, wait)
            raise Unauthenticated(USED if is_link else UNKNOWN)
        parent: model.ApiKey | None = key
        if is_link:
            parent = await self.keys.get(key.parent_id, now) if key.parent_id else None
        expires_at = now + SESSION_LIFE
        if parent and parent.expires_at:
            expires_at = min(expires_at, parent.expires_at)
        parent_id = parent.id if parent else None
        token = model.SESSION_PREFIX + self.ids.token()
        new = NewCredential(
            key.user_id,
            key.role,
            model.shown(token),
            model.digest(token),
            model.KeyKind.SESSION,
            key.name,
            expires_at,
            parent_id,
        )
        await self.keys.add(new, now)
        return model.Session(token, expires_at)

    async def sign_out(self, token: str) -> None:
        """Ends the session; any other token is ignored."""
        now = self.clock.now()
        if session := await self.keys.find(model.digest(token), model.KeyKind.SESSION, now):
            await self.keys.revoke(session.id, now)
