"""MCP servers made with the SDK, on the loopback interface."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import EmbeddedResource, ImageContent, ResourceLink, TextContent, TextResourceContents

from tests.support.ports import free_port

Message = MutableMapping[str, Any]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]


@dataclass
class Workshop:
    """A server with a bell, and what it was asked. `handshakes`: it knows the older versions of the protocol alone,
    which begin with a handshake and end sessions with DELETE."""

    handshakes: bool = False
    rung: list[int] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    ringing: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""

    def server(self) -> MCPServer[Any]:
        server: MCPServer[Any] = MCPServer("workshop")

        @server.tool(description="Rings the bell.")
        def ring(times: int) -> str:
            self.rung.append(times)
            return f"It rang {times} times."

        @server.tool(name="look up/now", description="d" * 5_000, structured_output=False)
        def look_up() -> str:
            return "x" * 50_000

        @server.tool()
        def measure() -> dict[str, int]:
            return {"bar": 5}

        @server.tool(structured_output=False)
        def fail() -> str:
            raise ToolError("The pump is broken.")

        @server.tool(structured_output=False)
        def show() -> list[Any]:
            text = TextResourceContents(uri="file:///a.txt", text="A page.")
            return [
                TextContent(text="Here:"),
                ImageContent(data="aGkh", mime_type="image/png"),
                ResourceLink(name="plan", uri="https://plans.example/1"),
                EmbeddedResource(resource=text),
            ]

        @server.tool(structured_output=False)
        def scan() -> list[Any]:
            return [ImageContent(data="aGkh" * 300_000, mime_type="image/png")]

        @server.tool(structured_output=False)
        async def hang() -> str:
            self.ringing.set()
            await asyncio.Event().wait()
            return "never"

        return server

    def app(self) -> App:
        inner = self.server().streamable_http_app(json_response=False)

        async def app(
            scope: Message,
            receive: Callable[[], Awaitable[Message]],
            send: Callable[[Message], Awaitable[None]],
        ) -> None:
            if scope["type"] != "http":
                await inner(scope, receive, send)
                return
            body, replayed = await _read(receive)
            method = json.loads(body)["method"] if body else ""
            self.requests.append((scope["method"], method))
            self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
            if self.handshakes and method == "server/discover":
                await _refuse(send)
                return
            await inner(scope, replayed, send)

        return app

    def count(self, method: str) -> int:
        """How often it was asked for a method of the protocol."""
        return sum(named == method for _, named in self.requests)


async def _read(
    receive: Callable[[], Awaitable[Message]],
) -> tuple[bytes, Callable[[], Awaitable[Message]]]:
    messages = [await receive()]
    while messages[-1].get("more_body"):
        messages.append(await receive())
    body, rest = b"".join(message.get("body", b"") for message in messages), iter(messages)

    async def replayed() -> Message:
        return next(rest, None) or await receive()

    return body, replayed


async def _refuse(send: Callable[[Message], Awaitable[None]]) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def mcp_serving(workshop: Workshop) -> AsyncIterator[Workshop]:
    """Serves it on a free port, at `url`."""
    port = free_port()
    config = uvicorn.Config(workshop.app(), "127.0.0.1", port, log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        assert not serving.done(), serving.exception()
        await asyncio.sleep(0.01)
    workshop.url = f"http://127.0.0.1:{port}/mcp"
    try:
        yield workshop
    finally:
        server.should_exit = True
        await serving


@contextmanager
def mcp_serving_apart(workshop: Workshop) -> Iterator[Workshop]:
    """As `mcp_serving`, on a loop in a thread of its own, for a caller that blocks."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    serving = mcp_serving(workshop)
    try:
        yield asyncio.run_coroutine_threadsafe(serving.__aenter__(), loop).result(30)
    finally:
        asyncio.run_coroutine_threadsafe(serving.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
