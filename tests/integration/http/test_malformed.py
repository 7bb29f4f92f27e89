"""What reaches the gateway's socket and is no request: answered in JSON, before there is anything to route."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from adapters.inbound.rest import ops
from adapters.inbound.rest.auth_middleware import AuthMiddleware
from adapters.inbound.rest.protocol import LARGEST_HEAD, LARGEST_READ, HttpProtocol
from adapters.inbound.rest.routing import GatewayOptions
from adapters.outbound.system.clock import RandomIds
from apps.http_gateway.server import HttpComponent
from apps.settings_loading import load

HEAD = b"POST /x HTTP/1.1\r\nHost: x\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Reads the body and answers."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    part = HttpComponent(app, listener, load({}, None))
    await part.start()
    yield listener.getsockname()[1]
    await part.stop()


async def answer_to(port: int, request: bytes) -> tuple[list[bytes], bytes]:
    """The lines of the head and the body of all that came back until the server closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    head, _, body = (await asyncio.wait_for(reader.read(), 60)).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return head.split(b"\r\n"), body


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"hello there\r\n\r\n",
        b"FETCH /x HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /x HTTP/9.9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        HEAD + b"no colon\r\n\r\n",
        HEAD + b"Content-Length: many\r\n\r\n",
        HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        CHUNKED + b"no number\r\nabc\r\n0\r\n\r\n",
        CHUNKED + b"2\r\n{}and more\r\n0\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_told_so_in_json(port: int, request_bytes: bytes) -> None:
    head, body = await answer_to(port, request_bytes)

    assert head[0] == b"HTTP/1.1 400 Bad Request"
    assert {b"content-type: application/json", b"connection: close"} <= set(head)
    assert f"content-length: {len(body)}".encode() in head
    assert json.loads(body) == {"error": "the request is not valid HTTP"}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (b"", "has no header Host"),
        (b"X-Forwarded-Host: x\r\n", "has no header Host"),
        (b"Host: x\r\nHost: x\r\n", "more than once"),
        (b"Host: x\r\nHOST: y\r\n", "more than once"),
        (b"Host:\r\nHost: y\r\n", "more than once"),
        (b"Host:\r\n", "is no host name"),
        (b"Host: x, y\r\n", "is no host name"),
        (b"Host: me@x\r\n", "is no host name"),
        (b"Host: x/console\r\n", "is no host name"),
        (b"Host: x:80:90\r\n", "is no host name"),
        (b"Host: x\xff\r\n", "is no host name"),
    ],
)
@pytest.mark.parametrize("method", [b"GET", b"HEAD", b"POST"])
async def test_a_request_names_one_host(port: int, method: bytes, fields: bytes, told: str) -> None:
    head, body = await answer_to(port, method + b" /healthz HTTP/1.1\r\n" + fields + b"\r\n")

    assert head[0] == b"HTTP/1.1 400 Bad Request"
    assert told in json.loads(body)["error"]
    assert {b"cache-control: no-store", b"x-content-type-options: nosniff"} <= set(head)


@pytest.mark.parametrize("host", ["bots.example.com", "[::1]:3011", "127.0.0.1:3011", "x_y.internal:"])
async def test_names_and_addresses_are_hosts(port: int, host: str) -> None:
    request = f"POST /x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    assert (await answer_to(port, request.encode()))[0][0] == b"HTTP/1.1 204 No Content"


async def test_a_health_check_of_http_1_0_needs_no_host(port: int) -> None:
    assert (await answer_to(port, b"GET /healthz HTTP/1.0\r\n\r\n"))[0][0] == b"HTTP/1.1 204 No Content"


SPELLINGS = (
    "{}#", "{}#x", "{}#/../x", "{}#?x", "{}/", "{}//", "/{}", "/.{}", "/x/..{}", "{}%23", "{}%00", "{}%20", "{};x",
    "{}%0a", "{}%0A/", "{}%0a#", "{}%0d%0a", "{}%09", "{}/%0a", "/./{}", "{}/.", "{}%2e", "{}%5c", "{}%e2%80%a8",
    "/%2F{}", "http://gateway{}", "http://gateway{}#x", "HTTP://gateway{}",
)  # fmt: skip


@pytest.fixture
async def operators_port() -> AsyncIterator[int]:
    """A gateway's own paths behind its middleware."""

    async def metrics() -> bytes:
        return b"switchboard_up 1\n"

    unused: Any = None
    options = GatewayOptions("", "", 1024, 4096, lambda _: None, {}, metrics)
    app = AuthMiddleware(
        ops.build(ops.Operations(options.checks, options.metrics)), unused, RandomIds(), options
    )
    listener = socket.create_server(("127.0.0.1", 0))
    part = HttpComponent(app, listener, load({}, None))
    await part.start()
    yield listener.getsockname()[1]
    await part.stop()


@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
async def test_a_closed_path_answers_to_its_name_alone(operators_port: int, path: str) -> None:
    encoded = [path.replace(letter, f"%{ord(letter):02{case}}", 1) for letter in "me" for case in "xX"]
    others = [*(spelling.format(path) for spelling in SPELLINGS), *encoded, path.upper(), path.title()]
    statuses = {}
    for target in (path, f"{path}?x=y", *others):
        request = f"GET {target} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n"
        head, _ = await answer_to(operators_port, request.encode())
        statuses[target] = int(head[0].split()[1])
    changed = {target for target in others if target != path}
    assert {target: status for target, status in statuses.items() if target not in changed} == {
        path: 200,
        f"{path}?x=y": 200,
    }
    assert {target for target in changed if statuses[target] != 404} == set()


@pytest.mark.parametrize(
    "fields",
    [
        b"X: " + b"a" * LARGEST_HEAD + b"\r\n",
        b"".join(b"X%d: %s\r\n" % (number, b"a" * 1000) for number in range(70)),
    ],
)
async def test_a_head_beyond_all_bounds_is_refused(port: int, fields: bytes) -> None:
    head, body = await answer_to(port, HEAD + fields + b"\r\n")

    assert head[0] == b"HTTP/1.1 431 Request Header Fields Too Large"
    assert json.loads(body) == {"error": "the address and headers of the request are over 64 KB"}


async def test_a_large_head_within_the_bounds_and_a_large_body_are_taken(port: int) -> None:
    fields = b"Connection: close\r\nContent-Length: 600000\r\nX: " + b"a" * (LARGEST_HEAD - 1000)
    head, _ = await answer_to(port, HEAD + fields + b"\r\n\r\n" + b"b" * 600000)

    assert head[0] == b"HTTP/1.1 204 No Content"


class Connection(asyncio.Transport):
    """A connection that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        return

    resume_reading = pause_reading


@pytest.fixture
async def connection() -> AsyncIterator[tuple[HttpProtocol, Connection]]:
    config, state, connection = Config(app, log_config=None), ServerState(), Connection()
    protocol = HttpProtocol(config, state, {})
    protocol.connection_made(connection)
    yield protocol, connection
    protocol.connection_lost(None)
    await asyncio.gather(*state.tasks)


async def test_a_head_without_an_end_is_not_gathered_for_ever(
    connection: tuple[HttpProtocol, Connection],
) -> None:
    protocol, transport = connection
    protocol.data_received(HEAD + b"X: ")
    read = 0
    while not transport.closed:
        protocol.data_received(b"a" * 10_000)
        read += 10_000
        assert read <= LARGEST_HEAD + LARGEST_READ + 10_000

    assert transport.written.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize(
    ("begun", "endless"),
    [
        (b"2\r\n{}\r\n0\r\n", b"X: y\r\n"),
        (b"2\r\n{}\r\n0\r\nX: ", b"yyyyyyyy"),
        (b"2;a=", b"yyyyyyyy"),
        (b"2\r\n{}\r\n000", b"00000000"),
    ],
    ids=["trailers", "one trailer", "chunk extension", "chunk size"],
)
async def test_what_comes_beside_a_body_is_not_gathered_for_ever(
    connection: tuple[HttpProtocol, Connection], begun: bytes, endless: bytes, answered: bool
) -> None:
    protocol, transport = connection
    protocol.data_received(CHUNKED + begun)
    protocol.cycle.response_complete = answered
    for _ in range((LARGEST_HEAD + LARGEST_READ) // (len(endless) * 1000) + 1):
        protocol.data_received(endless * 1000)

    assert transport.written.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 "))
    assert transport.closed


async def test_trailers_are_no_headers(connection: tuple[HttpProtocol, Connection]) -> None:
    protocol, _ = connection
    protocol.data_received(CHUNKED + b"2\r\n{}\r\n0\r\nX-User-Id: somebody\r\n\r\n")

    assert b"x-user-id" not in dict(protocol.cycle.scope["headers"])


async def test_many_requests_at_once_are_not_one_large_head(
    connection: tuple[HttpProtocol, Connection],
) -> None:
    """A client need not wait for one answer before it asks again (RFC 9112, 9.3.2)."""
    protocol, transport = connection
    requests = b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n" * 20_000
    for start in range(0, len(requests), 200_001):  # in pieces that end within a head
        protocol.data_received(requests[start : start + 200_001])
    assert not transport.closed


async def test_an_answer_under_way_is_cut_off_rather_than_mixed_with_another(
    connection: tuple[HttpProtocol, Connection],
) -> None:
    protocol, transport = connection
    protocol.data_received(CHUNKED)
    await protocol.cycle.send({"type": "http.response.start", "status": 200, "headers": []})
    begun = transport.written

    protocol.data_received(b"no number\r\n")

    assert transport.closed
    assert transport.written == begun
