"""A platform for tests: an HTTP server on loopback that checks every request and fails when told to."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl

from aiohttp import web

from tests.support.servers import serving
from tests.support.waiting import let_pass

T = TypeVar("T")
AN_AGE = 3600.0
"""Seconds after which nobody waits for an answer any more."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it arrived; header names are lower-case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))


@dataclass(frozen=True, slots=True)
class Reply:
    """What the platform answers; `json` wins over `body`."""

    status: int = 200
    json: Any = None
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Wrong(Exception):
    """The request is not one that the real platform would take."""


Step = Callable[[web.Request], Any]


class StandIn:
    """Answers by `answer`, which a platform overrides; `next_reply`, `hang` and `drop` come first.

    A request that `answer` refuses with `Wrong` is kept in `faults`, so that a test cannot miss it.
    """

    def __init__(self) -> None:
        self.url = ""
        self.seen: list[Seen] = []
        self.faults: list[str] = []
        self.gone: set[str] = set()
        """Ids of messages that were deleted."""
        self._steps: deque[Step] = deque()

    @classmethod
    @asynccontextmanager
    async def run(cls, *args: Any, **options: Any) -> AsyncIterator[Self]:
        """Serves on a free port until the block ends; then fails if a request was wrong."""
        platform = cls(*args, **options)
        async with platform.serve():
            yield platform
        assert not platform.faults, platform.faults

    @asynccontextmanager
    async def serve(self, port: int = 0) -> AsyncIterator[None]:
        """Serves on a port, 0 for a free one, until the block ends."""
        async with serving(self.handle, port=port) as url:
            self.url = url
            yield

    def answer(self, seen: Seen) -> Reply:
        """The platform's own answer. Raises `Wrong`."""
        raise NotImplementedError

    def visible(self) -> dict[str, str]:
        """What people see of the bot's messages, by id, in order."""
        raise NotImplementedError

    def next_reply(self, status: int, json: Any = None, *, body: bytes = b"", **headers: str) -> None:
        """Answers the next request so, whatever it is; header names are written with underscores."""
        reply = Reply(status, json, body, {name.replace("_", "-"): value for name, value in headers.items()})
        self._steps.append(lambda _: reply)

    async def unanswered(self, call: Coroutine[Any, Any, T]) -> T:
        """What becomes of a call whose request arrives and is left without an answer, however long that lasts."""
        before = len(self.seen)
        self.hang()
        calling = asyncio.ensure_future(call)
        while len(self.seen) == before and not calling.done():
            await asyncio.sleep(0.001)
        let_pass(AN_AGE)
        return await calling

    def hang(self) -> None:
        """Leaves the next request without an answer."""
        self._steps.append(self._hang)

    def drop(self) -> None:
        """Takes the next request and closes the connection without an answer."""
        self._steps.append(self._drop)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        seen = Seen(request.method, request.path, dict(request.query), headers, body)
        self.seen.append(seen)
        if self._steps:
            outcome = self._steps.popleft()(request)
            reply = await outcome if asyncio.iscoroutine(outcome) else outcome
        else:
            reply = self._checked(seen)
        if reply.json is not None:
            return web.json_response(reply.json, status=reply.status, headers=reply.headers)
        return web.Response(status=reply.status, body=reply.body, headers=reply.headers)

    def _checked(self, seen: Seen) -> Reply:
        try:
            return self.answer(seen)
        except (Wrong, LookupError, TypeError, ValueError, AttributeError) as error:
            self.faults.append(f"{seen.method} {seen.path}: {error}")
            return Reply(400, {"error": str(error)})

    async def _hang(self, request: web.Request) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError(request)

    async def _drop(self, request: web.Request) -> Reply:
        assert request.transport is not None
        request.transport.close()
        return Reply()


def expect(condition: object, message: str) -> None:
    """Raises `Wrong` unless the condition holds."""
    if not condition:
        raise Wrong(message)
