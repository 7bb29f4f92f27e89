"""The one door to WebSockets outside."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol


class ConnectionClosed(Exception):
    """The connection is closed, or does not answer any more; `code` is the one that the other side gave, else 0."""

    def __init__(self, code: int) -> None:
        super().__init__(f"it was closed with {code}")
        self.code = code


class WebSocket(Protocol):
    """An open connection. Pings of the other side are answered, and it is pinged itself."""

    async def receive(self) -> str | bytes:
        """The next message. Raises `ConnectionClosed`."""
        ...

    async def send(self, message: str) -> None:
        """Raises `ConnectionClosed`."""
        ...

    async def close(self, code: int = 1000) -> None: ...


@dataclass(frozen=True, slots=True)
class Handshake:
    """How a connection is opened. `user_address`: the address was given by a user, so the outbound address policy
    applies to it. `heartbeat`: seconds between two pings, None for none."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    user_address: bool = False
    heartbeat: float | None = 20.0


class WebSockets(Protocol):
    def open(self, handshake: Handshake) -> AbstractAsyncContextManager[WebSocket]:
        """Opens a connection, which ends with the block. Raises `ports.http.HttpFailed`."""
        ...
