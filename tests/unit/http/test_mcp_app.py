"""The MCP endpoint beside the rest of the gateway: what passes it by, and how a call ends early."""

import asyncio
import json
from typing import Any

import pytest

from adapters.inbound.mcp.app import McpApp
from adapters.inbound.rest.routing import Gateway, GatewayOptions
from domain.access.model import Caller

MODES = {
    "older": ([], {}),
    "newer": (
        [
            (b"mcp-protocol-version", b"2026-07-28"),
            (b"mcp-method", b"tools/call"),
            (b"mcp-name", b"list_knowledge_bases"),
        ],
        {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        },
    ),
}


class Hanging:
    """Use cases whose lists never end."""

    def __init__(self) -> None:
        self.bases = self
        self.asked = asyncio.Event()
        self.cancelled = False

    async def list(self, caller: Caller) -> Any:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled = True


class Connection:
    """One request with its body, and what came back."""

    def __init__(self, body: bytes | None, path: str = "/mcp", headers: Any = ()) -> None:
        self.scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": b"",
            "headers": [
                (b"content-type", b"application/json"),
                (b"accept", b"application/json, text/event-stream"),
                *headers,
            ],
            "state": {"caller": Caller("ann")},
        }
        self._body = body
        self.sent: list[Any] = []

    async def receive(self) -> Any:
        if self._body is None:
            return {"type": "http.disconnect"}
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Any) -> None:
        self.sent.append(message)


def app_over(use_cases: Any, beside: Any = None) -> McpApp:
    unused: Any = None
    options = GatewayOptions("http://localhost", "", 2**20, 2**20, lambda _: None, {}, unused)
    return McpApp(beside, Gateway(use_cases, unused, unused, options))


@pytest.mark.parametrize("path", ["/", "/mcp2", "/mcp/x", "/api/agent/mcp", "/mcp\n"])
async def test_all_other_paths_are_handed_on(path: str) -> None:
    handed: list[str] = []

    async def beside(scope: Any, receive: Any, send: Any) -> None:
        handed.append(scope["path"])

    connection = Connection(b"{}", path)
    await app_over(None, beside)(connection.scope, connection.receive, connection.send)

    assert (handed, connection.sent) == ([path], [])


@pytest.mark.parametrize("mode", MODES)
async def test_a_stop_of_the_server_ends_a_tool_that_hangs(mode: str) -> None:
    headers, meta = MODES[mode]
    params = {"name": "list_knowledge_bases", "arguments": {}, **({"_meta": meta} if meta else {})}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    use_cases, connection = Hanging(), Connection(body, headers=headers)
    app = app_over(use_cases)

    task = asyncio.create_task(app(connection.scope, connection.receive, connection.send))
    done, _ = await asyncio.wait(
        [task, asyncio.create_task(use_cases.asked.wait())], return_when=asyncio.FIRST_COMPLETED
    )
    assert task not in done, connection.sent
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert use_cases.cancelled
    assert connection.sent == []


async def test_a_client_that_goes_before_its_body_is_whole_gets_nothing() -> None:
    connection = Connection(None)

    await app_over(None)(connection.scope, connection.receive, connection.send)

    assert connection.sent == []
