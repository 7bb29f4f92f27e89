"""Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html) of pages."""

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AbstractContextManager, aclosing, suppress
from typing import Generic, TypeVar

from fastapi import Request, Response

from adapters.inbound.rest.asgi import Receive, Scope, Send
from domain.refusals import Refusal

RETRY_MS = 3000
"""After so long a client connects again."""
TEXT_EVENTS = {"text/event-stream": {"schema": {"type": "string"}}}

P = TypeVar("P")


class PageStream(Response, Generic[P]):
    """Writes `beginning`, then pages as they come; takes the next one once the peer has room for it.

    `frames` makes the pieces of a page; `opened` is entered while the stream is written.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        beginning: bytes,
        pages: AsyncGenerator[P, None],
        frames: Callable[[P], Iterable[bytes]],
        opened: AbstractContextManager[object],
    ) -> None:
        super().__init__(headers={"cache-control": "no-store, no-transform", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._beginning = b"retry: %d\n" % RETRY_MS + beginning
        self._pages = pages
        self._frames = frames
        self._opened = opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def write(body: bytes, *, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": body, "more_body": more})

        request = Request(scope, receive)
        with self._opened:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await write(self._beginning)
            with suppress(Refusal):  # the client connects again, and is told why
                async with aclosing(self._pages):
                    async for page in self._pages:
                        if await request.is_disconnected():
                            break
                        for frame in self._frames(page):
                            await write(frame)
            await write(b"", more=False)
