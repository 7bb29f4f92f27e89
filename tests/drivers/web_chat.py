"""Browsers with the web chat: they open sessions, write, and read streams, as the panel does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any
from uuid import uuid4

import httpx

from adapters.outbound.channels.web_chat.tests.samples import text_of
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.waiting import until

ORIGIN = "https://www.example.com"


class Page:
    """A page of a site, which shows the chat of an instance."""

    def __init__(self, rest: Rest, public_id: str, origin: str | None = ORIGIN, address: str = "") -> None:
        self.rest = rest
        self.base = f"/api/agent/web-chat/{public_id}"
        self.origin = origin
        self.address = address
        self.visitor = ""
        self.last: httpx.Response | None = None

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = self.headers() | options.pop("headers", {})
        self.last = self.rest.request(method, self.base + path, headers=headers, **options)
        return self.last

    def headers(self) -> dict[str, str]:
        given = {"origin": self.origin, "x-forwarded-for": self.address}
        named = {name: value for name, value in given.items() if value}
        return named | ({"authorization": f"Bearer {self.visitor}"} if self.visitor else {})

    def open(self, identity: str = "") -> dict[str, Any]:
        """The answer to the session that is opened."""
        answer = self.call("POST", "/session", json={"visitor": self.visitor, "identity": identity})
        body: dict[str, Any] = answer.json()
        self.visitor = body.get("visitor", self.visitor)
        return body

    def write(self, text: str, id: str = "", **more: Any) -> httpx.Response:
        return self.call("POST", "/messages", json={"id": id or str(uuid4()), "text": text, **more})

    def stream(self, world: World, after: int = 0) -> Stream:
        return Stream(world, self.rest.app, f"{self.base}/stream", f"after={after}", self.headers())


class Stream:
    """What a stream shows: messages by their ids in the order in which they came, and the events themselves.

    `takes` False: the reader does not take anything, as one with a full window.
    """

    def __init__(
        self, world: World, app: Any, path: str, query: str, headers: Mapping[str, str], *, takes: bool = True
    ) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.messages: dict[str, dict[str, Any]] = {}
        self.cursor = 0
        self.body = b""
        self.ended = False
        self._world = world
        self._gone = asyncio.Event()
        self._taking = asyncio.Event()
        if takes:
            self._taking.set()
        self._buffer = b""
        self._running: Future[None] = world.begin(self._run(app, _scope(path, query, headers)))

    async def _run(self, app: Any, scope: dict[str, Any]) -> None:
        asked = False

        async def receive() -> dict[str, Any]:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await self._gone.wait()
            return {"type": "http.disconnect"}

        try:
            await app(scope, receive, self._sent)
        finally:
            self.ended = True

    async def _sent(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        await self._taking.wait()
        self.body += message.get("body", b"")
        self._buffer += message.get("body", b"")
        *blocks, self._buffer = self._buffer.split(b"\n\n")
        for block in blocks:
            self._take(block.decode())

    def _take(self, block: str) -> None:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if "event" in fields:
            data = json.loads(fields["data"])
            self.events.append((fields["event"], data))
            if fields["event"] == "message":
                self.messages[data["id"]] = data
            elif fields["event"] == "removed":
                self.messages.pop(data["id"], None)
            elif fields["event"] == "cleared":
                self.messages.clear()
        self.cursor = int(fields.get("id", self.cursor))

    @property
    def texts(self) -> list[str]:
        """What stands in the panel: who wrote, and what."""
        return [f"{message['from']}: {text_of(message['content']).strip()}" for message in self.shown()]

    def shown(self) -> Sequence[dict[str, Any]]:
        return list(self.messages.values())

    def wait_for(self, *texts: str) -> None:
        until(lambda: self.texts == list(texts), f"the panel shows {texts}")

    def begun(self) -> Stream:
        until(lambda: self.ended or self.body.count(b"\n\n") > 1, "the stream begins")
        return self

    def take(self) -> None:
        """The reader takes what comes, from now on."""
        self._world.run(self._begin_taking())

    async def _begin_taking(self) -> None:
        self._taking.set()

    def leave(self) -> None:
        self._world.run(self._leave())

    async def _leave(self) -> None:
        self._gone.set()
        self._taking.set()
        self._running.cancel()


def _scope(path: str, query: str, headers: Mapping[str, str]) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 50_000),
        "server": ("localhost", 3011),
    }
