"""Peers that are slow, and peers that are too many: what they are told, and that others get in all the same."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from adapters.inbound.rest.protocol import LARGEST_DISCARD, RESERVED, HttpProtocol, Limits
from apps.http_gateway.server import HttpComponent
from apps.settings_loading import load

HEAD = b"POST /x HTTP/1.1\r\nHost: x\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Reads the body and answers."""
    while (message := await receive()).get("more_body"):
        pass
    if message["type"] != "http.disconnect":
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})


class NoSocket:
    """What a system says of a socket that is none."""

    def fileno(self) -> int:
        return 1_000_000

    def getpeername(self) -> tuple[str, int]:
        return "127.0.0.1", 1

    getsockname = getpeername


class Connection(asyncio.Transport):
    """A connection that keeps what is written to it; `unsent` is what its peer has yet to take."""

    def __init__(self) -> None:
        super().__init__({"socket": NoSocket()})
        self.written = b""
        self.closed = False
        self.unsent = 0

    def write(self, data: Any) -> None:
        self.written += data

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    abort = close

    def pause_reading(self) -> None:
        return

    resume_reading = pause_reading


class Peer:
    """A connection of a protocol with limits, and what its peer sees of it. Time passes by `seconds`."""

    def __init__(self, state: ServerState, **limits: int) -> None:
        self.transport = Connection()
        self.protocol = HttpProtocol(
            Config(app, log_config=None), state, {}, limits=Limits(**{**LIMITS, **limits})
        )
        self.protocol.connection_made(self.transport)

    def sends(self, data: bytes) -> None:
        if not self.transport.closed:
            self.protocol.data_received(data)

    def seconds(self, count: int, each: bytes = b"") -> None:
        """Time passes; `each` comes in every second."""
        for _ in range(count):
            if each:
                self.sends(each)
            self.protocol.tick()

    @property
    def closed(self) -> bool:
        return self.transport.closed

    @property
    def status(self) -> str:
        return self.transport.written.partition(b" ")[2][:3].decode()


LIMITS = {"connections": 100, "head_seconds": 10, "stall_seconds": 20}
GET = b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n"
UPLOAD = HEAD + b"Content-Length: 100000000\r\n\r\n"


@pytest.fixture
async def state() -> AsyncIterator[ServerState]:
    state = ServerState()
    yield state
    for task in state.tasks:
        task.cancel()
    await asyncio.gather(*state.tasks, return_exceptions=True)


async def settled(state: ServerState) -> None:
    """Lets the application do what it can."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize("trickle", [b"", b"a"])
async def test_a_head_that_does_not_come_in_time_is_refused(state: ServerState, trickle: bytes) -> None:
    peer = Peer(state)
    peer.sends(HEAD + b"X: ")
    peer.seconds(10, trickle)
    assert not peer.closed
    peer.seconds(1, trickle)
    assert (peer.closed, peer.status) == (True, "408")
    assert (
        b'{"error":"the address and headers of the request did not come in time"}' in peer.transport.written
    )


async def test_a_connection_on_which_nothing_is_asked_is_closed(state: ServerState) -> None:
    peer = Peer(state)
    peer.seconds(11)
    assert (peer.closed, peer.transport.written) == (True, b"")


async def test_the_head_of_a_later_request_has_the_same_time(state: ServerState) -> None:
    peer = Peer(state)
    peer.sends(GET)
    await settled(state)
    assert peer.status == "204"
    peer.transport.written = b""
    peer.seconds(100)
    assert not peer.closed  # idle: the time of keep-alive counts, not that of a head
    peer.sends(HEAD)
    peer.seconds(11)
    assert (peer.closed, peer.status) == (True, "408")


@pytest.mark.parametrize("trickle", [b"", b"a", b"a" * 499])
@pytest.mark.parametrize("begin", [UPLOAD, UPLOAD + b"a" * 5000, CHUNKED + b"ffffff\r\n"])
async def test_a_body_that_stalls_is_refused(state: ServerState, begin: bytes, trickle: bytes) -> None:
    peer = Peer(state)
    peer.sends(begin)
    for _ in range(45):
        await settled(state)
        peer.seconds(1, trickle)
    assert (peer.closed, peer.status) == (True, "408")
    assert b"at least 500 bytes per second" in peer.transport.written


async def test_a_long_upload_over_a_slow_line_is_taken(state: ServerState) -> None:
    peer = Peer(state)
    peer.sends(HEAD + b"Content-Length: 600000\r\n\r\n")
    for _ in range(1000):
        await settled(state)
        peer.seconds(1, b"a" * 600)
    await settled(state)
    assert (peer.closed, peer.status) == (False, "204")


async def test_a_peer_that_waits_for_us_is_not_too_slow(state: ServerState) -> None:
    peer = Peer(state)
    peer.protocol.app = stuck
    peer.sends(HEAD + b"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n")
    peer.seconds(100)
    other = Peer(state)
    other.protocol.app = stuck
    other.sends(UPLOAD + b"a" * 100_000)
    other.seconds(100)
    assert not peer.closed
    assert not other.closed


async def test_an_answer_takes_as_long_as_it_takes(state: ServerState) -> None:
    peer = Peer(state)
    peer.protocol.app = stuck
    peer.sends(GET)
    await settled(state)
    peer.seconds(1000)
    assert not peer.closed


async def stuck(scope: Any, receive: Any, send: Any) -> None:
    """Neither reads nor answers."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()


@pytest.mark.parametrize("taken", [0, 100])
async def test_a_peer_that_does_not_take_its_answer_is_cut_off(state: ServerState, taken: int) -> None:
    peer = Peer(state)
    peer.sends(GET)
    await settled(state)
    peer.transport.unsent = 1_000_000
    for _ in range(61):
        peer.transport.unsent -= taken
        peer.seconds(1)
    assert peer.closed


async def test_a_slow_download_goes_on(state: ServerState) -> None:
    peer = Peer(state)
    peer.sends(GET)
    await settled(state)
    peer.transport.unsent = 1_000_000
    while peer.transport.unsent > 0:
        peer.transport.unsent -= 1000
        peer.seconds(1)
    assert not peer.closed


async def test_of_too_many_connections_the_one_that_was_idle_for_longest_goes(
    state: ServerState,
) -> None:
    peers = [Peer(state, connections=10) for _ in range(10)]
    for peer in peers:
        peer.sends(HEAD)
    late = Peer(state, connections=10)
    late.sends(GET)
    await settled(state)
    assert late.status == "204"
    assert [peer.closed for peer in peers] == [True] + [False] * 9


async def test_of_too_many_connections_one_whose_body_does_not_come_goes(state: ServerState) -> None:
    peers = [Peer(state, connections=10) for _ in range(10)]
    for peer in peers[:5]:
        peer.protocol.app = stuck
        peer.sends(GET)
    for peer in peers[5:]:
        peer.sends(UPLOAD)
        await settled(state)
        peer.seconds(1, b"a" * (1000 if peer is peers[5] else 1))
        peer.seconds(1, b"a" * (1000 if peer is peers[5] else 1))
    for work, status in ((stuck, ""), (stuck, ""), (stuck, ""), (app, "204")):
        late = Peer(state, connections=10)
        late.protocol.app = work
        late.sends(GET)
        await settled(state)
        assert (late.status, late.closed) == (status, False)
    assert [peer.closed for peer in peers] == [False] * 6 + [True] * 4
    assert {peer.status for peer in peers[6:]} == {"408"}


async def test_with_all_connections_at_work_only_health_is_answered(state: ServerState) -> None:
    for _ in range(10):
        peer = Peer(state, connections=10)
        peer.protocol.app = stuck
        peer.sends(GET)
    await settled(state)
    health, other = Peer(state, connections=10), Peer(state, connections=10)
    health.sends(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    other.sends(GET)
    await settled(state)
    assert health.status == "204"
    assert (other.status, other.closed) == ("503", True)
    assert b"retry-after: 1" in other.transport.written
    more = [Peer(state, connections=10) for _ in range(2 * RESERVED)]
    assert sum(not peer.closed for peer in [health, *more]) <= RESERVED
    assert not more[-1].closed


async def test_a_body_is_read_on_for_a_while_after_its_request_was_refused(state: ServerState) -> None:
    peer = Peer(state)
    peer.protocol.app = refusing
    peer.sends(UPLOAD)
    await settled(state)
    assert (peer.status, peer.closed) == ("403", False)
    sent = 0
    while not peer.closed:
        peer.sends(b"a" * 100_000)
        sent += 100_000
        assert sent <= LARGEST_DISCARD + 100_000


async def test_a_refused_peer_that_waits_for_100_continue_sends_no_body(state: ServerState) -> None:
    peer = Peer(state)
    peer.protocol.app = refusing
    peer.sends(HEAD + b"Expect: 100-continue\r\nContent-Length: 100000000\r\n\r\n")
    await settled(state)
    assert (peer.status, peer.closed) == ("403", True)
    assert b"100 Continue" not in peer.transport.written


async def test_of_requests_at_once_the_one_that_is_answered_is_told_of_the_end(state: ServerState) -> None:
    told = []

    async def waiting(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        told.append((await receive())["type"])
        await send({"type": "http.response.start", "status": 204, "headers": []})

    peer = Peer(state)
    peer.protocol.app = waiting
    peer.sends(GET * 3)
    await settled(state)
    peer.transport.close()
    peer.protocol.connection_lost(None)
    await settled(state)
    assert told == ["http.disconnect"]
    assert peer.transport.written == b""


async def test_a_refusal_is_not_mixed_into_the_answer_to_a_request_before(state: ServerState) -> None:
    async def begun(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        await stuck(scope, receive, send)

    peer = Peer(state)
    peer.protocol.app = begun
    peer.sends(GET)
    await settled(state)
    peer.sends(GET + b"no HTTP\r\n\r\n")
    assert peer.closed
    assert peer.transport.written.endswith(b"begun")


async def refusing(scope: Any, receive: Any, send: Any) -> None:
    """Answers without a look at the body."""
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


async def test_half_sent_heads_do_not_keep_others_out() -> None:
    """Through real sockets: 60 connections that never finish their head, where 20 are allowed."""
    listener = socket.create_server(("127.0.0.1", 0))
    part = HttpComponent(app, listener, load({"HTTP_MAX_CONNECTIONS": "20", "HTTP_HEAD_TIMEOUT": "2"}, None))
    await part.start()
    running = asyncio.create_task(part.run())
    port = listener.getsockname()[1]
    halves = []
    for _ in range(60):
        halves.append(await asyncio.open_connection("127.0.0.1", port))
        halves[-1][1].write(HEAD)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (await asyncio.wait_for(reader.read(), 60)).startswith(b"HTTP/1.1 204 ")
    writer.close()
    ends = [await asyncio.wait_for(_end(reader), 60) for reader, _ in halves]
    assert any(end.startswith(b"HTTP/1.1 408 ") for end in ends)
    for _, writer in halves:
        writer.close()
    await part.stop()
    await running


async def _end(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""
