"""One-time codes and tokens as they are stored: never in the clear. Pure."""

import base64
import hashlib
import hmac


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
