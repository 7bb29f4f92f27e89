"""WebSockets to servers that behave, and to those that do not."""

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from adapters.outbound.net import websockets
from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.websockets import AioWebSockets
from ports.http import AddressRefused, ConnectionClosed, Handshake, HttpFailed
from tests.support.platforms.websocket import Peers
from tests.support.servers import serving

OPEN = AioWebSockets(AddressPolicy.parse("open"))
PUBLIC = AioWebSockets(AddressPolicy.parse("public-only"))


class Server:
    def __init__(self) -> None:
        self.peers = Peers()
        self.paths: list[str] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(request.path)
        if request.path == "/redirect":
            raise web.HTTPFound("/socket")
        if request.path == "/refused":
            return web.Response(status=403)
        if request.path == "/page":
            return web.Response(text="hello")
        return await self.peers.take(request)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def url(server: Server) -> AsyncIterator[str]:
    async with serving(server.handle) as base:
        yield base.replace("http", "ws", 1)


async def test_messages_go_both_ways_until_it_is_closed(server: Server, url: str) -> None:
    async with OPEN.open(Handshake(f"{url}/socket")) as socket:
        peer = await server.peers.new.get()
        peer.say("Grüß Gott")
        assert await socket.receive() == "Grüß Gott"
        await socket.send('{"hello": 1}')
        assert await peer.heard.get() == {"hello": 1}
        peer.say(4004)
        with pytest.raises(ConnectionClosed) as closed:
            await socket.receive()
        assert closed.value.code == 4004
        with pytest.raises(ConnectionClosed):
            await socket.send("{}")
    await peer.closed.wait()


async def test_the_block_ends_the_connection(server: Server, url: str) -> None:
    async with OPEN.open(Handshake(f"{url}/socket")):
        peer = await server.peers.new.get()
        assert not peer.closed.is_set()
    await peer.closed.wait()


@pytest.mark.parametrize(("path", "words"), [("refused", "status 403"), ("page", "status 200")])
async def test_what_opens_no_connection_is_told(url: str, path: str, words: str) -> None:
    with pytest.raises(HttpFailed, match=words):
        async with OPEN.open(Handshake(f"{url}/{path}?ticket=secret")):
            pass


async def test_the_secret_of_an_address_is_not_told(url: str) -> None:
    with pytest.raises(HttpFailed) as failed:
        async with OPEN.open(Handshake(f"{url}/refused?ticket=secret")):
            pass
    assert "secret" not in str(failed.value)


async def test_a_redirect_is_not_followed(server: Server, url: str) -> None:
    with pytest.raises(HttpFailed, match="status 302"):
        async with OPEN.open(Handshake(f"{url}/redirect")):
            pass
    assert server.paths == ["/redirect"]


async def test_the_policy_applies_to_addresses_of_users_alone(server: Server, url: str) -> None:
    with pytest.raises(AddressRefused):
        async with PUBLIC.open(Handshake(f"{url}/socket", user_address=True)):
            pass
    with pytest.raises(AddressRefused):
        async with OPEN.open(Handshake("ws://169.254.169.254/", user_address=True)):
            pass
    async with PUBLIC.open(Handshake(f"{url}/socket")):
        assert server.paths == ["/socket"]


@pytest.mark.parametrize("address", ["ws://127.0.0.1:1/", "no address", "", "wss://"])
async def test_nobody_there(address: str) -> None:
    with pytest.raises(HttpFailed):
        async with OPEN.open(Handshake(address)):
            pass


async def test_a_message_that_is_too_large_ends_the_connection(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websockets, "MAX_FRAME", 1000)
    async with OPEN.open(Handshake(f"{url}/socket")) as socket:
        (await server.peers.new.get()).say("x" * 1001)
        with pytest.raises(ConnectionClosed):
            await socket.receive()


async def test_a_peer_that_does_not_answer_pings_is_left() -> None:
    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        key = next(line for line in head.splitlines() if line.lower().startswith(b"sec-websocket-key"))
        accept = _accept(key.split(b":")[1].strip())
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
        )
        await reader.read()
        writer.close()

    served = await asyncio.start_server(deaf, "127.0.0.1")
    port = served.sockets[0].getsockname()[1]
    async with served, OPEN.open(Handshake(f"ws://127.0.0.1:{port}/", heartbeat=0.02)) as socket:
        with pytest.raises(ConnectionClosed):
            await socket.receive()


def _accept(key: bytes) -> bytes:
    """RFC 6455, 1.3."""

    return base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
