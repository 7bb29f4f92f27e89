"""Answers of resources that would break what reads, stores or shows them fail their message alone, with a reason."""

import json
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources.http_runner import HttpRunner
from adapters.outbound.resources.router import Router
from adapters.outbound.storage.codec import dump
from domain.json_text import MAX_DEPTH
from domain.routing.model import RunResult
from ports.resources import DownstreamFailed
from tests.support.runs import a_request
from tests.support.servers import serving


class Nothing:
    """No rules, no built-ins."""

    def find(self, resource: object) -> None:
        return None


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy("public-only"))
    yield client
    await client.close()


async def answered(http: AioHttp, body: str) -> RunResult:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(body=body.encode("utf-8", "surrogatepass"), content_type="application/json")

    async with serving(handler) as url:
        router = Router(Nothing(), Nothing(), HttpRunner(http, url))  # type: ignore[arg-type]
        return await router.run(a_request())


def nested(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + "1" + closing * levels


@pytest.mark.parametrize(
    "body",
    [
        nested(100_000),
        '{"text": "a", "ignored": ' + nested(MAX_DEPTH) + "}",
        '{"text": "a", "artifacts": ' + nested(1000) + "}",
        '{"text": "a", "confirmation": {"tool": "t", "parameters": ' + nested(200, '{"a":', "}") + "}}",
        '{"text": "a", "confirmation": {"tool": "t", "parameters": {"n": ' + "9" * 5000 + "}}}",
        '{"text": "a", "confirmation": {"tool": "t\\u0000", "parameters": {}}}',
        '{"text": 1e999}',
        "\0",
    ],
)
async def test_an_answer_that_cannot_be_used_fails_once_and_for_all(http: AioHttp, body: str) -> None:
    with pytest.raises(DownstreamFailed, match="unusable") as failure:
        await answered(http, body)
    assert not failure.value.retryable


@pytest.mark.parametrize(
    "parameters",
    [
        '{"k\\u0000": "v\\u0000", "l": ["\\u0000"]}',
        '{"half": "\\ud800"}',
        '{"n": 1e999, "m": NaN, "k": 123456789012345678901234567890}',
        nested(MAX_DEPTH - 2, '{"a":', "}"),
    ],
)
async def test_what_can_be_used_can_be_stored(http: AioHttp, parameters: str) -> None:
    body = '{"text": "a\\u0000b", "confirmation": {"tool": "t", "parameters": ' + parameters + "}}"
    result = await answered(http, body)
    assert result.text == "ab"
    assert result.confirmation is not None
    assert "\\u0000" not in dump(result.confirmation.parameters)
    json.loads(dump(result.confirmation.parameters))
