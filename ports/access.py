"""Users, teams, API keys, sessions, verified identities, and their stores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from domain.access.model import ApiKey, KeyKind, Role, Scope, Team, TeamChange, TeamMember, User, UserState
from domain.channels.messages import Identity
from domain.verification.model import BotMessage, Provider


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
    scopes: tuple[Scope, ...] | None = None
    created_by: str | None = None
    address: str = ""
    device: str = ""
    is_proved: bool = False


class KeyStore(Protocol):
    """API keys, sessions and sign-in links; only hashes of secrets come in here."""

    async def find(self, digest: bytes, kind: KeyKind, now: datetime) -> ApiKey | None:
        """The live one with that hash; no session that was not used for long. Notes that its user was seen, and that
        a session was used."""

    async def get(self, key_id: int, now: datetime) -> ApiKey | None:
        """A key or a session, live or not."""

    async def add(self, new: NewCredential, now: datetime) -> ApiKey:
        """Its user appears where nobody has that id; one with a lower role gets that of a new API key."""

    async def list(
        self,
        kind: KeyKind,
        now: datetime,
        user_id: str | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> Sequence[ApiKey]:
        """Those with ids over `after`, of one user or of all, ordered by id; of sessions the live ones."""

    async def revoke(self, key_id: int, now: datetime) -> bool:
        """Revokes also what was made with it. False if nothing was left to be revoked."""

    async def mark_proved(self, session_id: int) -> None:
        """Notes that a session was proved by a passkey."""

    async def take_link(self, digest: bytes, now: datetime) -> ApiKey | None:
        """The live sign-in link with that hash, which is gone with this."""

    async def oldest(self, role: Role, user_id: str | None, now: datetime) -> ApiKey | None:
        """The oldest live key of a role, of one user or of all."""

    async def count_failed_sign_in(self, address: str, now: datetime) -> float | None:
        """Counts a wrong credential of an address, over all gateways. Seconds to wait if there were too many, else
        None."""


@dataclass(frozen=True, slots=True)
class UserChange:
    """None leaves a field as it is."""

    name: str | None = None
    email: str | None = None
    role: Role | None = None
    state: UserState | None = None


class UserStore(Protocol):
    async def find(self, user_id: str) -> User | None: ...

    async def of_email(self, email: str) -> User | None: ...

    async def named(self, names: Sequence[str]) -> Sequence[User]:
        """Active users with one of these ids, or names without their blanks; in lower case."""

    async def list(self, query: str, after: str, limit: int) -> Sequence[User]:
        """Those with ids behind `after`, ordered by id. `query`: what an id, a name or an e-mail address begins with,
        in lower case; empty for all."""

    async def add(self, user: User) -> bool:
        """False where the id is taken. Raises `Conflict` for a taken e-mail address."""

    async def appear(self, user_id: str, now: datetime) -> User:
        """The user, who is made as a member where nobody has that id. Notes that they were seen."""

    async def change(self, user_id: str, change: UserChange, now: datetime) -> bool:
        """Suspending ends all keys and sessions. False where there is no such user. Raises `Conflict` for a taken
        e-mail address."""

    async def active_admins(self) -> int:
        """How many there are. Within a transaction they stay as they are until its end."""

    async def remove(self, user_id: str, successor: str | None) -> None:
        """Removes a user with keys, sessions, permissions, memberships and identities. What they own goes to the
        successor. Raises `Conflict` without one where they own something, and where the successor has an
        instance of the same name on the same channel."""


class TeamStore(Protocol):
    async def find(self, team_id: int) -> Team | None: ...

    async def named(self, names: Sequence[str]) -> Sequence[Team]:
        """Those with one of these names, with or without their blanks; in lower case."""

    async def list(self, user_id: str | None, after: int, limit: int) -> Sequence[Team]:
        """Those that the user is a member of, or all; ordered by id."""

    async def add(self, name: str, members: Sequence[TeamMember]) -> Team:
        """Raises `Conflict` for a taken name, `Invalid` for members who are no users."""

    async def change(self, team_id: int, change: TeamChange) -> bool:
        """Raises as `add`."""

    async def remove(self, team_id: int) -> bool: ...

    async def assign(self, user_id: str, places: Mapping[str, bool]) -> Mapping[str, bool]:
        """Puts the user into teams of these names, or takes them out. What changed; names of no team are ignored."""


class IdentityStore(Protocol):
    """Verified identities; one belongs to one user. Resolves the senders of messages to users."""

    async def of_user(self, user_id: str) -> Sequence[Identity]:
        """In the order in which they were verified."""

    async def give(self, user_id: str, identities: Sequence[Identity]) -> None:
        """Stores them for the user, all or none, taking each from whoever had it."""

    async def take(self, user_id: str, identity: Identity) -> bool:
        """False when the user has no such identity."""

    async def resolve(self, identities: Sequence[Identity], only_user: str | None) -> str | None:
        """The user that one of these identities is verified for; with `only_user` that user, or nobody."""

    async def may_notify(self, instance_id: int, external_id: str, now: datetime, every: timedelta) -> bool:
        """Return True if a sender may be told now that only verified users are served: once in `every`. True counts
        as told."""

    async def users_of(self, identities: Sequence[Identity]) -> Mapping[Identity, str]:
        """The users that these identities are verified for."""


@dataclass(frozen=True, slots=True)
class CodeTry:
    """A try at the user's pending code, counted already."""

    address: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class PendingOAuth:
    """Who went to a provider, and the PKCE verifier."""

    user_id: str
    verifier: str


class VerificationStore(Protocol):
    """Verifications under way: one-time codes sent by mail, at most one per user; links to the verification bot;
    OAuth states."""

    async def add_code(self, user_id: str, address: str, digest: bytes, now: datetime) -> float | None:
        """Replaces the user's pending code. Seconds to wait when too many were sent, None when stored."""

    async def count_send(self, address: str, sender: str, now: datetime) -> float | None:
        """Counts a mail to an address, asked for by a sender. Seconds to wait when there were too many, else None."""

    async def try_code(self, user_id: str, now: datetime) -> CodeTry | None:
        """Counts a try and gives what to compare with; None when nothing is pending or it is used up."""

    async def take_code(self, user_id: str, digest: bytes) -> bool:
        """Removes the code; True for one caller only."""

    async def add_link(self, digest: bytes, user_id: str, expires_at: datetime) -> None: ...

    async def bind_link(self, digest: bytes, messenger_id: str, now: datetime) -> str | None:
        """Ties a link to who opened it first; its user, None when it is expired, used or another's."""

    async def take_bound_link(self, messenger_id: str, now: datetime) -> str | None:
        """Uses up what this messenger user opened; the user of the newest link."""

    async def take_link(self, digest: bytes, messenger_id: str, now: datetime) -> str | None:
        """Uses up a link; its user, None when it is expired, used or opened by somebody else."""

    async def add_state(
        self, digest: bytes, provider: Provider, pending: PendingOAuth, expires_at: datetime
    ) -> None: ...

    async def take_state(self, digest: bytes, provider: Provider, now: datetime) -> PendingOAuth | None:
        """Uses up a state; None when it is unknown, expired or another provider's."""


class MailFailed(Exception):
    """Mail was not taken. `refused`: this recipient will never be."""

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused


class Mailer(Protocol):
    async def send(self, recipient: str, subject: str, text: str) -> None:
        """Sends one mail, its text also as HTML; paragraphs are parted by empty lines. Raises `MailFailed`."""


class OAuthFailed(Exception):
    """The provider did not tell who the user is; the message holds no secret."""


@dataclass(frozen=True, slots=True)
class ProvenAccount:
    """An account at a platform. `email`: in lower case, empty unless the platform tells that it has verified it."""

    identity: Identity
    email: str


class OAuthProviders(Protocol):
    """The platforms where users prove their identity by signing in."""

    def authorize_url(
        self, provider: Provider, state: str, verifier: str, *, with_email: bool = False
    ) -> str:
        """Where the user's browser goes. `with_email`: the platform is asked for the e-mail address too."""

    async def identify(self, provider: Provider, code: str, verifier: str) -> ProvenAccount:
        """Exchanges the code for the user's account. Raises `OAuthFailed`."""


class VerificationBot(Protocol):
    """The messenger bot that asks users to share their contact."""

    def deep_link(self, token: str) -> str: ...

    def read(self, headers: Mapping[str, str], body: bytes) -> BotMessage | None:
        """Proves and reads a call of the platform; None for what does not concern us.

        Raises `Unauthenticated`, `Invalid`.
        """

    async def ask_for_contact(self, chat_id: str, text: str) -> None:
        """Best effort: a failure is logged."""

    async def say(self, chat_id: str, text: str) -> None:
        """Best effort: a failure is logged."""
