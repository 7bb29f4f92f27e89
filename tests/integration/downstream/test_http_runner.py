"""Resources behind an HTTP endpoint, against real servers on the loopback interface."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources.http_runner import HttpRunner
from adapters.outbound.resources.router import Retrying
from domain.routing.model import Confirmation, ResultArtifact, RunResult
from ports.resources import Downstream, DownstreamFailed
from tests.support.ports import free_port
from tests.support.runs import a_request
from tests.support.servers import Handler, raw_serving, serving
from tests.support.waiting import let_pass


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    """The policy is the strictest: a resource's address is the operator's own and exempt."""
    client = AioHttp(AddressPolicy("public-only"))
    yield client
    await client.close()


def saying(body: bytes | str, status: int = 200, **headers: str) -> Handler:
    async def handler(_: web.Request) -> web.Response:
        text = body.encode() if isinstance(body, str) else body
        return web.Response(
            body=text,
            status=status,
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    return handler


def test_the_runner_is_a_downstream_port() -> None:
    runner: Downstream = HttpRunner(AioHttp(AddressPolicy()), "http://x.example")
    assert runner


async def test_the_message_goes_out_and_the_answer_comes_back(http: AioHttp) -> None:
    seen: list[web.Request] = []
    bodies: list[dict[str, object]] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request)
        bodies.append(await request.json())
        return web.json_response(
            {
                "text": "**noon**",
                "artifacts": [{"name": "a.txt", "mimeType": "text/plain", "dataBase64": "aGk="}],
                "confirmation": {"tool": "ring", "parameters": {"times": 12}},
            }
        )

    async with serving(handler) as base:
        result = await HttpRunner(http, base + "/run?v=1", "s3cret").run(a_request())

    assert result == RunResult(
        "**noon**",
        (ResultArtifact("a.txt", "text/plain", data=b"hi"),),
        Confirmation("ring", {"times": 12}),
    )
    assert seen[0].method == "POST"
    assert seen[0].raw_path == "/run?v=1"
    assert seen[0].headers["Authorization"] == "Bearer s3cret"
    assert seen[0].headers["Content-Type"] == "application/json"
    assert seen[0].headers["Idempotency-Key"] == a_request().request_id
    assert bodies[0]["text"] == "How late is it?"
    assert bodies[0]["resource"] == {"kind": "agent", "id": "helper", "expertIndex": 1}


async def test_without_a_token_there_is_no_authorization(http: AioHttp) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"text": str("Authorization" in request.headers)})

    async with serving(handler) as base:
        assert await HttpRunner(http, base).run(a_request()) == RunResult("False")


async def test_no_content_is_an_empty_answer(http: AioHttp) -> None:
    async with serving(saying(b"", 204)) as base:
        assert await HttpRunner(http, base).run(a_request()) == RunResult("")


@pytest.mark.parametrize(
    ("status", "retryable", "begun"),
    [
        (400, False, False),
        (401, False, False),
        (404, False, False),
        (302, False, False),
        (408, True, False),
        (429, True, False),
        (500, True, True),
        (502, True, True),
        (503, True, False),
        (504, True, True),
    ],
)
async def test_a_status_decides_whether_another_try_helps(
    http: AioHttp, status: int, retryable: bool, begun: bool
) -> None:
    async with serving(saying("secret of the resource", status, Location="/elsewhere")) as base:
        with pytest.raises(DownstreamFailed, match=f"status {status}") as caught:
            await HttpRunner(http, base).run(a_request())

    assert caught.value.retryable is retryable
    assert caught.value.begun is begun
    assert "secret" not in str(caught.value)
    assert ("redirects are not followed" in str(caught.value)) is (status == 302)


async def test_retry_after_is_handed_on(http: AioHttp) -> None:
    async with serving(saying("", 429, Retry_After="17")) as base:
        with pytest.raises(DownstreamFailed) as caught:
            await HttpRunner(http, base).run(a_request())

    assert caught.value.retry_after == 17.0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b'{"text": ',
        b"[]",
        b'{"text": 7}',
        b'{"answer": "x"}',
        b"\xff\xfe\xff",
        b"[" * 100_000,
        b'{"text": "a", "artifacts": [{"name": "a", "dataBase64": "*"}]}',
    ],
)
async def test_an_unusable_answer_is_a_failure_for_good(http: AioHttp, body: bytes) -> None:
    async with serving(saying(body)) as base:
        with pytest.raises(DownstreamFailed, match="unusable") as caught:
            await HttpRunner(http, base).run(a_request())

    assert not caught.value.retryable


async def test_a_huge_answer_is_cut_off(http: AioHttp) -> None:
    async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\n\r\n{"text": "')
        while not writer.is_closing():
            writer.write(b"x" * 1_000_000)
            try:
                await writer.drain()
            except ConnectionError:
                return

    async with raw_serving(endless) as base:
        with pytest.raises(DownstreamFailed, match="over 40000000 bytes"):
            await HttpRunner(http, base).run(a_request(timeout=120))


async def test_a_dead_endpoint_is_worth_another_try(http: AioHttp) -> None:
    base = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(DownstreamFailed, match="cannot be connected to") as caught:
        await HttpRunner(http, base + "/run?token=s3cret").run(a_request())

    assert caught.value.retryable
    assert not caught.value.begun
    assert "s3cret" not in str(caught.value)


async def test_an_endpoint_that_hangs_up_may_have_worked_on_it(http: AioHttp) -> None:
    async def half(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"text": "ha')

    async with raw_serving(half) as base:
        with pytest.raises(DownstreamFailed) as caught:
            await HttpRunner(http, base).run(a_request())

    assert caught.value.retryable
    assert caught.value.begun


async def test_a_slow_endpoint_is_given_up(http: AioHttp) -> None:
    async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        let_pass(60)
        await reader.read()

    async with raw_serving(hang) as base:
        with pytest.raises(DownstreamFailed, match="does not answer within"):
            await HttpRunner(http, base).run(a_request(timeout=60))


async def test_an_endpoint_that_recovers_answers_in_the_end(http: AioHttp) -> None:
    answers = [
        web.Response(status=503),
        web.Response(status=429, headers={"Retry-After": "3"}),
        web.json_response({"text": "noon"}),
    ]
    keys: list[str] = []
    slept: list[float] = []

    async def handler(request: web.Request) -> web.Response:
        keys.append(request.headers["Idempotency-Key"])
        assert json.loads(await request.read())["requestId"] == keys[-1]
        return answers.pop(0)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with serving(handler) as base:
        runner = Retrying(HttpRunner(http, base), sleep=sleep, now=lambda: 0.0, chance=lambda: 0.0)
        assert await runner.run(a_request()) == RunResult("noon")

    assert slept == [0.5, 3.0]
    assert len(set(keys)) == 1
