"""A messaging account's linked device."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


class DeviceError(Exception):
    """The device or the messaging service refused or failed, in its own words.

    `before_sending`: what was to be sent surely did not go out.
    """

    def __init__(self, message: str, *, before_sending: bool = False) -> None:
        super().__init__(message)
        self.before_sending = before_sending


@dataclass(frozen=True, slots=True)
class Linked:
    """The connection is up and the account is linked."""


@dataclass(frozen=True, slots=True)
class Unlinked:
    """The connection is up, and no account is linked: a pairing code can be asked for."""


@dataclass(frozen=True, slots=True)
class Dropped:
    reason: str


@dataclass(frozen=True, slots=True)
class LoggedOut:
    reason: str


@dataclass(frozen=True, slots=True)
class Media:
    """A file in a message; `ref` is what `download` needs, as JSON."""

    name: str
    mime_type: str
    ref: Mapping[str, Any]
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message. `sender_ids` are all ids known of the sender (phone number first), digits where they are
    numbers; `at` in epoch seconds."""

    id: str
    chat: str
    sender_ids: Sequence[str]
    name: str
    text: str
    at: float
    from_me: bool = False
    is_group: bool = False
    media: Sequence[Media] = field(default_factory=tuple)
    album: str = ""


DeviceEvent = Linked | Unlinked | Dropped | LoggedOut | Incoming


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A file to be sent natively; the device's process reads it from `path`."""

    path: Path
    name: str
    mime_type: str


class LinkedDevice(Protocol):
    """One device. Raises `DeviceError`."""

    async def connect(self) -> None:
        """Begins to connect; what comes of it is an event."""
        ...

    async def pair(self, phone: str) -> str:
        """A code to be entered in the account's app."""
        ...

    async def logout(self) -> None:
        """Unlinks the account where it is linked, and forgets the stored state."""
        ...

    async def send(self, chat: str, text: str, file: OutgoingFile | None, message_id: str) -> str:
        """The id of the message sent. `message_id` is the same at every try."""
        ...

    async def typing(self, chat: str) -> None:
        """Shows in a chat, for about ten seconds, that somebody is writing."""
        ...

    async def download(self, ref: Mapping[str, Any], to: Path) -> None: ...

    def events(self) -> AsyncIterator[DeviceEvent]:
        """Ends with the device."""
        ...

    async def close(self) -> None:
        """Ends the connection; the stored state stays."""
        ...


class LinkedDevices(Protocol):
    """The devices of this process."""

    def missing(self) -> str | None:
        """What this installation lacks for linked devices, None when nothing."""
        ...

    async def open(self, instance_id: int) -> LinkedDevice:
        """Starts the device of an instance, with its stored state. Raises `DeviceError`."""
        ...

    def running(self, instance_id: int) -> LinkedDevice | None:
        """The device of an instance, while it runs in this process."""
        ...

    async def stored(self) -> Sequence[int]:
        """The instances of which there is stored state."""
        ...

    async def forget(self, instance_id: int) -> None:
        """Removes the stored state of an instance whose device does not run."""
        ...
