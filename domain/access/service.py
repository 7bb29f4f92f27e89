"""Who stands behind a credential, and the management of API keys and sign-in links by the operator."""

import hmac
from collections.abc import Sequence
from datetime import datetime, timedelta

from domain import limits
from domain.access.model import ApiKey, Caller, KeyKind, Role
from domain.access.tokens import KEY_PREFIX, LINK_PREFIX, digest, kind_of, shown
from domain.refusals import Fault, Invalid, NotFound, Unauthenticated
from ports.clock import Clock, Ids
from ports.keys import KeyStore, NewCredential

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
        self._service_digest = digest(service_key)

    def is_service_key(self, token: str) -> bool:
        return hmac.compare_digest(digest(token), self._service_digest)

    async def authenticate(self, token: str, acting_for: str | None = None) -> Caller:
        """The caller of an API key or of the service key. Raises `Unauthenticated`, `Invalid`.

        `acting_for` names the user that a service acts for; it counts with the service key alone.
        """
        if self.is_service_key(token):
            if acting_for:
                check_user(acting_for, "x-user-id")
                return Caller(acting_for, Role.USER, is_service=True)
            return Caller(SERVICE_USER, Role.ADMIN, is_service=True)
        return await self._caller(token, KeyKind.KEY)

    async def authenticate_session(self, token: str) -> Caller:
        """The caller of a browser's session. Raises `Unauthenticated`."""
        return await self._caller(token, KeyKind.SESSION)

    async def _caller(self, token: str, kind: KeyKind) -> Caller:
        is_of_kind = kind_of(token) is kind
        key = await self._keys.find(digest(token), kind, self._clock.now()) if is_of_kind else None
        if key is None:
            raise Unauthenticated("Unauthorized")
        return Caller(key.user_id, key.role, key_id=key.id, expires_at=key.expires_at)

    async def create_key(
        self,
        user_id: str,
        role: Role,
        name: str = "",
        expires_at: datetime | None = None,
        parent_id: int | None = None,
    ) -> tuple[ApiKey, str]:
        """A new key and its secret, which is not to be had again. Raises `Invalid`."""
        check_user(user_id, "user")
        token = KEY_PREFIX + self._ids.token()
        new = NewCredential(
            user_id.strip(),
            role,
            shown(token),
            digest(token),
            name=name,
            expires_at=expires_at,
            parent_id=parent_id,
        )
        return await self._keys.add(new, self._clock.now()), token

    async def list_keys(self) -> Sequence[ApiKey]:
        return await self._keys.list(KeyKind.KEY, self._clock.now())

    async def revoke_key(self, key_id: int) -> None:
        """Raises `NotFound` when no live key or session has this id."""
        if not await self._keys.revoke(key_id, self._clock.now()):
            raise NotFound(f"no live key has the id {key_id}; 'switchboard keys list' shows them")

    async def find_key(self, token: str) -> ApiKey | None:
        """The live key that this is."""
        return await self._keys.find(digest(token), KeyKind.KEY, self._clock.now())

    async def create_link(self, user_id: str | None = None, role: Role | None = None) -> str:
        """A token that signs a user in once, within an hour. Without a user: the one of the oldest live admin key.

        The role is that of the user's keys where none is given. The link, and the session that it opens, end with the
        oldest key that the user has in this role, where there is one. Raises `Invalid`.
        """
        if user_id is not None:
            check_user(user_id, "user")
            user_id = user_id.strip()
        now, key = self._clock.now(), None
        roles = [role] if role else [Role.ADMIN, Role.USER] if user_id else [Role.ADMIN]
        for possible in roles:
            key = key or await self._keys.oldest(possible, user_id, now)
        token = LINK_PREFIX + self._ids.token()
        new = NewCredential(
            key.user_id if key else user_id or FIRST_ADMIN,
            key.role if key else role or (Role.USER if user_id else Role.ADMIN),
            shown(token),
            digest(token),
            KeyKind.LINK,
            expires_at=now + LINK_LIFE,
            parent_id=key.id if key else None,
        )
        await self._keys.add(new, now)
        return token


def check_user(user_id: str, field: str) -> None:
    fault = limits.text_fault(user_id, limits.USER_ID) if user_id.strip() else "must not be empty"
    if fault:
        raise Invalid.of([Fault(field, fault)])
