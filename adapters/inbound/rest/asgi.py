"""The types of ASGI, and the limit of bodies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def limited(receive: Receive, declared: str | None, limit: int) -> Receive:
    """`receive` for a body of `limit` bytes at most; `declared` is its Content-Length. Raises a 413."""
    if declared and declared.isdigit() and int(declared) > limit:
        raise _too_large(limit)
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            raise _too_large(limit)
        return message

    return counted


def _too_large(limit: int) -> HTTPException:
    return HTTPException(413, f"the body is over {limit // 1024} KB")
