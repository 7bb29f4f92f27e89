"""`ports.http.WebSockets` on aiohttp."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import connector, failure
from adapters.outbound.net.urls import safe_url
from ports.http import ConnectionClosed, Handshake, HttpFailed, HttpRequest

CONNECT_SECONDS = 30.0
MAX_FRAME = 16 * 1024 * 1024
CLOSE_SECONDS = 0.5
"""How long the other side may take to answer the closing of a connection."""


@dataclass(frozen=True, slots=True)
class AioWebSockets:
    """A connection pool for each connection: they last, and are few."""

    policy: AddressPolicy

    @asynccontextmanager
    async def open(self, handshake: Handshake) -> AsyncIterator[AioWebSocket]:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
        tracing = aiohttp.TraceConfig()
        tracing.on_request_redirect.append(_refuse_redirect)
        async with aiohttp.ClientSession(
            connector=connector(self.policy if handshake.user_address else None),
            timeout=timeout,
            trace_configs=[tracing],
        ) as session:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    socket = await session.ws_connect(
                        handshake.url,
                        headers=handshake.headers,
                        heartbeat=handshake.heartbeat,
                        max_msg_size=MAX_FRAME,
                        timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS),
                    )
            except aiohttp.WSServerHandshakeError as error:
                words = f"{safe_url(handshake.url)} answers with status {error.status}"
                raise HttpFailed(words, before_request=False) from None
            except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
                request = HttpRequest("GET", handshake.url, timeout=CONNECT_SECONDS)
                raise failure(error, request, sent=False) from None
            try:
                yield AioWebSocket(socket)
            finally:
                await socket.close()


async def _refuse_redirect(_: object, __: object, redirect: aiohttp.TraceRequestRedirectParams) -> None:
    """Another address is not the one that the credentials are meant for."""
    response = redirect.response
    raise aiohttp.WSServerHandshakeError(response.request_info, response.history, status=response.status)


@dataclass(frozen=True, slots=True)
class AioWebSocket:
    socket: aiohttp.ClientWebSocketResponse

    async def receive(self) -> str | bytes:
        message = await self.socket.receive()
        if message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            content: str | bytes = message.data
            return content
        raise ConnectionClosed(self.socket.close_code or 0)

    async def send(self, message: str) -> None:
        try:
            await self.socket.send_str(message)
        except ConnectionError:
            raise ConnectionClosed(self.socket.close_code or 0) from None

    async def close(self, code: int = 1000) -> None:
        await self.socket.close(code=code)
