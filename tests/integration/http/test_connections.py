"""Connections of the shared HTTP client: kept, limited, and never trusted beyond the answer that was asked for."""

import asyncio
import gzip
import random
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress

import pytest
from aiohttp import web
from aiohttp.client_proto import ResponseHandler

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from ports.http import HttpAnswer, HttpFailed, HttpRequest
from tests.support.servers import listening, serving

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
PACKED = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"


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
    take = ResponseHandler.data_received

    def cancelling(connection: ResponseHandler, data: bytes) -> None:
        take(connection, data)
        task.cancel()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ResponseHandler, "data_received", cancelling)
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


def _an_answer(name: bytes, chance: random.Random) -> list[bytes]:
    """An answer that says to whom it belongs, in any form, cut anywhere."""
    body = b"%s%s." % (name, b" " * chance.choice([0, 10, 100_000]))
    status = chance.choice([b"200 OK", b"200 OK", b"500 Broken"])
    head = chance.choice([b"", b"HTTP/1.1 103 Early\r\n\r\n"]) + b"HTTP/1.1 %s\r\n" % status
    if chance.random() < 0.3:
        head, body = head + b"Content-Encoding: gzip\r\n", gzip.compress(body)
    if chance.random() < 0.5:
        whole = b"%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (head, len(body), body)
    else:
        whole = b"%sContent-Length: %d\r\n\r\n%s" % (head, len(body), body)
    cut = chance.choice([len(whole), chance.randrange(len(whole))])
    return [whole[:cut], whole[cut:]]


async def _one_that_may_leave(http: AioHttp, base: str, number: int, chance: random.Random) -> bytes:
    """What came of the answer, to one who leaves at any moment and in any way."""
    limit = chance.choice([10_000_000, 10_000_000, 5])
    request = HttpRequest("POST", f"{base}/{number}", json=[1], max_bytes=limit)
    came = b""

    async def read() -> None:
        nonlocal came
        if chance.random() < 0.5:
            came = (await http.send(request)).body
            return
        async with aclosing(http.stream(request)) as pieces:
            async for piece in pieces:
                came += piece
                if chance.random() < 0.2:
                    return

    task = asyncio.create_task(read())
    if chance.random() < 0.5:
        for _ in range(chance.randrange(12)):
            await asyncio.sleep(0)
        task.cancel()
    with suppress(asyncio.CancelledError, HttpFailed):
        await task
    return came


@pytest.mark.parametrize("seed", range(3))
async def test_nobody_gets_a_byte_of_the_answer_to_another(seed: int) -> None:
    """Whatever servers answer, and however callers leave: broken off, too large, read in part."""
    chance, whole = random.Random(seed), 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(3)
                for piece in _an_answer(head.split()[1][1:], chance):
                    writer.write(piece)
                    await writer.drain()
        writer.close()

    async def ask(client: int) -> None:
        nonlocal whole
        for number in range(client, client + 40):
            came = await _one_that_may_leave(http, base, number, chance)
            name = b"%d" % number
            assert came[: len(name)] == name[: len(came)]
            assert came[len(name) :].strip() in (b"", b".")
            whole += came.endswith(b".")

    http = AioHttp(AddressPolicy("open"), max_connections=3)
    async with listening(answer) as port:
        base = f"http://127.0.0.1:{port}"
        await asyncio.gather(*(ask(1000 * client) for client in range(1, 7)))
        await http.close()

    assert whole > 20, "of 240"


async def test_a_connection_that_lay_idle_for_long_is_not_used(
    http: AioHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.outbound.net.http.KEPT_SECONDS", 0.0)
    async with answering([OK] * 2) as (base, raw):
        for _ in range(2):
            await http.send(HttpRequest("POST", base))

    assert [len(seen) for seen in raw.requests] == [1, 1]


async def test_a_connection_with_an_unsent_rest_of_a_request_is_not_used(http: AioHttp) -> None:
    """The server answers before it has read the request. What nobody reads is not sent for ever."""
    connections, left = 0, asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        await left.wait()
        writer.close()

    async with listening(answer) as port:
        for content in (b"x" * 8_000_000, b""):
            request = HttpRequest("POST", f"http://127.0.0.1:{port}", content=content)
            assert (await http.send(request)).body == b"ok"
        left.set()

    assert connections == 2


async def test_an_exchange_outlives_the_closing_of_the_client_and_its_connection_does_not() -> None:
    http, come, release = AioHttp(AddressPolicy("open")), asyncio.Event(), asyncio.Event()
    left = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        come.set()
        await release.wait()
        writer.write(OK)
        assert await reader.read() == b""
        left.set()
        writer.close()

    async with listening(answer) as port:
        task = asyncio.create_task(http.send(HttpRequest("GET", f"http://127.0.0.1:{port}")))
        await come.wait()
        await http.close()
        release.set()
        assert (await task).body == b"ok"
        await left.wait()


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
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", b"ok"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 \r\nok\r\n0\r\n\r\n", b"ok"),
        (b"HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 2\r\n\r\nok", b"ok"),
        (PACKED + gzip.compress(b"o") + gzip.compress(b"") + gzip.compress(b"k"), b"ok"),
    ],
    ids=[
        "hints",
        "continue",
        "no length",
        "trailers",
        "no content",
        "not modified",
        "line feeds alone",
        "a space after the size of a chunk",
        "a control character",
        "packed in parts",
    ],
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
        PACKED + gzip.compress(b"{}") + b"\0" * 1_000_000,
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\nok",
    ],
    ids=[
        "chunk extension",
        "trailers",
        "head",
        "upgrade",
        "not packed",
        "two lengths",
        "more than was packed",
        "packed as nobody asked",
        "a zero in a header",
    ],
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
