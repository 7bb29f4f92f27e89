"""The other sides of a bot in one light process: who writes to it, its resource, and the platform with its replies.

Every message carries its number in its text, the resource repeats it, and so does the reply.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import re
import time
from collections import deque
from collections.abc import Callable
from typing import Any

NUMBER = re.compile(rb"number (\d+) ")
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
REPLIES = (b"sendMessage", b"chat.postMessage")
TEXT = "How do I change the address on my order? "
SENT = (
    b'{"ok":true,"result":{"message_id":%(id)d,"id":123456,"is_bot":true,"first_name":"b","username":"bench_bot",'
    b'"date":1763700000,"chat":{"id":1,"type":"private"},"text":"x"},"channel":"D1","ts":"1763700000.%(id)09d",'
    b'"user_id":"U0BOT","team_id":"T1","message":{"text":"x","ts":"1763700000.%(id)09d"}}'
)
"""The answer to a reply, whose id no other one has."""


def response(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


PACED_CONNECTIONS = 512
"""Enough for what is not acknowledged while a bot stands still for a moment."""


class Exchange:
    """`make` gives the request of a message's number; `replied` are the times of replies by number, `twice` the
    numbers of all messages so far that were answered more than once."""

    def __init__(self, make: Callable[[int], bytes]) -> None:
        self._make = make
        self._free: deque[_Sender] = deque()
        self._address = ("", 0)
        self._left = iter(range(0))
        self._follows = False
        self._ids = itertools.count(1)
        self._all = asyncio.Event()
        self._count = 0
        self.sent: dict[int, float] = {}
        self.replied: dict[int, float] = {}
        self.twice: set[int] = set()

    async def serve(self) -> int:
        """The port of the resource and the platform."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Stub(self), "127.0.0.1", 0)
        port: int = server.sockets[0].getsockname()[1]
        return port

    async def at_once(self, count: int, in_flight: int) -> None:
        """So many messages at a time: the next one follows each reply."""
        self._begin(count)
        self._follows = True
        for _ in range(min(in_flight, count)):
            self._send()
        await self._finished()

    async def paced(self, count: int, rate: float) -> None:
        """One message every 1/rate seconds, whatever became of the earlier ones."""
        self._begin(count)
        self._follows = False
        began = time.perf_counter()
        for number in range(count):
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            self._send()
        await self._finished()

    async def connect(self, port: int, connections: int) -> None:
        """To the bot, before it is measured: it may have to take more connections than messages."""
        loop = asyncio.get_running_loop()
        self._free.clear()
        for _ in range(connections):
            _, sender = await loop.create_connection(lambda: _Sender(self._free), "127.0.0.1", port)
            self._free.append(sender)

    def _begin(self, count: int) -> None:
        first = random.randrange(10**9)
        self.sent, self.replied, self._count = {}, {}, count
        self._left = iter(range(first, first + count))
        self._all.clear()

    async def _finished(self) -> None:
        async with asyncio.timeout(60):
            await self._all.wait()
        while self._free:
            self._free.popleft().close()

    def _send(self) -> None:
        number = next(self._left, None)
        if number is None:
            return
        self.sent[number] = time.perf_counter()
        self._free.popleft().send(self._make(number))

    def take(self, head: bytes, body: bytes) -> bytes:
        """The answer to a request of the bot."""
        line = head[: head.index(b"\r\n")]
        if b"/run" in line:
            found = NUMBER.search(body)
            assert found is not None
            return response(b'{"text":"number %s %s"}' % (found[1], TEXT.encode() * 5))
        if any(each in line for each in REPLIES) and (found := NUMBER.search(body.replace(b"+", b" "))):
            self._reply(int(found[1]))
        return response(SENT % {b"id": next(self._ids)})

    def _reply(self, number: int) -> None:
        if number not in self.sent:
            return
        if number in self.replied:
            self.twice.add(number)
            return
        self.replied[number] = time.perf_counter()
        if len(self.replied) == self._count:
            self._all.set()
        elif self._follows:
            asyncio.get_running_loop().call_soon(self._send_next)

    def _send_next(self) -> None:
        if self._free:
            self._send()
        else:  # the reply came before the acknowledgement
            asyncio.get_running_loop().call_later(0.001, self._send_next)


class _Messages(asyncio.Protocol):
    """Cuts what arrives into messages of HTTP."""

    transport: asyncio.Transport
    _buffer = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end]
            length = LENGTH.search(head)
            whole = end + 4 + (int(length[1]) if length else 0)
            if len(self._buffer) < whole:
                return
            body, self._buffer = self._buffer[end + 4 : whole], self._buffer[whole:]
            self.came(head, body)

    def came(self, head: bytes, body: bytes) -> None:
        raise NotImplementedError


class _Stub(_Messages):
    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def came(self, head: bytes, body: bytes) -> None:
        self.transport.write(self._exchange.take(head + b"\r\n", body))


class _Sender(_Messages):
    def __init__(self, free: deque[_Sender]) -> None:
        self._free = free

    def send(self, request: bytes) -> None:
        self.transport.write(request)

    def came(self, head: bytes, body: bytes) -> None:
        if b" 200 " not in head[:20]:
            raise SystemExit(f"a bot of the bench answered {head!r} {body!r}")
        self._free.append(self)

    def close(self) -> None:
        self.transport.close()
