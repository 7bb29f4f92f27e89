"""The events of a linked device, the files that it sends, and its failures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class DeviceError(Exception):
    """The device or the messaging service refused or failed, in its own words.

    `before_sending`: the message surely did not go out.
    """

    def __init__(self, message: str, *, before_sending: bool = False) -> None:
        super().__init__(message)
        self.before_sending = before_sending


@dataclass(frozen=True, slots=True)
class Linked:
    """The connection is up and the account is linked."""


@dataclass(frozen=True, slots=True)
class Unlinked:
    """The connection is up, and no account is linked: a pairing code can be requested."""


@dataclass(frozen=True, slots=True)
class Dropped:
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LoggedOut:
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Media:
    """A file in a message; `ref` is what `download` needs, as JSON."""

    name: str
    mime_type: str
    ref: Mapping[str, Any]
    size: int | None = None
    is_voice: bool = False


@dataclass(frozen=True, slots=True)
class Original:
    """A message that was replied to. `author` is the number of who wrote it."""

    author: str
    text: str
    media: Sequence[Media] = ()


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message. `sender_ids` are all known ids of the sender (phone number first), digits where they are
    numbers; `at` in epoch seconds. `context` as in `Event`; `unreadable` is how a notice calls
    the kind of a message that cannot be read."""

    id: str
    chat: str
    sender_ids: Sequence[str]
    name: str
    text: str
    at: float
    from_me: bool = False
    is_group: bool = False
    media: Sequence[Media] = ()
    album: str = ""
    original: Original | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    unreadable: str = ""


DeviceEvent = Linked | Unlinked | Dropped | LoggedOut | Incoming


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A file to be sent; the device's process reads it from `path`."""

    path: Path
    name: str
    mime_type: str
