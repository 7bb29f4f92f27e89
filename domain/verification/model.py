"""Identities, one-time codes, and the normal forms of addresses and phone numbers."""

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from domain import limits
from domain.channels.messages import Identity
from domain.refusals import Fault, Invalid


class Provider(StrEnum):
    """How an identity can be verified; in the order in which providers are listed."""

    BOT_MESSENGER = "bot-messenger"
    EMAIL = "email"
    WORKSPACE_CHAT = "workspace-chat"
    GAMING_CHAT = "gaming-chat"
    COMMUNITY_CHAT = "community-chat"
    ENTERPRISE_CHAT = "enterprise-chat"


OAUTH_PROVIDERS = (
    Provider.WORKSPACE_CHAT,
    Provider.GAMING_CHAT,
    Provider.COMMUNITY_CHAT,
    Provider.ENTERPRISE_CHAT,
)
UNLISTED = frozenset({Provider.ENTERPRISE_CHAT})
"""Providers that are listed only where they are set up: the contract names the others alone."""


@dataclass(frozen=True, slots=True)
class BotLink:
    """The link that opens the verification bot, good for one user and one use."""

    address: str
    expires_in_seconds: int
    message: str


@dataclass(frozen=True, slots=True)
class CodeSent:
    """A one-time code is on its way."""

    expires_in_seconds: int
    message: str


@dataclass(frozen=True, slots=True)
class OAuthResult:
    """How a redirect from a provider ended; `message` is for the user's eyes."""

    success: bool
    message: str


@dataclass(frozen=True, slots=True)
class BotMessage:
    """What the verification bot was told. `link_token` came with /start; `phone` with a contact, and
    `own_contact` says whether it is the sender's own."""

    sender_id: str
    chat_id: str
    link_token: str | None = None
    phone: str | None = None
    own_contact: bool = False


def code_digest(secret: bytes, user_id: str, address: str, code: str) -> bytes:
    """A six-digit code is quickly guessed from a plain hash, so it is keyed with a secret of the server."""
    text = f"{user_id}\x00{address}\x00{code}"
    return hmac.new(secret, text.encode("utf-8", "replace"), hashlib.sha256).digest()


def same(one: bytes, other: bytes) -> bool:
    """Compares in constant time."""
    return hmac.compare_digest(one, other)


def token_digest(token: str) -> bytes:
    """Tokens hold 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def challenge(verifier: str) -> str:
    """The PKCE code challenge of a verifier, method S256 (RFC 7636, 4.2)."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")


SERVICE_ONLY = "this call needs the internal service key"
CODE_DIGITS = 6
CODE_LIFE = timedelta(seconds=600)
CODE_TRIES = 5
SENDS_PER_HOUR = 5
"""Codes that go to one address in an hour."""
SENDS_PER_USER = 20
"""Codes that one user asks for in an hour, whatever the addresses."""
LINK_LIFE = timedelta(seconds=300)
STATE_LIFE = timedelta(seconds=600)

PHONE_FIELDS = frozenset({"phone", "business-messaging"})

_EMAIL = re.compile(r"[^\s@<>()\[\],;:\\\"\x00-\x1f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_PHONE_MARKS = re.compile(r"[\s().\-/\u00a0]")
_PHONE = re.compile(r"[1-9]\d{6,14}")


def normal(identity: Identity) -> str:
    """The form in which values are compared: phones as E.164 digits, e-mail addresses in lower case."""
    if identity.field in PHONE_FIELDS:
        return phone_digits(identity.value) or identity.value.strip()
    if identity.field == "email":
        return identity.value.strip().lower()
    return identity.value.strip()


def phone_digits(value: str) -> str | None:
    """Returns the E.164 digits of a number with its country code, or None."""
    digits = _PHONE_MARKS.sub("", value)
    digits = digits.removeprefix("+") if digits.startswith("+") else digits.removeprefix("00")
    return digits if _PHONE.fullmatch(digits) and digits.isascii() else None


def checked_email(value: str) -> str:
    """The address, lower-case. Raises `Invalid`."""
    address = value.strip().lower()
    if len(address) > limits.EMAIL or not _EMAIL.fullmatch(address) or ".." in address:
        raise Invalid.of([Fault("email", "must be a mail address such as ann@example.com")])
    return address


def checked_code(value: str) -> str:
    """The one-time code. Raises `Invalid`."""
    code = value.strip()
    if len(code) != CODE_DIGITS or not (code.isascii() and code.isdigit()):
        raise Invalid.of([Fault("otp", f"must be the {CODE_DIGITS} digits of the code that was sent")])
    return code


def check_identity(identity: Identity) -> None:
    """Raises `Invalid` for an identity that none can be: too long, or with a NUL character."""
    texts = (("field", identity.field, limits.CHANNEL_ID), ("value", identity.value, limits.IDENTITY_VALUE))
    faults = [Fault(name, fault) for name, text, most in texts if (fault := limits.text_fault(text, most))]
    if faults:
        raise Invalid.of(faults)


def check_token(token: str) -> None:
    """Raises `Invalid` for a text that is too long for the token of a link."""
    if fault := limits.text_fault(token, limits.LINK_TOKEN):
        raise Invalid.of([Fault("token", fault)])


def bot_identities(messenger_id: str, phone: str) -> tuple[Identity, ...]:
    """The three identities that a shared contact proves. Raises `Invalid`."""
    digits = phone_digits(phone)
    faults = []
    if digits is None:
        faults.append(Fault("phone", "must be a phone number with its country code"))
    if not re.fullmatch(r"[0-9]{1,20}", messenger_id):
        faults.append(Fault("bot_messenger_id", "must be the messenger's numeric user id"))
    if faults or digits is None:
        raise Invalid.of(faults)
    return (
        Identity("phone", f"+{digits}"),
        Identity("bot-messenger", messenger_id),
        Identity("business-messaging", digits),
    )
