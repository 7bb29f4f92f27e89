"""Addresses of conversations. Strangers choose session ids: any characters, one to thousands of them."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from domain.refusals import NotFound

INBOX = "/console/inbox"
CODED = "~"
"""What a session id begins with that stands in an address as base64url of its UTF-8."""
_PLAIN = re.compile(r"[A-Za-z0-9_:@+=,-][A-Za-z0-9_:@+=,.-]{0,199}")
"""Ids that browsers and proxies leave alone in a path: no slashes, no `..`."""


def conversation_path(instance_id: int, session_id: str) -> str:
    """Where the console shows a conversation."""
    if _PLAIN.fullmatch(session_id):
        return f"{INBOX}/{instance_id}/{session_id}"
    coded = urlsafe_b64encode(session_id.encode("utf-8", "surrogatepass")).decode().rstrip("=")
    return f"{INBOX}/{instance_id}/{CODED}{coded}"


def session_of(segment: str) -> str:
    """The session id of such an address; one that is merely percent-encoded is taken too. Raises `NotFound`."""
    if not segment.startswith(CODED):
        return segment
    coded = segment.removeprefix(CODED)
    try:
        return urlsafe_b64decode(coded + "=" * (-len(coded) % 4)).decode("utf-8", "surrogatepass")
    except ValueError:
        raise NotFound("there is no conversation at this address") from None
