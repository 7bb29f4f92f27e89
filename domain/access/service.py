"""Authenticates callers, manages API keys, and signs people in to the console."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from domain import limits
from domain.access import model
from domain.access.sessions import Browser, NewSession, SessionOpener
from domain.access.sharing import needs
from domain.audit.model import Action
from domain.paging import Page, checked_limit
from domain.refusals import Conflict, Fault, Forbidden, Invalid, NotFound, TooMany, Unauthenticated
from domain.values import iso_milliseconds
from ports.access import KeyStore, NewCredential, UserStore
from ports.audit import Audit
from ports.system import Clock, Ids

COMMAND = model.Caller("", model.Role.ADMIN)
"""Who acts in a command on the server."""
SUSPENDED = "the user '{}' is suspended; ask an admin"
SERVICE_USER = "internal-service"
FIRST_ADMIN = "admin"
LINK_LIFE = timedelta(hours=1)


class AccessService:
    """Authenticates API keys, sessions and the internal service key.

    `service_key` is compared in constant time; with it comes a caller that may act on everything, or as the
    user it names. `admins_need_passkey`: a session of an admin may do nothing before a passkey proves it.
    """

    def __init__(
        self,
        keys: KeyStore,
        users: UserStore,
        audit: Audit,
        ids: Ids,
        clock: Clock,
        service_key: str,
        *,
        admins_need_passkey: bool = False,
    ) -> None:
        self._keys = keys
        self._users = users
        self._audit = audit
        self._ids = ids
        self._clock = clock
        self._admins_need_passkey = admins_need_passkey
        self._service_digest = model.digest(service_key)

    def is_service_key(self, token: str) -> bool:
        return hmac.compare_digest(model.digest(token), self._service_digest)

    async def authenticate(self, token: str, acting_for: str | None = None) -> model.Caller:
        """The caller of an API key or of the service key. Raises `Unauthenticated`, `Invalid`, `Forbidden`.

        `acting_for` names the user that a service acts for; it counts with the service key alone.
        """
        if self.is_service_key(token):
            if acting_for:
                check_user(acting_for, "x-user-id")
                user = await self._users.appear(acting_for, self._clock.now())
                if user.state is model.UserState.SUSPENDED:
                    raise Forbidden(SUSPENDED.format(acting_for[:100]))
                role = model.lower_role(user.role, model.Role.MEMBER)
                return model.Caller(acting_for, role, is_service=True)
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
        is_session = kind is model.KeyKind.SESSION
        needs_proof = self._admins_need_passkey and is_session and key.role is model.Role.ADMIN
        lacks_passkey = needs_proof and not key.is_proved
        return model.Caller(
            key.user_id,
            key.role,
            key_id=key.id,
            expires_at=key.expires_at,
            scopes=() if lacks_passkey else key.scopes,
            is_session=is_session,
            lacks_passkey=lacks_passkey,
        )

    async def create_key(
        self,
        user_id: str,
        role: model.Role,
        name: str = "",
        expires_at: datetime | None = None,
        *,
        scopes: tuple[model.Scope, ...] | None = None,
        caller: model.Caller = COMMAND,
    ) -> tuple[model.ApiKey, str]:
        """A new key and its secret, which is not to be had again. The user appears where nobody knows them, and has
        at least this role from now on. Raises `Invalid`, `Conflict` for a suspended user."""
        check_user(user_id, "user")
        user_id = user_id.strip()
        await self._role_of(user_id)
        token = model.KEY_PREFIX + self._ids.token()
        new = NewCredential(
            user_id,
            role,
            model.shown(token),
            model.digest(token),
            name=name,
            expires_at=expires_at,
            parent_id=caller.key_id,
            scopes=scopes,
            created_by=caller.user_id or None,
        )
        data: dict[str, object] = {"user": user_id, "role": role, "name": name}
        if scopes is not None:
            data["scopes"] = sorted(scopes)
        async with self._audit.change(caller, Action.KEY_CREATED, "key", data) as details:
            key = await self._keys.add(new, self._clock.now())
            details["object"] = f"key:{key.id}"
        return key, token

    async def list_keys(self) -> Sequence[model.ApiKey]:
        return await self._keys.list(model.KeyKind.KEY, self._clock.now())

    async def revoke_key(self, key_id: int) -> None:
        """Raises `NotFound` when no live key or session has this id."""
        async with self._audit.change(COMMAND, Action.KEY_REVOKED, f"key:{key_id}"):
            if not await self._keys.revoke(key_id, self._clock.now()):
                raise NotFound(f"no live key has the id {key_id}; 'switchboard keys list' shows them")

    async def find_key(self, token: str) -> model.ApiKey | None:
        """The live key that this is."""
        return await self._keys.find(model.digest(token), model.KeyKind.KEY, self._clock.now())

    async def create_link(self, user_id: str | None = None, role: model.Role | None = None) -> str:
        """A token that signs a user in once, within an hour. Without a user: the one of the oldest live admin key.

        The role is that of the user's keys where none is given. The link, and the session that it opens, end with the
        oldest key that the user has in this role, where there is one. Raises `Invalid`, `Conflict` for a
        suspended user.
        """
        role_without_key, name_without_key = model.Role.ADMIN, FIRST_ADMIN
        if user_id is not None:
            check_user(user_id, "user")
            name_without_key = user_id = user_id.strip()
            role_without_key = await self._role_of(user_id)
        now = self._clock.now()
        key = await self._oldest_key(user_id, role, now)
        token = model.LINK_PREFIX + self._ids.token()
        new = NewCredential(
            key.user_id if key else name_without_key,
            key.role if key else role or role_without_key,
            model.shown(token),
            model.digest(token),
            model.KeyKind.LINK,
            expires_at=now + LINK_LIFE,
            parent_id=key.id if key else None,
        )
        data = {"user": new.user_id, "role": new.role, "kind": new.kind}
        async with self._audit.change(COMMAND, Action.KEY_CREATED, "key", data) as details:
            details["object"] = f"key:{(await self._keys.add(new, now)).id}"
        return token

    async def _role_of(self, user_id: str) -> model.Role:
        """The role of a user; MEMBER for one who is not known yet. Raises `Conflict` for a suspended one."""
        user = await self._users.find(user_id)
        if user and user.state is model.UserState.SUSPENDED:
            raise Conflict(SUSPENDED.format(user_id[:100]))
        return user.role if user else model.Role.MEMBER

    async def _oldest_key(
        self, user_id: str | None, role: model.Role | None, now: datetime
    ) -> model.ApiKey | None:
        """The oldest key of a user in this role, else in the highest that they have; without a user, of an admin."""
        own_roles = (model.Role.ADMIN, model.Role.MEMBER, model.Role.RESPONDER)
        for possible in (role,) if role else own_roles if user_id else (model.Role.ADMIN,):
            if key := await self._keys.oldest(possible, user_id, now):
                return key
        return None


def check_user(user_id: str, field: str) -> None:
    fault = limits.text_fault(user_id, limits.USER_ID) if user_id.strip() else "must not be empty"
    if fault:
        raise Invalid.of([Fault(field, fault)])


def _check_new(caller: model.Caller, new: model.NewKey) -> None:
    """Raises `Invalid`."""
    faults = []
    if fault := limits.text_fault(new.name, limits.KEY_NAME):
        faults.append(Fault("name", fault))
    if new.expires_in_days is not None and not 1 <= new.expires_in_days <= limits.KEY_DAYS:
        faults.append(Fault("expiresInDays", f"must be a whole number from 1 to {limits.KEY_DAYS}"))
    if caller.scopes is not None and not set(new.scopes or model.Scope) <= set(caller.scopes):
        faults.append(Fault("scopes", "must be scopes of the key that makes this one"))
    if faults:
        raise Invalid.of(faults)
    if new.user_id is not None:
        check_user(new.user_id, "userId")


LISTED = (model.KeyKind.KEY, model.KeyKind.SESSION)
NO_KEY = "there is no key {}"


@dataclass(eq=False)
class KeyService:
    """The API keys of a caller, for an admin those of all users. A key with scopes needs `admin` among them."""

    access: AccessService
    store: KeyStore
    audit: Audit
    clock: Clock

    @needs(model.Scope.ADMIN)
    async def create(self, caller: model.Caller, new: model.NewKey) -> model.CreatedKey:
        """The key ends with the key or session that it is made with, which it cannot outlive.

        Raises `Invalid`, `Forbidden` (another user's key, a role above the caller's own, or a scope that the caller's
        key lacks).
        """
        _check_new(caller, new)
        user_id = new.user_id.strip() if new.user_id is not None else caller.user
        if not caller.may_act_for(user_id):
            raise Forbidden("only an admin makes keys for other users")
        role = new.role or model.lower_role(model.Role.MEMBER, caller.role)
        if role.rank > caller.role.rank:
            raise Forbidden(f"only an admin makes keys with the role {role}")
        expires_at, name = self._end(caller, new.expires_in_days), new.name.strip()
        created = await self.access.create_key(
            user_id, role, name, expires_at, scopes=new.scopes, caller=caller
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

    @needs(model.Scope.ADMIN)
    async def list(self, caller: model.Caller, kind: str, cursor: int, limit: int) -> Page[model.ApiKey, int]:
        """Keys or sessions (`kind`: "key", "session"), ordered by id. Raises `Invalid`."""
        if kind not in LISTED:
            raise Invalid.of([Fault("kind", f"must be one of {', '.join(LISTED)}")])
        rows = await self.store.list(
            model.KeyKind(kind), self.clock.now(), caller.scope, cursor, checked_limit(limit) + 1
        )
        return Page(rows[:limit], rows[limit - 1].id if len(rows) > limit else None)

    @needs(model.Scope.ADMIN)
    async def revoke(self, caller: model.Caller, key_id: int) -> None:
        """Ends a key or a session, with all that was made with it. Raises `NotFound`, `Forbidden`."""
        now = self.clock.now()
        key = await self.store.get(key_id, now)
        if key is None:
            raise NotFound(NO_KEY.format(key_id))
        if not caller.may_act_for(key.user_id):
            raise Forbidden("this key belongs to another user")
        action = Action.SESSION_ENDED if key.kind is model.KeyKind.SESSION else Action.KEY_REVOKED
        async with self.audit.change(caller, action, f"{key.kind}:{key_id}", {"user": key.user_id}):
            await self.store.revoke(key_id, now)


UNKNOWN = "this API key is not known, or it was revoked; check that you copied all of it"
USED = "this link was used already, or is older than an hour; get a new one with: switchboard console link"
TRIED = "this API key or link is not known, and too many wrong ones came from your address; try again later"


@dataclass(eq=False)
class SessionService:
    """Sessions of browsers."""

    keys: KeyStore
    opener: SessionOpener
    audit: Audit
    clock: Clock

    async def sign_in(self, credential: str, address: str, user_agent: str = "") -> model.Session:
        """Opens a session with an API key or a sign-in link's token; `address` is where the caller is.

        `Access.authenticate_session` takes its token until the session expires, is ended by `sign_out` or revoked, or
        its key is; on every gateway from that moment on. Raises `Unauthenticated` with what
        to do, `TooMany` instead after too many wrong credentials of one address. A right one is never refused.
        """
        now, credential = self.clock.now(), credential.strip()
        browser = Browser(address, user_agent)
        is_link = model.kind_of(credential) is model.KeyKind.LINK
        digest = model.digest(credential)
        key = await (
            self.keys.take_link(digest, now) if is_link else self.keys.find(digest, model.KeyKind.KEY, now)
        )
        if key is None:
            raise await self._refused(browser, USED if is_link else UNKNOWN)
        parent: model.ApiKey | None = key
        if is_link:
            parent = await self.keys.get(key.parent_id, now) if key.parent_id else None
        new = NewSession(
            key.user_id,
            key.role,
            f"key:{key.id}" if key.kind is model.KeyKind.KEY else "link",
            key.name,
            parent.id if parent else None,
            parent.expires_at if parent else None,
        )
        return (await self.opener.open(new, browser))[1]

    async def _refused(self, browser: Browser, reason: str) -> Unauthenticated | TooMany:
        """Counts a wrong credential; what is raised for it."""
        await self.opener.note_refusal(browser)
        wait = await self.keys.count_failed_sign_in(browser.address, self.clock.now())
        return TooMany(TRIED, wait) if wait else Unauthenticated(reason)

    async def sign_out(self, token: str) -> None:
        """Ends the session; any other token is ignored."""
        now = self.clock.now()
        if session := await self.keys.find(model.digest(token), model.KeyKind.SESSION, now):
            person = model.Caller(session.user_id, session.role, key_id=session.id, is_session=True)
            async with self.audit.change(person, Action.SESSION_ENDED, f"session:{session.id}"):
                await self.keys.revoke(session.id, now)
