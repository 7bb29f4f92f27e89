"""The types of ASGI, and bodies within their limit."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def limited(receive: Receive, declared: str | None, limit: int) -> Receive:
    """`receive` for a body of `limit` bytes at most; `declared` is its Content-Length. Raises a 413."""
    _check_declared(declared, limit)
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise _too_large(limit)
        return message

    return counted


async def whole_body(receive: Receive, declared: str | None, limit: int) -> bytes:
    """Read a body of `limit` bytes at most; `declared` is its Content-Length. Raises a 413, and `ClientDisconnect` if
    the client leaves before the end."""
    _check_declared(declared, limit)
    pieces, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        pieces.append(piece)
        more = message.get("more_body", False)
    return b"".join(pieces)


def _check_declared(declared: str | None, limit: int) -> None:
    if declared and declared.isdigit() and int(declared) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> HTTPException:
    return HTTPException(413, f"the body is over {limit // 1024} KB")
