"""What an instance says of itself to its panel, and who signed visitors are."""

from datetime import UTC, datetime

import jwt

from domain.refusals import Unauthenticated
from domain.web_chat.model import SignedIdentity, Site

from .config import WebChatConfig, origins_of

LONGEST_SUBJECT = 200
LONGEST_TOKEN = 4000
_CLAIMS = ("sub", "exp")


def site(config: WebChatConfig) -> Site:
    return Site(
        origins=origins_of(config.allowed_origins),
        title=config.title,
        greeting=config.greeting,
        colour=config.colour,
        secret=config.identity_secret,
    )


def identified(config: WebChatConfig, token: str, now: datetime) -> SignedIdentity:
    """Reads a JSON Web Token of the site's backend. Raises `Unauthenticated`."""
    if not config.identity_secret:
        raise Unauthenticated("this chat takes no signed identities: its instance has no identitySecret")
    try:
        claims = jwt.decode(
            token[: LONGEST_TOKEN + 1],
            config.identity_secret,
            algorithms=["HS256"],
            options={"require": list(_CLAIMS), "verify_exp": False, "verify_iat": False, "verify_aud": False},
        )
        expires = datetime.fromtimestamp(int(claims["exp"]), UTC)
    except (jwt.InvalidTokenError, ValueError, OverflowError, OSError, TypeError):
        raise Unauthenticated("the signed identity is not valid; load the page again") from None
    if expires <= now:
        raise Unauthenticated("the signed identity has expired; load the page again")
    subject, name, email = (_text(claims.get(claim)) for claim in ("sub", "name", "email"))
    if not subject or len(subject) > LONGEST_SUBJECT or not subject.isprintable():
        raise Unauthenticated(f"the signed identity needs a sub of 1 to {LONGEST_SUBJECT} characters")
    return SignedIdentity(subject, name[:LONGEST_SUBJECT], email[:LONGEST_SUBJECT])


def _text(claim: object) -> str:
    return claim.strip() if isinstance(claim, str) else ""
