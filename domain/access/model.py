"""Users, roles, scopes, API keys, sessions and their tokens."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.refusals import Fault, Forbidden, Invalid
from domain.routing.routes import Hours


class Role(StrEnum):
    """What a user may do in the installation: a responder works on what is shared with them, a member also on what
    they make themselves, an admin on everything."""

    RESPONDER = "responder"
    MEMBER = "member"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        return list(Role).index(self)


FORMER_MEMBER = "user"
"""The former name of the role member: stored keys have it, and callers may use it."""


def parse_role(name: str) -> Role:
    """Raises `Invalid`."""
    if name == FORMER_MEMBER:
        return Role.MEMBER
    if name not in tuple(Role):
        raise Invalid.of([Fault("role", f"must be one of {', '.join(Role)}")])
    return Role(name)


def lower_role(one: Role, other: Role) -> Role:
    return min(one, other, key=lambda role: role.rank)


class Scope(StrEnum):
    """What an API key may be used for, within the role of its user."""

    INSTANCES_READ = "instances:read"
    INSTANCES_WRITE = "instances:write"
    CONVERSATIONS_READ = "conversations:read"
    MESSAGES_SEND = "messages:send"
    KNOWLEDGE_READ = "knowledge:read"
    KNOWLEDGE_WRITE = "knowledge:write"
    EVENTS_READ = "events:read"
    AGENTS_WRITE = "agents:write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller of a use case. `is_service`: it came with the internal service key.

    `role`: what it may do at most. `scopes`: what its key may be used for, None for everything. `key_id` and
    `expires_at`: of the API key or the session that it came with; `is_session`: it is a session. `address`: where the
    call came from, and `request_id` its id; empty where nobody knows. `lacks_passkey`: a session of an admin that
    has to be proved by a passkey first, and may do nothing else until then.
    """

    user_id: str
    role: Role = Role.MEMBER
    is_service: bool = False
    key_id: int | None = None
    expires_at: datetime | None = None
    scopes: tuple[Scope, ...] | None = None
    is_session: bool = False
    address: str = ""
    request_id: str = ""
    lacks_passkey: bool = False

    @property
    def is_admin(self) -> bool:
        """Return True if the caller may act on everything. A key with scopes needs the scope `admin` for that."""
        return self.role is Role.ADMIN and self.has(Scope.ADMIN)

    def has(self, scope: Scope) -> bool:
        return self.scopes is None or scope in self.scopes

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

    def require_admin(self, action: str) -> None:
        """Raises `Forbidden` for all but admins. `action`: what only an admin does, such as "lists users"."""
        if not self.is_admin:
            raise Forbidden(f"only an admin {action}")

    def require_member(self, things: str) -> None:
        """Raises `Forbidden` for a responder. `things`: what a member makes, such as "instances"."""
        if self.role is Role.RESPONDER:
            raise Forbidden(
                f"the role responder makes no {things} of its own; ask an admin for the role member"
            )


class UserState(StrEnum):
    """A suspended user has no key and no session any more."""

    ACTIVE = "active"
    SUSPENDED = "suspended"


@dataclass(frozen=True, slots=True)
class User:
    """A person or a service that works with the installation. `email` is in lower case; empty where it is not known.

    `last_seen_at`: the last call, to about five minutes.
    """

    id: str
    name: str
    email: str
    role: Role
    state: UserState
    created_at: datetime
    last_seen_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TeamMember:
    """`lead`: they may change the members of the team."""

    user_id: str
    lead: bool = False


@dataclass(frozen=True, slots=True)
class Team:
    """Outside of `hours` those who want a person are sent `away_text`; None: the team has no hours."""

    id: int
    name: str
    members: tuple[TeamMember, ...]
    created_at: datetime
    hours: Hours | None = None
    away_text: str = ""


@dataclass(frozen=True, slots=True)
class TeamChange:
    """None leaves a field as it is; `members` replace those before. `clear_hours`: the team has no hours any more."""

    name: str | None = None
    members: tuple[TeamMember, ...] | None = None
    hours: Hours | None = None
    away_text: str | None = None
    clear_hours: bool = False


class KeyKind(StrEnum):
    """What a stored credential is. A session is that of a browser; a link signs in once."""

    KEY = "key"
    SESSION = "session"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key or a session as it is listed: never the secret, only its first characters.

    `parent_id`: the key that a session was opened with, or the key or session that a key was made with; it ends with
    that. `scopes`: None for everything that its user may do. `created_by`: the user who made it, None for a
    command on the server. `live`: neither it nor its parent was revoked or has expired. Of sessions `device` and
    `address` tell where it was opened, and `used_at` when it was used last, to about five minutes;
    `is_proved`: by a passkey.
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
    scopes: tuple[Scope, ...] | None = None
    created_by: str | None = None
    live: bool = True
    device: str = ""
    address: str = ""
    used_at: datetime | None = None
    is_proved: bool = False


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be made. Without `role` a member's, but of no higher role than the caller's. Without `user_id` it is
    the caller's own; without `expires_in_days` it ends with the key or session that makes it, if that ends."""

    role: Role | None = None
    name: str = ""
    user_id: str | None = None
    expires_in_days: int | None = None
    scopes: tuple[Scope, ...] | None = None


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """`token`: the key itself, which is not to be had again."""

    key: ApiKey
    token: str


@dataclass(frozen=True, slots=True)
class Invitation:
    """`accepted_at`: when the person used it; None while it is open. `user_id`: who they are since."""

    id: int
    email: str
    role: Role
    team_ids: tuple[int, ...]
    created_by: str
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class Passkey:
    """`sign_count`: how often it says that it was used; some always say 0."""

    id: int
    user_id: str
    credential_id: bytes
    public_key: bytes
    sign_count: int
    name: str
    created_at: datetime
    used_at: datetime | None = None


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
