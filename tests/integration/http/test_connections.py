"""Connections of the shared HTTP client: kept, limited, and never trusted beyond the answer that was asked for."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from adapters.outbound.http.client import AioHttp
from adapters.outbound.http.policy import AddressPolicy
from adapters.outbound.http.wire import Connection
from ports.http import HttpAnswer, HttpFailed, HttpRequest
from tests.support.servers import listening, serving

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy("open"), max_connections=2)
    yield client
    await client.close()


class Raw:
    """Answers the requests of each connection with these bytes, one after the other, then closes it."""

    def __init__(self, *connections: Sequence[bytes]) -> None:
        self._connections = list(connections)
        self.requests: list[list[bytes]] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers = self._connections.pop(0) if len(self._connections) > 1 else self._connections[0]
        seen: list[bytes] = []
        self.requests.append(seen)
        try:
            for answer in answers:
                seen.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client left first
        finally:
            writer.close()


@asynccontextmanager
async def answering(*connections: Sequence[bytes]) -> AsyncIterator[tuple[str, Raw]]:
    raw = Raw(*connections)
    async with listening(raw) as port:
        yield f"http://127.0.0.1:{port}", raw


async def test_a_connection_is_kept_for_the_next_exchange(http: AioHttp) -> None:
    async with answering([OK] * 3) as (base, raw):
        for _ in range(3):
            assert (await http.send(HttpRequest("GET", base))).body == b"ok"

    assert [len(seen) for seen in raw.requests] == [3]


async def _cancelled_as_it_comes(http: AioHttp, base: str) -> None:
    wake = Connection._wake

    def cancelling(connection: Connection) -> None:
        wake(connection)
        task.cancel()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connection, "_wake", cancelling)
        task = asyncio.create_task(http.send(HttpRequest("POST", base)))
        with pytest.raises(asyncio.CancelledError):
            await task


async def _too_large(http: AioHttp, base: str) -> None:
    with pytest.raises(HttpFailed, match="over 1 bytes"):
        await http.send(HttpRequest("POST", base, max_bytes=1))


async def _only_its_head(http: AioHttp, base: str) -> None:
    def leave(_: HttpAnswer) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        async for _ in http.stream(HttpRequest("POST", base, on_head=leave)):
            pass


@pytest.mark.parametrize("leave", [_cancelled_as_it_comes, _too_large, _only_its_head])
async def test_what_nobody_read_of_an_answer_is_not_the_beginning_of_the_next(
    http: AioHttp, leave: Callable[[AioHttp, str], Awaitable[None]]
) -> None:
    async with answering([OK] * 2) as (base, _):
        await leave(http, base)
        assert (await http.send(HttpRequest("POST", base))).body == b"ok"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_what_may_be_repeated_is_sent_again_where_a_kept_connection_was_closed(
    http: AioHttp, method: str
) -> None:
    async with answering([OK, b""], [OK]) as (base, raw):
        for _ in range(2):
            assert (await http.send(HttpRequest(method, base))).ok

    assert [len(seen) for seen in raw.requests] == [2, 1]


async def test_a_post_is_never_sent_twice(http: AioHttp) -> None:
    async with answering([OK, b""], [OK]) as (base, raw):
        await http.send(HttpRequest("POST", base))
        with pytest.raises(HttpFailed, match="broke the connection") as caught:
            await http.send(HttpRequest("POST", base))

    assert not caught.value.before_request
    assert [len(seen) for seen in raw.requests] == [2]


@pytest.mark.parametrize(
    "first",
    [
        OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ],
    ids=["more than was asked for", "connection: close", "HTTP/1.0"],
)
async def test_a_connection_of_which_more_may_come_is_not_kept(http: AioHttp, first: bytes) -> None:
    async with answering([first, OK], [OK]) as (base, raw):
        bodies = []
        for _ in range(2):
            try:
                bodies.append((await http.send(HttpRequest("GET", base))).body)
            except HttpFailed:
                bodies.append(b"refused")

    assert set(bodies) <= {b"ok", b"refused"}
    assert bodies[1] == b"ok"
    assert len(raw.requests) == 2


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK, b"ok"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, b"ok"),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", b"until the end"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n", b"ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", b""),
    ],
    ids=["hints", "continue", "no length", "trailers", "no content", "not modified"],
)
async def test_each_kind_of_answer_is_read(http: AioHttp, answer: bytes, body: bytes) -> None:
    async with answering([answer]) as (base, _):
        assert (await http.send(HttpRequest("GET", base))).body == body


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=" + b"y" * 1_000_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n" + b"X: y\r\n" * 100_000,
        b"HTTP/1.1 200 OK\r\n" + b"X: yyyyyyyyyyyyyyyyyyy\r\n" * 100_000,
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ids=["chunk extension", "trailers", "head", "upgrade", "not packed", "two lengths"],
)
async def test_what_is_no_answer_is_a_failure(http: AioHttp, answer: bytes) -> None:
    async with answering([answer]) as (base, _):
        with pytest.raises(HttpFailed) as caught:
            await http.send(HttpRequest("POST", base, json={}))

    assert not caught.value.before_request


@pytest.mark.parametrize("kind", ["gzip", "deflate", "bare deflate"])
async def test_a_packed_body_is_unpacked_no_further_than_its_reader_wants(http: AioHttp, kind: str) -> None:
    text = b"x" * 3_000_000
    bare = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    packed = {
        "gzip": gzip.compress(text),
        "deflate": zlib.compress(text),
        "bare deflate": bare.compress(text) + bare.flush(),
    }[kind]
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {kind.split()[-1]}\r\nContent-Length: {len(packed)}\r\n\r\n"
    async with answering([head.encode() + packed] * 2) as (base, _):
        assert (await http.send(HttpRequest("GET", base))).body == text
        with pytest.raises(HttpFailed, match="over 100000 bytes"):
            await http.send(HttpRequest("GET", base, max_bytes=100_000))


async def test_who_waits_for_a_connection_is_served_in_turn_and_may_leave(http: AioHttp) -> None:
    at_once, most, release = 0, 0, asyncio.Event()
    begun = asyncio.Semaphore(0)

    async def hold(_: web.Request) -> web.Response:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        begun.release()
        await release.wait()
        at_once -= 1
        return web.Response(text="done")

    async with serving(hold) as base:
        sends = [asyncio.create_task(http.send(HttpRequest("GET", base))) for _ in range(6)]
        for _ in range(2):
            await begun.acquire()
        sends[2].cancel()
        sends[0].cancel()
        await begun.acquire()
        release.set()
        answers = await asyncio.gather(*sends, return_exceptions=True)

    assert most <= 3, "two, and one whose end the server did not see yet"
    assert [isinstance(answer, asyncio.CancelledError) for answer in answers] == [True, False, True] + [
        False
    ] * 3


async def test_a_user_in_the_address_is_logged_in(http: AioHttp) -> None:
    async def who(request: web.Request) -> web.Response:
        return web.Response(text=request.headers.get("Authorization", "nobody"))

    async with serving(who) as base:
        answer = await http.send(HttpRequest("GET", base.replace("//", "//ann:pw@")))

    assert answer.body == b"Basic YW5uOnB3"


async def test_a_request_says_who_asks_and_what_it_takes(http: AioHttp) -> None:
    async with answering([OK]) as (base, raw):
        await http.send(HttpRequest("POST", f"{base}/a?b=c", headers={"accept": "text/plain"}, json={}))

    [[head]] = raw.requests
    port = base.rpartition(":")[2]
    assert sorted(head.decode().split("\r\n")) == sorted(
        [
            "POST /a?b=c HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            "User-Agent: Switchboard",
            "accept: text/plain",
            "Accept-Encoding: gzip, deflate",
            "Content-Type: application/json",
            "Content-Length: 2",
            "",
            "",
        ]
    )
