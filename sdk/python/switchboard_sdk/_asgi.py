"""The little of ASGI that an agent needs: reading a bounded body, writing JSON and server-sent events."""

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]


class Disconnected(Exception):
    """The caller went away before its request was complete."""


class TooLarge(Exception):
    """The body is over the limit."""


def header(scope: Scope, name: str) -> str:
    """The first header of this name (lower case), empty for none."""
    values = (value for key, value in scope["headers"] if key == name.encode())
    return next(values, b"").decode("latin-1")


async def read_body(scope: Scope, receive: Receive, most: int) -> bytes:
    """Raises `TooLarge`, `Disconnected`."""
    length = header(scope, "content-length")
    if length.isdecimal() and (len(length) > 18 or int(length) > most):
        raise TooLarge
    body = bytearray()
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise Disconnected
        body += event.get("body", b"")
        if len(body) > most:
            raise TooLarge
        if not event.get("more_body"):
            return bytes(body)


async def send_json(
    send: Send, status: int, body: bytes = b"", headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """A whole answer."""
    described = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    described = described if body else []
    await send({"type": "http.response.start", "status": status, "headers": [*described, *headers]})
    await send({"type": "http.response.body", "body": body})


async def begin_events(send: Send) -> None:
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def send_piece(send: Send, piece: bytes, *, last: bool = False) -> None:
    await send({"type": "http.response.body", "body": piece, "more_body": not last})


def event(data: bytes) -> bytes:
    """`data` is one line."""
    return b"data: " + data + b"\n\n"


def dumps(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
