"""The WebSockets that a platform takes in tests: each says what it is told to, and keeps what it hears."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from aiohttp import WSMsgType, web


class Peer:
    """One connection, which may be told what to say from any thread."""

    def __init__(self, react: Callable[[Peer, dict[str, Any]], None] | None = None) -> None:
        self.react = react
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.log: list[dict[str, Any]] = []
        self.closed = asyncio.Event()
        self._frames: asyncio.Queue[dict[str, Any] | str | int] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    def say(self, frame: dict[str, Any] | str | int) -> None:
        """An object, a text that is sent as it is, or the number with which the connection is closed."""
        self._loop.call_soon_threadsafe(self._frames.put_nowait, frame)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        saying = asyncio.create_task(self._say(socket))
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self.log.append(message.json())
                    self.heard.put_nowait(message.json())
                    if self.react:
                        self.react(self, message.json())
        finally:
            saying.cancel()
            self.closed.set()
        return socket

    async def _say(self, socket: web.WebSocketResponse) -> None:
        while True:
            frame = await self._frames.get()
            if isinstance(frame, int):
                await socket.close(code=frame)
                return
            if isinstance(frame, str):
                await socket.send_str(frame)
            else:
                await socket.send_json(frame)


class Peers:
    """The connections that a platform took: `new` gives each once, `all` those in order; `most_open`: so many were
    open at the same time."""

    def __init__(self) -> None:
        self.new: asyncio.Queue[Peer] = asyncio.Queue()
        self.all: list[Peer] = []
        self.most_open = 0

    @property
    def open(self) -> list[Peer]:
        return [peer for peer in self.all if not peer.closed.is_set()]

    async def take(
        self,
        request: web.Request,
        *greetings: dict[str, Any],
        react: Callable[[Peer, dict[str, Any]], None] | None = None,
    ) -> web.WebSocketResponse:
        """`greetings` are said at once; `react` is told of what is heard."""
        peer = Peer(react)
        for greeting in greetings:
            peer.say(greeting)
        self.all.append(peer)
        self.most_open = max(self.most_open, len(self.open))
        self.new.put_nowait(peer)
        return await peer.serve(request)
