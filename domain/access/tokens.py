"""The tokens of API keys, sessions and sign-in links. Pure."""

import hashlib

from domain.access.model import KeyKind

KEY_PREFIX, SESSION_PREFIX, LINK_PREFIX = "sb_", "sbs_", "sbl_"
KINDS = {KEY_PREFIX: KeyKind.KEY, SESSION_PREFIX: KeyKind.SESSION, LINK_PREFIX: KeyKind.LINK}
SHOWN = 8


def digest(token: str) -> bytes:
    """What is stored of a token: its SHA-256. Tokens hold 256 random bits, so no salt or stretching is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def kind_of(token: str) -> KeyKind | None:
    return next((kind for prefix, kind in KINDS.items() if token.startswith(prefix)), None)


def sign_in_address(agent_url: str, link: str) -> str:
    """Where a sign-in link leads."""
    return f"{agent_url.rstrip('/')}/console/sign-in?link={link}"


def shown(token: str) -> str:
    """The first characters, by which people know it again."""
    return token[: token.index("_") + 1 + SHOWN]
