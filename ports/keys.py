"""API keys, sessions and sign-in links: the use cases, and where they are stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from domain.access.model import ApiKey, Caller, CreatedKey, KeyKind, KeyPage, NewKey, Role, Session


class Keys(Protocol):
    """The API keys of a caller, for an admin those of all users."""

    async def create(self, caller: Caller, new: NewKey) -> CreatedKey:
        """The key ends with the key or session that it is made with, which it cannot outlive.

        Raises `Invalid`, `Forbidden` (another user's key, or a role above the caller's own).
        """
        ...

    async def list(self, caller: Caller, kind: str, cursor: int, limit: int) -> KeyPage:
        """Keys or sessions (`kind`: "key", "session"), ordered by id. Raises `Invalid`."""
        ...

    async def revoke(self, caller: Caller, key_id: int) -> None:
        """Ends a key or a session, with all that was made with it. Raises `NotFound`, `Forbidden`."""
        ...


class Sessions(Protocol):
    """Sessions of browsers."""

    async def sign_in(self, credential: str, address: str) -> Session:
        """Opens a session with an API key or a sign-in link's token; `address` is where the caller is.

        `Access.authenticate_session` takes its token until the session expires, is ended by `sign_out` or revoked, or
        its key is; on every gateway from that moment on. Raises `Unauthenticated` with what
        to do, `TooMany` instead after too many wrong credentials of one address. A right one is never refused.
        """
        ...

    async def sign_out(self, token: str) -> None:
        """Ends the session; any other token is ignored."""
        ...


@dataclass(frozen=True, slots=True)
class NewCredential:
    """A row to be stored; `digest` is the hash of its secret."""

    user_id: str
    role: Role
    prefix: str
    digest: bytes
    kind: KeyKind = KeyKind.KEY
    name: str = ""
    expires_at: datetime | None = None
    parent_id: int | None = None


class KeyStore(Protocol):
    """API keys, sessions and sign-in links; only hashes of secrets come in here."""

    async def find(self, digest: bytes, kind: KeyKind, now: datetime) -> ApiKey | None:
        """The live one with that hash."""
        ...

    async def get(self, key_id: int, now: datetime) -> ApiKey | None:
        """A key or a session, live or not."""
        ...

    async def add(self, new: NewCredential, now: datetime) -> ApiKey: ...

    async def list(
        self,
        kind: KeyKind,
        now: datetime,
        user_id: str | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> Sequence[ApiKey]:
        """Those with ids over `after`, of one user or of all, ordered by id; of sessions the live ones."""
        ...

    async def revoke(self, key_id: int, now: datetime) -> bool:
        """Revokes also what was made with it. False if nothing was left to be revoked."""
        ...

    async def take_link(self, digest: bytes, now: datetime) -> ApiKey | None:
        """The live sign-in link with that hash, which is gone with this."""
        ...

    async def oldest(self, role: Role, user_id: str | None, now: datetime) -> ApiKey | None:
        """The oldest live key of a role, of one user or of all."""
        ...


class SignInTries(Protocol):
    """Counts the wrong credentials at signing in, over all gateways."""

    async def count(self, address: str, now: datetime) -> float | None:
        """Counts a wrong credential of an address. Seconds to wait if there were too many, else None."""
        ...
