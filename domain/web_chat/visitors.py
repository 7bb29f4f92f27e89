"""Visitor tokens: who writes, signed by the service and kept by the panel. Pure."""

import hashlib
import json
from datetime import datetime

from domain.instances.model import Instance
from domain.refusals import Unauthenticated
from domain.web_chat.model import TOKEN_HOURS, SignedIdentity, Site, Visitor
from ports.web_chat import TokenSigner

OVER = "this chat session is over; load the page again"
LONGEST_TOKEN = 4000


def anonymous(token: str) -> Visitor:
    """A visitor nobody knows, of that random token."""
    return Visitor(f"v-{token}")


def signed(identity: SignedIdentity, now: datetime) -> Visitor:
    expires = int(now.timestamp()) + TOKEN_HOURS * 3600
    return Visitor(f"u-{identity.subject}", identity.name, identity.email, expires)


def token_of(signer: TokenSigner, instance: Instance, site: Site, visitor: Visitor) -> str:
    """That of a signed identity is void once the site's secret is another."""
    return signer.sign(_content(instance, site, visitor))


def visitor_of(signer: TokenSigner, instance: Instance, site: Site, token: str, now: datetime) -> Visitor:
    """Raises `Unauthenticated` for a token that is forged, over, or of another instance."""
    payload = signer.read(token) if len(token) <= LONGEST_TOKEN else None
    if payload is None:
        raise Unauthenticated(OVER)
    visitor = Visitor(*json.loads(payload)[2:])
    is_over = visitor.expires and visitor.expires <= now.timestamp()
    if is_over or payload != _content(instance, site, visitor):
        raise Unauthenticated(OVER)
    return visitor


def _content(instance: Instance, site: Site, visitor: Visitor) -> bytes:
    secret = hashlib.sha256(site.secret.encode()).hexdigest()[:16] if visitor.expires else ""
    member = [instance.id, secret, visitor.session_id, visitor.name, visitor.email, visitor.expires]
    return json.dumps(member, separators=(",", ":")).encode()
