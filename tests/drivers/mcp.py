"""The SDK's own client of MCP, over HTTP, to gateways with and without a database."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from adapters.outbound.core_client.callbacks import RemoteCallbacks
from apps.http_gateway.main import build_remote_gateway
from apps.http_gateway.server import HttpComponent
from apps.processes.starting import listen
from domain.access.model import Role
from tests.drivers.served import ServedWorld
from tests.drivers.ways import PatientCore
from tests.drivers.world import PATIENCE
from tests.support.ports import free_port

T = TypeVar("T")


class McpWorld(ServedWorld):
    """A service whose MCP clients may send, and a gateway without a database, at `remote_url`, whose may not."""

    def __init__(self, dsn: str, data_dir: Path, **settings: str) -> None:
        super().__init__(dsn, data_dir, MCP_SEND="true", **settings)
        self._remote_port = free_port()
        self.remote_url = f"http://127.0.0.1:{self._remote_port}"

    async def _start(self, worker: bool) -> None:
        await super()._start(worker)
        core = PatientCore(f"127.0.0.1:{self.grpc.port}")
        callbacks = RemoteCallbacks(core)
        self.at_end += [callbacks.close, core.close]
        silent = self.settings.model_copy(update={"mcp_send": False})
        listener = listen("127.0.0.1", self._remote_port, "HTTP_PORT")
        part = HttpComponent(build_remote_gateway(silent, core, callbacks), listener, silent)
        await part.start()
        self.parts.append(part)
        self._tasks.append(asyncio.create_task(part.run()))


class McpClient:
    """Connects anew for each question. `mode`: how the versions of the protocol are agreed upon."""

    def __init__(self, world: ServedWorld, url: str, mode: str) -> None:
        self.world = world
        self.url = f"{url}/mcp"
        self._mode = mode

    def asked(self, user: str, question: Callable[[Client], Awaitable[T]]) -> T:
        """What a client with a user's key gets; that of "admin" is an admin's."""
        key = self.world.key_of(user, Role.ADMIN if user == "admin" else Role.MEMBER)
        return self.with_key(key, question)

    def with_key(self, key: str, question: Callable[[Client], Awaitable[T]]) -> T:
        async def ask() -> T:
            headers = {"Authorization": f"Bearer {key}"}
            async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE, verify=False) as http:
                transport = streamable_http_client(self.url, http_client=http)
                async with Client(transport, mode=self._mode) as client:
                    try:
                        return await question(client)
                    except MCPError as error:  # the client wraps what leaves it into groups
                        refused = error
            raise refused

        return self.world.run(ask())

    def call(self, user: str, tool: str, **arguments: object) -> CallToolResult:
        return self.asked(user, lambda client: client.call_tool(tool, arguments))
