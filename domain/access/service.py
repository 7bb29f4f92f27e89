"""Who stands behind a credential, and the management of API keys."""

import hashlib
import hmac
from collections.abc import Sequence

from domain import limits
from domain.access.model import ApiKey, Caller, Role
from domain.refusals import Fault, Invalid, NotFound, Unauthenticated
from ports.clock import Ids
from ports.keys import KeyStore

PREFIX = "sb_"
SHOWN = 8
SERVICE_USER = "internal-service"


def digest(token: str) -> bytes:
    """What is stored of a key: its SHA-256. Keys hold 256 random bits, so no salt or stretching is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class AccessService:
    """Authenticates API keys and the internal service key.

    `service_key` is compared in constant time; with it comes a caller that may act on everything, or as the
    user it names.
    """

    def __init__(self, keys: KeyStore, ids: Ids, service_key: str) -> None:
        self._keys = keys
        self._ids = ids
        self._service_digest = digest(service_key)

    async def authenticate(self, token: str, acting_for: str | None = None) -> Caller:
        """The caller behind a bearer token. Raises `Unauthenticated`, `Invalid`.

        `acting_for` names the user that a service acts for; it counts with the service key alone.
        """
        token_digest = digest(token)
        if hmac.compare_digest(token_digest, self._service_digest):
            if acting_for:
                _check_user(acting_for, "x-user-id")
                return Caller(acting_for, Role.USER, is_service=True)
            return Caller(SERVICE_USER, Role.ADMIN, is_service=True)
        key = await self._keys.find(token_digest) if token.startswith(PREFIX) else None
        if key is None:
            raise Unauthenticated("Unauthorized")
        return Caller(key.user_id, key.role)

    async def create_key(self, user_id: str, role: Role) -> tuple[ApiKey, str]:
        """A new key and its secret, which is not to be had again. Raises `Invalid`."""
        _check_user(user_id, "user")
        token = PREFIX + self._ids.token(32)
        key = await self._keys.add(user_id.strip(), role, token[: len(PREFIX) + SHOWN], digest(token))
        return key, token

    async def list_keys(self) -> Sequence[ApiKey]:
        return await self._keys.list()

    async def revoke_key(self, key_id: int) -> None:
        """Raises `NotFound` when no live key has this id."""
        if not await self._keys.revoke(key_id):
            raise NotFound(f"no live key has the id {key_id}; 'switchboard keys list' shows them")


def _check_user(user_id: str, field: str) -> None:
    fault = limits.text_fault(user_id, limits.USER_ID) if user_id.strip() else "must not be empty"
    if fault:
        raise Invalid.of([Fault(field, fault)])
