"""The client against a server that misbehaves: what it tries again, what it tells, and what it never does twice."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from switchboard_sdk import ApiError, AsyncClient, Choice, Client, ConnectionFailed, File
from switchboard_sdk import _http as rules
from switchboard_sdk.events import MAX_EVENT_BYTES, EventStream

from tests.support.ports import free_port

Answer = httpx.Response | Exception


class Server:
    """Gives the answers in turn, the last one for ever; remembers the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options: Any) -> AsyncClient:
        return AsyncClient("http://switchboard/", "sb_key", transport=httpx.MockTransport(self), **options)


OK = httpx.Response(200, json={"messageId": "send-1"})


def busy(status: int = 503, seconds: str = "2") -> httpx.Response:
    return httpx.Response(status, json={"error": "the queue is away"}, headers={"retry-after": seconds})


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the client waits, without waiting."""
    seconds: list[float] = []
    sleep = asyncio.sleep

    async def wait(delay: float) -> None:
        seconds.append(delay)
        await sleep(0)

    monkeypatch.setattr("switchboard_sdk._async_client.sleep", wait)
    return seconds


@pytest.mark.parametrize(("status", "method"), [(429, "POST"), (429, "GET"), (503, "GET"), (503, "PUT")])
async def test_a_refused_call_is_made_again_when_the_server_says_so(
    waited: list[float], status: int, method: str
) -> None:
    server = Server(busy(status), OK)
    async with server.client() as client:
        assert (await client.request(method, "/api/agent/keys"))["messageId"] == "send-1"
    assert waited == [2]


async def test_it_is_given_up_at_last(waited: list[float]) -> None:
    server = Server(busy())
    async with server.client(retries=2) as client:
        with pytest.raises(ApiError) as refused:
            await client.instances()
    assert (refused.value.status, refused.value.message, refused.value.retry_after) == (
        503,
        "the queue is away",
        2,
    )
    assert len(server.requests) == 3


async def test_nobody_waits_for_an_hour(waited: list[float]) -> None:
    server = Server(busy(429, "3600"))
    async with server.client() as client:
        with pytest.raises(ApiError) as refused:
            await client.instances()
    assert (refused.value.retry_after, len(server.requests), waited) == (3600, 1, [])


BROKEN = httpx.ReadError("broken")


async def test_a_message_is_sent_again_with_the_same_key() -> None:
    server = Server(BROKEN, httpx.Response(502), OK)
    async with server.client() as client:
        await client.send(7, "hello")
        await client.send(7, "hello", idempotency_key="order-1")
    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert keys[0] == keys[1] == keys[2]
    assert keys[3] == "order-1"


@pytest.mark.parametrize("answer", [BROKEN, httpx.ReadTimeout("slow"), httpx.Response(502), busy()])
async def test_what_could_be_done_twice_is_not_repeated(answer: Answer) -> None:
    server = Server(answer, OK)
    async with server.client() as client:
        with pytest.raises((ConnectionFailed, ApiError)):
            await client.create_agent({"name": "Mine"})
    assert len(server.requests) == 1


async def test_what_was_never_sent_is_repeated() -> None:
    server = Server(httpx.ConnectError("refused"), OK)
    async with server.client() as client:
        await client.create_agent({"name": "Mine"})
    assert len(server.requests) == 2


def test_a_server_that_is_not_there_is_told() -> None:
    gone = pytest.raises(ConnectionFailed, match="GET /api/agent/channel-instances")
    with Client(f"http://127.0.0.1:{free_port()}", "sb_key", retries=0) as client, gone:
        client.instances()


@pytest.mark.parametrize(
    ("body", "message", "field"),
    [
        (
            b'{"error": "config.smtpPort: must be a number"}',
            "config.smtpPort: must be a number",
            "config.smtpPort",
        ),
        (b'{"error": "files[0].url: is not an address"}', "files[0].url: is not an address", "files[0].url"),
        (b'{"error": "there is no instance 7"}', "there is no instance 7", None),
        (b'{"error": 7}', 'Bad Request: {"error": 7}', None),
        (b"<html>proxy</html>", "Bad Request: <html>proxy</html>", None),
        (b"\xff[", "Bad Request: \ufffd[", None),
        (b"[]", "Bad Request: []", None),
    ],
)
async def test_an_error_has_its_field_and_its_message(body: bytes, message: str, field: str | None) -> None:
    server = Server(httpx.Response(400, content=body))
    async with server.client() as client:
        with pytest.raises(ApiError) as refused:
            await client.instance(7)
    assert (refused.value.status, refused.value.message, refused.value.field) == (400, message, field)


async def test_files_and_exports_are_bytes() -> None:
    server = Server(busy(429), httpx.Response(200, content=b"rating\r\ndown\r\n"), httpx.Response(404))
    async with server.client() as client:
        export = await client.download("/api/agent/feedback/export", params={"rating": "down"})
        with pytest.raises(ApiError, match="404"):
            await client.download("/api/agent/kb/download/7")
    assert export == b"rating\r\ndown\r\n"
    assert server.requests[1].url.query == b"rating=down"


async def test_an_answer_that_is_not_json_is_told() -> None:
    server = Server(httpx.Response(200, html="<html>another service</html>"))
    async with server.client() as client:
        with pytest.raises(ApiError, match="the answer is text/html; charset=utf-8 instead of JSON"):
            await client.instances()


@pytest.mark.parametrize(
    "error", [httpx.UnsupportedProtocol("no http://"), httpx.LocalProtocolError("Illegal header value")]
)
async def test_an_address_or_key_that_cannot_work_is_told_at_once(error: Exception) -> None:
    server = Server(error)
    async with server.client() as client:
        with pytest.raises(ConnectionFailed):
            await client.instances()
        with pytest.raises(ConnectionFailed):
            await anext(client.events())
    assert len(server.requests) == 2


async def test_the_key_and_the_user_go_along_and_ids_are_quoted() -> None:
    server = Server(httpx.Response(200, json={"messages": [], "next": None}))
    async with server.client(user_id="ada") as client:
        assert [message async for message in client.messages(7, "a/../b?c")] == []
    [request] = server.requests
    assert request.headers["authorization"] == "Bearer sb_key"
    assert request.headers["x-user-id"] == "ada"
    assert request.url.raw_path.startswith(
        b"/api/agent/channel-instances/7/conversations/a%2F..%2Fb%3Fc/messages"
    )


async def test_a_list_is_read_page_by_page() -> None:
    pages = [{"agents": [{"id": 1}, {"id": 2}], "next": 2}, {"agents": [{"id": 3}], "next": None}]
    server = Server(*(httpx.Response(200, json=page) for page in pages))
    async with server.client() as client:
        assert [agent["id"] async for agent in client.agents()] == [1, 2, 3]
    assert [request.url.query for request in server.requests] == [b"", b"cursor=2"]


async def test_a_message_has_files_and_choices() -> None:
    server = Server(OK)
    async with server.client() as client:
        await client.send(7, files=[File("a.txt", b"hi")], choices=[Choice("Yes")], session_id="s")
    assert server.requests[0].content == (
        b'{"text":"","sessionId":"s","files":[{"name":"a.txt","mimeType":"text/plain","dataBase64":"aGk="}],'
        b'"choices":[{"label":"Yes","value":"Yes"}]}'
    )


def event(number: int, text: str = "") -> bytes:
    return (
        b'id: %d\nevent: message.answered\ndata: {"id":%d,"kind":"message.answered","data":{"text":"%s"}}\n\n'
        % (
            number,
            number,
            text.encode(),
        )
    )


class Broken(httpx.AsyncByteStream):
    """Gives pieces, and then the connection breaks."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        raise BROKEN


def stream(*pieces: bytes) -> httpx.Response:
    return httpx.Response(200, stream=Broken(b"retry: 3000\n", *pieces))


async def read(client: AsyncClient, count: int, **options: Any) -> list[Any]:
    events = []
    async for each in client.events(**options):
        events.append(each)
        if len(events) == count:
            break
    return events


async def test_a_broken_stream_goes_on_behind_its_last_whole_event(waited: list[float]) -> None:
    server = Server(
        stream(b"id: 40\n\n", event(41), event(42)[:-1]),
        BROKEN,
        busy(429, "5"),
        stream(event(42), b": still here\nid: 50\n\n"),
        stream(b"id: 60\nevent: reset\n\n", event(61)),
    )
    async with server.client() as client:
        events = await read(client, 4, kinds=["message.answered"], instance_ids=[1, 2])
    assert [(each["id"], each["kind"]) for each in events] == [
        (41, "message.answered"),
        (42, "message.answered"),
        (60, "reset"),
        (61, "message.answered"),
    ]
    cursors = [request.headers.get("last-event-id") for request in server.requests]
    assert cursors == [None, "41", "41", "41", "50"]
    assert server.requests[0].url.query == b"kinds=message.answered&instanceId=1%2C2"
    assert 5 in waited


async def test_a_program_goes_on_where_it_stopped() -> None:
    server = Server(stream(event(42)))
    async with server.client() as client:
        await read(client, 1, after=41)
    assert server.requests[0].headers["last-event-id"] == "41"


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_stream_that_is_refused_is_an_error(status: int) -> None:
    server = Server(httpx.Response(status, json={"error": "no"}))
    async with server.client() as client:
        with pytest.raises(ApiError, match="no"):
            await read(client, 1)


@pytest.mark.parametrize("cut", [lambda data: [data], lambda data: [bytes([byte]) for byte in data]])
def test_lines_end_at_line_feeds_alone(cut: Callable[[bytes], list[bytes]]) -> None:
    """JSON may hold other characters that Python takes for the end of a line."""
    text = "a\u2028b\x85c\x0cd".replace("\x0c", "\\f")
    reader = EventStream()
    events = [found for piece in cut(event(1, text).replace(b"\n", b"\r\n")) for found in reader.feed(piece)]
    assert [found["data"]["text"] for found in events] == ["a\u2028b\x85c\x0cd"]
    assert reader.cursor == 1


def test_an_event_without_an_end_is_refused() -> None:
    reader = EventStream()
    piece = b"x" * (MAX_EVENT_BYTES // 4)
    for _ in range(4):
        assert reader.feed(piece) == []
    reader.feed(b"x")
    with pytest.raises(ValueError, match="an event has over"):
        reader.feed(b"x")


def test_pauses_grow_and_are_bounded() -> None:
    assert [rules.back_off(attempt) <= 30 for attempt in (0, 3, 10_000)] == [True, True, True]
    assert rules.back_off(0) <= 0.5 < rules.back_off(3)
