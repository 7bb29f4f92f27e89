"""Resources that stream their answer over HTTP, against real servers on the loopback interface."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources.http_runner import HttpRunner
from adapters.outbound.resources.messages import MAX_TEXT
from domain.routing.model import Confirmation, RunResult
from ports.resources import DownstreamFailed
from tests.support.runs import a_request
from tests.support.servers import raw_serving, serving
from tests.support.waiting import let_pass

EVENTS = "text/event-stream; charset=utf-8"


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy("public-only"))
    yield client
    await client.close()


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def delta(text: str) -> bytes:
    return event({"textDelta": text})


@asynccontextmanager
async def streaming(*pieces: bytes, content_type: str = EVENTS) -> AsyncIterator[str]:
    async def handler(request: web.Request) -> web.StreamResponse:
        assert request.headers["Accept"] == "text/event-stream, application/json"
        response = web.StreamResponse(headers={"Content-Type": content_type})
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
        return response

    async with serving(handler) as base:
        yield base


async def answered(http: AioHttp, *pieces: bytes) -> RunResult:
    async with streaming(*pieces) as base:
        return await HttpRunner(http, base).run(a_request())


async def test_the_last_event_is_the_answer(http: AioHttp) -> None:
    whole = {"text": "Noon, **sharp**", "confirmation": {"tool": "ring"}}
    result = await answered(http, delta("No"), b": thinking\n\n", delta("on"), event(whole))
    assert result == RunResult("Noon, **sharp**", (), Confirmation("ring", {}))


async def test_progress_is_told_while_it_is_made(http: AioHttp) -> None:
    told, go_on = asyncio.Event(), asyncio.Event()
    heard: list[str] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": EVENTS})
        await response.prepare(request)
        await response.write(delta("No"))
        await go_on.wait()
        await response.write(delta("on") + event({"text": "Noon."}))
        return response

    def progress(text: Callable[[], str]) -> None:
        heard.append(text())
        told.set()

    async with serving(handler) as base:
        running = asyncio.create_task(HttpRunner(http, base).run(a_request(progress=progress)))
        await told.wait()
        assert not running.done()
        go_on.set()
        assert await running == RunResult("Noon.")
    assert heard[0] == "No"


async def test_nothing_after_the_last_event_is_waited_for(http: AioHttp) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": EVENTS})
        await response.prepare(request)
        await response.write(event({"text": "Noon."}))
        await asyncio.Event().wait()
        return response

    async with serving(handler) as base:
        assert await HttpRunner(http, base).run(a_request()) == RunResult("Noon.")


@pytest.mark.parametrize(
    "pieces",
    [
        (),
        (delta("No"),),
        (delta("No"), b'data: {"text": "Noon."}\n'),
        (delta("No"), b'data: {"text": "No'),
        (b": only a comment\n\n",),
    ],
)
async def test_a_stream_without_its_last_event_may_be_tried_again(
    http: AioHttp, pieces: Sequence[bytes]
) -> None:
    with pytest.raises(DownstreamFailed, match="broke off") as failure:
        await answered(http, *pieces)
    assert failure.value.retryable
    assert failure.value.begun


async def test_a_connection_that_breaks_may_be_tried_again(http: AioHttp) -> None:
    async def broken(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 999\r\n\r\n")
        writer.write(delta("No"))
        await writer.drain()
        writer.close()

    async with raw_serving(broken) as base:
        with pytest.raises(DownstreamFailed) as failure:
            await HttpRunner(http, base).run(a_request())
    assert failure.value.retryable


@pytest.mark.parametrize(
    "pieces",
    [
        (b"data: No\n\n",),
        (event("No"),),
        (event({"textDelta": 7}),),
        (event({"textDelta": None}),),
        (event({"say": "No"}),),
        (delta("No"), event({"text": 7})),
        (b"data: " + b"[" * 5000 + b"\n\n",),
        (b'data: {"textDelta": "\xff"}\n\n',),
        (*(delta("x" * 100_000) for _ in range(MAX_TEXT // 100_000)), delta("x")),
    ],
)
async def test_what_keeps_not_to_the_contract_fails_once_and_for_all(
    http: AioHttp, pieces: Sequence[bytes]
) -> None:
    with pytest.raises(DownstreamFailed, match="unusable") as failure:
        await answered(http, *pieces)
    assert not failure.value.retryable


LINE = b"x" * 1000


@pytest.mark.parametrize(
    "filler", [b": " + LINE + b"\n", b"data: x", b"data: " + LINE + b"\n"], ids=["comments", "line", "lines"]
)
async def test_an_endless_stream_is_cut_off(http: AioHttp, filler: bytes) -> None:
    async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while not writer.is_closing():
            writer.write(filler * (1_000_000 // len(filler)))
            try:
                await writer.drain()
            except ConnectionError:
                return

    async with raw_serving(endless) as base:
        with pytest.raises(DownstreamFailed, match=r"over 40000000 bytes|too long"):
            await HttpRunner(http, base).run(a_request())


async def test_a_stream_that_trickles_for_ever_ends_in_time(http: AioHttp) -> None:
    begun = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": EVENTS})
        await response.prepare(request)
        await response.write(delta("No"))
        begun.set()
        await asyncio.Event().wait()
        return response

    async with serving(handler) as base:
        running = asyncio.create_task(HttpRunner(http, base).run(a_request()))
        await begun.wait()
        let_pass(a_request().timeout)
        with pytest.raises(DownstreamFailed, match="does not answer within"):
            await running


async def test_json_is_json_whatever_was_asked_for(http: AioHttp) -> None:
    async with streaming(b'{"text": ', b'"Noon."}', content_type="application/json") as base:
        assert await HttpRunner(http, base).run(a_request()) == RunResult("Noon.")


async def test_pieces_that_come_close_together_are_read_at_once(http: AioHttp) -> None:
    """The end is not put off by more than a share of the time that the stream took."""
    heard: list[int] = []
    whole = "".join(f"word{number} " for number in range(300))

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": EVENTS})
        await response.prepare(request)
        for word in whole.split():
            await response.write(delta(f"{word} "))
            await asyncio.sleep(0.001)
        await response.write(event({"text": whole}))
        return response

    async with serving(handler) as base:
        request = a_request(progress=lambda text: heard.append(len(text())))
        assert await HttpRunner(http, base).run(request) == RunResult(whole)
    assert len(heard) < 300
    assert heard == sorted(heard)
