"""The column of navigation, the addresses of conversations, and the events that refresh parts of pages."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from domain.events import RESET, EventKind
from domain.refusals import NotFound


@dataclass(frozen=True, slots=True)
class Item:
    """A page in the navigation; `icon` names a shape of parts.html. `admin`: shown to admins alone."""

    title: str
    path: str
    icon: str
    admin: bool = False

    def is_here(self, path: str) -> bool:
        """Return True if `path` is this page or one below it."""
        return path == self.path or (self.path != "/console" and path.startswith(f"{self.path}/"))


SECTIONS: tuple[tuple[str, tuple[Item, ...]], ...] = (
    (
        "Messages",
        (
            Item("Overview", "/console", "overview"),
            Item("Inbox", "/console/inbox", "inbox"),
            Item("Problems", "/console/problems", "problems"),
        ),
    ),
    (
        "Bots",
        (
            Item("Channels", "/console/channels", "channels"),
            Item("Try it", "/console/try", "try"),
            Item("Knowledge", "/console/knowledge", "knowledge"),
        ),
    ),
    (
        "Settings",
        (
            Item("My identities", "/console/identities", "identities"),
            Item("My passkeys", "/console/passkeys", "passkeys"),
            Item("Invitations", "/console/invitations", "invitations", admin=True),
            Item("API keys", "/console/keys", "keys"),
            Item("Event subscriptions", "/console/subscriptions", "subscriptions"),
            Item("Schedules", "/console/schedules", "schedules"),
            Item("Resources", "/console/resources", "resources"),
            Item("Doctor", "/console/doctor", "doctor", admin=True),
        ),
    ),
)


INBOX = "/console/inbox"
CODED = "~"
"""Prefix of a session id that stands in an address as base64url of its UTF-8: senders choose any characters."""
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


CONVERSATION_KINDS = (
    EventKind.MESSAGE_RECEIVED,
    EventKind.MESSAGE_ANSWERED,
    EventKind.MESSAGE_FAILED,
    EventKind.DELIVERY_SENT,
    EventKind.DELIVERY_DEAD,
    EventKind.CONFIRMATION_ASKED,
    EventKind.CONFIRMATION_DECIDED,
    EventKind.CONVERSATION_HANDLER,
    EventKind.CONVERSATION_CHANGED,
    EventKind.CONVERSATION_NOTE,
)
"""Kinds that tell of conversations."""

TOGETHER_MS = 50
"""Events come in batches: so long a part waits for further ones before it fetches itself."""


def live_trigger(kinds: tuple[str, ...]) -> str:
    """The value of `hx-trigger` for a part that shows what these events tell. Beside it stands
    `hx-sync="this:queue last"`: events that come while the part is being fetched have it fetched once more. What is
    swapped is its content, not the part itself: an element that is gone fetches nothing more. Links in it have ids,
    by which htmx gives the focus back."""
    return ", ".join(f"live:{kind} from:body delay:{TOGETHER_MS}ms" for kind in (*kinds, RESET))
