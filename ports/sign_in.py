"""Sign-in of people: the OpenID provider, and the store of sign-ins under way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from domain.access.model import Invitation, Passkey, Role


class SignInFailed(Exception):
    """The provider did not prove who signs in; the message is for the person, and holds no secret."""


@dataclass(frozen=True, slots=True)
class ProvenPerson:
    """What the provider says of a person. `email`: in lower case, empty unless the provider has verified it.
    `groups`: None where it says nothing of groups. `id_token` is what a sign-out there needs."""

    subject: str
    email: str
    name: str
    groups: frozenset[str]
    id_token: str


class OpenIdProvider(Protocol):
    """The provider of the installation. All methods raise `Unavailable` where it does not answer."""

    async def authorize_url(self, state: str, nonce: str, verifier: str) -> str:
        """Where the browser goes."""
        ...

    async def identify(self, code: str, nonce: str, verifier: str) -> ProvenPerson:
        """Exchanges the code. Raises `SignInFailed`."""
        ...

    async def sign_out_url(self, id_token: str) -> str:
        """Where the browser goes to sign out there too; empty where the provider has no such page."""
        ...


class SignInStore(Protocol):
    """Sign-ins under way, each taken once, and accounts of users at the provider."""

    async def begin(self, kind: str, digest: bytes, data: Mapping[str, str], expires_at: datetime) -> None:
        """Stores, encrypted, what is needed when the browser comes back."""
        ...

    async def take(self, kind: str, digest: bytes, now: datetime) -> Mapping[str, str] | None:
        """Removes it; None where it is unknown, expired, or of another kind."""
        ...

    async def user_of(self, issuer: str, subject: str) -> str | None: ...

    async def has_account(self, issuer: str, user_id: str) -> bool:
        """Return True if the user has an account at this issuer already."""
        ...

    async def tie(self, issuer: str, subject: str, user_id: str) -> None:
        """Notes that the account is this user's."""
        ...

    async def untie(self, user_id: str) -> int:
        """Forgets the accounts of a user; how many."""
        ...

    async def keep_token(self, session_id: int, token: str) -> None:
        """Stores the ID token of a session, encrypted."""
        ...

    async def token_of(self, session_id: int) -> str | None: ...


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """`digest`: of the token in its link."""

    digest: bytes
    email: str
    role: Role
    team_ids: tuple[int, ...]
    created_by: str
    expires_at: datetime


class InvitationStore(Protocol):
    """Invitations; only hashes of tokens come in here. Open ones are neither accepted nor expired."""

    async def add(self, new: NewInvitation, now: datetime) -> Invitation:
        """Ends open invitations of the same address."""
        ...

    async def find(self, digest: bytes, now: datetime) -> Invitation | None: ...

    async def of_email(self, email: str, now: datetime) -> Invitation | None: ...

    async def list(self, after: int, limit: int) -> Sequence[Invitation]:
        """Those with ids over `after`, ordered by id."""
        ...

    async def accept(self, invitation_id: int, user_id: str, now: datetime) -> bool:
        """True for one caller, while it is open."""
        ...

    async def remove(self, invitation_id: int) -> bool:
        """False where none of this id waits to be accepted."""
        ...


@dataclass(frozen=True, slots=True)
class NewPasskey:
    user_id: str
    credential_id: bytes
    public_key: bytes
    sign_count: int
    name: str = ""


class Authenticator(Protocol):
    """Proves what browsers say of passkeys (WebAuthn). Methods that prove raise `SignInFailed`."""

    def registration(self, user_id: str, known: Sequence[bytes]) -> tuple[bytes, str]:
        """The challenge, and the options for a browser as JSON. `known`: passkeys that the user has."""
        ...

    def registered(self, credential: str, challenge: bytes) -> NewPasskey:
        """What was made, without its user and name."""
        ...

    def proof(self, known: Sequence[bytes]) -> tuple[bytes, str]:
        """The challenge, and the options as JSON. `known`: passkeys that will do; empty for any."""
        ...

    def credential_id(self, credential: str) -> bytes:
        """The passkey that answers."""
        ...

    def proved(self, credential: str, challenge: bytes, passkey: Passkey) -> int:
        """How often the passkey says that it was used."""
        ...


class PasskeyStore(Protocol):
    async def add(self, new: NewPasskey, now: datetime) -> Passkey | None:
        """Returns no passkey if it is known already."""
        ...

    async def find(self, credential_id: bytes) -> Passkey | None: ...

    async def of_user(self, user_id: str) -> Sequence[Passkey]:
        """Ordered by id."""
        ...

    async def used(self, passkey_id: int, sign_count: int, now: datetime) -> None: ...

    async def remove(self, user_id: str, passkey_id: int) -> bool: ...

    async def remove_all(self, user_id: str) -> int: ...
