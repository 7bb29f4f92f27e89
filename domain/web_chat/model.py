"""The web chat: what its visitors write and see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from urllib.parse import urlsplit

from domain.channels.messages import Identity
from domain.instances.model import Instance

LONGEST_TEXT = 10_000
"""Characters of a visitor's message."""
MOST_FILE_BYTES = 5 * 1024 * 1024
"""Of all files of one message of a visitor."""
MOST_FILES = 10
LATEST = 200
"""Messages with which a stream begins."""
TOKEN_HOURS = 24
"""How long a visitor token is valid that was made from a signed identity."""

Nodes = Sequence[object]
"""A text for people as a tree: each node is a text, or a list of a tag, its attributes, and nodes."""


@dataclass(frozen=True, slots=True)
class Site:
    """What an instance says of itself: the web pages that may show it, and how its panel looks. `secret` signs who
    the visitors are, empty where nobody does."""

    origins: frozenset[str] = frozenset()
    title: str = ""
    greeting: str = ""
    colour: str = ""
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SignedIdentity:
    """Who a visitor is, as the site's backend signed it."""

    subject: str
    name: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who writes. `expires`: seconds since the epoch, 0 for an anonymous visitor."""

    session_id: str
    name: str = ""
    email: str = ""
    expires: int = 0

    @property
    def identities(self) -> tuple[Identity, ...]:
        return (Identity("email", self.email),) if self.email else ()


@dataclass(frozen=True, slots=True)
class ChatSession:
    """The answer to a panel that opens: the visitor's token, and how the panel looks."""

    visitor: str
    title: str
    greeting: str
    colour: str
    max_file_bytes: int
    max_text_length: int


@dataclass(frozen=True, slots=True)
class VisitorFile:
    """A file of a visitor's message."""

    name: str
    mime_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class VisitorMessage:
    """What a visitor writes. `id` is the client's, the same for every try; `choice` the value of a pressed button."""

    id: str
    text: str = ""
    choice: str = ""
    files: tuple[VisitorFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatPlace:
    """One conversation of the web chat."""

    instance_id: int
    session_id: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message as the panel shows it: `body` has `from`, `content`, `files` and `choices`. `draft`: it is still
    being made."""

    id: str
    body: Mapping[str, object]
    draft: bool = False


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message with its place in the order of changes. `body` None: it was removed."""

    id: str
    version: int
    at: datetime
    draft: bool
    body: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class ChatPage:
    """The changes of a conversation up to `cursor`, in order; an empty page is a keep-alive. `cleared`: all earlier
    messages are deleted. `typing_seconds`: for how long the typing indicator is still shown."""

    messages: Sequence[StoredMessage]
    cursor: int
    cleared: bool = False
    typing_seconds: float = 0.0


def public_id(instance: Instance) -> str:
    """The id by which web pages name an instance. It follows from what never changes of it, and cannot be guessed, as
    nobody else knows the microsecond in which it was created."""
    seed = f"web-chat {instance.id} {instance.user_id} {instance.created_at.timestamp():.6f}"
    return f"{instance.id}-{sha256(seed.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}"


def embed_tag(agent_url: str, instance: Instance) -> str:
    """The tag that shows the panel in a web page."""
    return f'<script src="{agent_url}/web-chat.js" data-instance="{public_id(instance)}" async></script>'


def own_origin(agent_url: str) -> str:
    """The origin of the service's own pages."""
    parts = urlsplit(agent_url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def plain_nodes(text: str) -> list[object]:
    """A text as it was typed."""
    nodes: list[object] = []
    for number, line in enumerate(text.split("\n")):
        if number:
            nodes.append(["br", {}])
        if line:
            nodes.append(line)
    return [["p", {}, *nodes]] if text.strip() else []
