"""Verification of external identities."""

from dataclasses import dataclass
from enum import StrEnum


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
