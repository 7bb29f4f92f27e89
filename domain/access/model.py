"""Users, API keys, sessions and their tokens."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.refusals import Fault, Invalid


class Role(StrEnum):
    """What a caller may do: a user acts on what is its own, an admin on everything."""

    USER = "user"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller of a use case. `is_service`: it came with the internal service key.

    `key_id` and `expires_at`: of the API key or the session that it came with.
    """

    user_id: str
    role: Role = Role.USER
    is_service: bool = False
    key_id: int | None = None
    expires_at: datetime | None = None

    @property
    def is_admin(self) -> bool:
        return self.role is Role.ADMIN

    @property
    def user(self) -> str:
        """The user for whom something is created or listed.

        Raises `Invalid` for a service that acts for nobody: it may act on every object, and owns none.
        """
        if self.is_service and self.is_admin:
            raise Invalid.of(
                [Fault("x-user-id", "is required here: it names the user for whom a service acts")]
            )
        return self.user_id

    @property
    def scope(self) -> str | None:
        """The user whose objects the caller sees, None for those of all."""
        return None if self.is_admin else self.user_id

    def may_act_for(self, owner: str) -> bool:
        """Return True if the caller may act on what belongs to `owner`."""
        return self.is_admin or self.user_id == owner


class KeyKind(StrEnum):
    """What a stored credential is. A session is that of a browser; a link signs in once."""

    KEY = "key"
    SESSION = "session"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key or a session as it is listed: never the secret, only its first characters.

    `parent_id`: the key that a session was opened with, or the key or session that a key was made with; it ends with
    that. `live`: neither it nor its parent was revoked or has expired.
    """

    id: int
    user_id: str
    role: Role
    prefix: str
    created_at: datetime
    revoked_at: datetime | None = None
    kind: KeyKind = KeyKind.KEY
    name: str = ""
    expires_at: datetime | None = None
    parent_id: int | None = None
    live: bool = True


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be made. Without `user_id` it is the caller's own; without `expires_in_days` it ends with the key or
    session that makes it, if that ends."""

    role: Role = Role.USER
    name: str = ""
    user_id: str | None = None
    expires_in_days: int | None = None


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """`token`: the key itself, which is not to be had again."""

    key: ApiKey
    token: str


@dataclass(frozen=True, slots=True)
class Session:
    """A session that was opened; `token` is what its browser sends from now on."""

    token: str
    expires_at: datetime


KEY_PREFIX, SESSION_PREFIX, LINK_PREFIX = "sb_", "sbs_", "sbl_"
KINDS = {KEY_PREFIX: KeyKind.KEY, SESSION_PREFIX: KeyKind.SESSION, LINK_PREFIX: KeyKind.LINK}
SHOWN = 8


def digest(token: str) -> bytes:
    """Returns the SHA-256 of a token, which is stored in its place. Tokens hold 256 random bits: they need no salt
    or stretching."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def kind_of(token: str) -> KeyKind | None:
    return next((kind for prefix, kind in KINDS.items() if token.startswith(prefix)), None)


def sign_in_address(agent_url: str, link: str) -> str:
    """Where a sign-in link leads."""
    return f"{agent_url.rstrip('/')}/console/sign-in?link={link}"


def shown(token: str) -> str:
    """The first characters, by which people know it again."""
    return token[: token.index("_") + 1 + SHOWN]
