"""The types of ASGI, bodies within their limit, headers of answers, and work that ends when the caller hangs up."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable, MutableMapping
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from domain.refusals import Unavailable

T = TypeVar("T")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PRIVATE_PATHS = re.compile(r"/api/agent(?:/.*)?|/mcp", re.DOTALL)
"""Paths whose answers are for the caller alone."""
PRIVATE_HEADERS = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


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


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The outcome of the work, which ends when the caller hangs up: then this raises `Unavailable`. The body of
    the request must have been read."""

    async def hung_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, gone = asyncio.create_task(work), asyncio.create_task(hung_up())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Unavailable("the caller hung up")
        return task.result()
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


def checked_headers(
    status: int, path: str, headers: Iterable[tuple[bytes, bytes]]
) -> list[tuple[bytes, bytes]]:
    """The headers as an answer of this path may have them: no answer of the API is kept by a cache or read as another
    type, and one without a body says nothing of a body (RFC 9110, 8.6)."""
    bodiless = (b"content-type", b"content-length") if status == 204 else ()
    kept = [header for header in headers if header[0] not in bodiless]
    if not PRIVATE_PATHS.fullmatch(path):
        return kept
    kept = [(name, value) for name, value in kept if name != b"cache-control" or b"no-store" in value]
    names = {name for name, _ in kept}
    return kept + [header for header in PRIVATE_HEADERS if header[0] not in names]


class ResponseRecorder:
    """Notes the status on its way out and adds the request id."""

    def __init__(self, send: Send, request_id: str, path: str) -> None:
        self._send = send
        self._request_id = request_id.encode()
        self._path = path
        self.started = False
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            self.status = message["status"]
            headers = checked_headers(self.status, self._path, message.get("headers", []))
            message = {**message, "headers": [*headers, (b"x-request-id", self._request_id)]}
        await self._send(message)
