"""Requests that a stop of the server cuts off."""

import asyncio
import logging
from typing import Any

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from adapters import trace_context
from adapters.inbound.rest.auth_middleware import AuthMiddleware
from adapters.inbound.rest.routing import GatewayOptions
from adapters.outbound.system.clock import RandomIds
from adapters.outbound.system.tracing import Traces

SCOPE = {"type": "http", "method": "GET", "path": "/healthz", "headers": []}


class Client:
    """What came back."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    async def send(self, message: Any) -> None:
        self.messages.append(dict(message))


async def cut_off(client: Client, *, after_the_head: bool) -> None:
    """One request whose task is cancelled while the application works on it."""
    working = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if after_the_head:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        working.set()
        await asyncio.Event().wait()

    unused: Any = None
    options = GatewayOptions("", "", 1024, 4096, lambda _: None, {}, unused)
    middleware = AuthMiddleware(app, unused, RandomIds(), options)
    task = asyncio.create_task(middleware(dict(SCOPE), unused, client.send))
    await working.wait()
    task.cancel()
    await task


async def test_it_is_told_that_the_service_stops() -> None:
    client = Client()

    await cut_off(client, after_the_head=False)

    assert client.messages[0]["status"] == 503
    assert client.messages[1]["body"] == b'{"error":"the service is stopping"}'


async def test_an_answer_that_has_begun_gets_no_second_head() -> None:
    client = Client()

    with pytest.raises(asyncio.CancelledError):
        await cut_off(client, after_the_head=True)

    assert [each["type"] for each in client.messages] == ["http.response.start"]


@pytest.mark.parametrize(("client", "warnings"), [("172.18.0.1", 1), ("127.0.0.1", 0)])
async def test_a_proxy_that_is_not_trusted_is_warned_of_once(
    client: str, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    unused: Any = None
    options = GatewayOptions("", "", 1024, 4096, lambda _: None, {}, unused)
    known: Any = ProxyHeadersMiddleware(app, trusted_hosts="127.0.0.1")
    middleware = AuthMiddleware(known, unused, RandomIds(), options)
    headers = [(b"x-forwarded-for", b"192.0.2.1")]
    for _ in range(3):
        await middleware({**SCOPE, "client": (client, 50_000), "headers": headers}, unused, Client().send)

    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(told) == warnings
    assert all(f"set TRUSTED_PROXIES={client}" in text for text in told)


@pytest.mark.parametrize("fails", [False, True])
async def test_the_lines_of_a_request_name_its_trace(fails: bool, caplog: pytest.LogCaptureFixture) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    traces: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if fails:
            raise KeyError("broken")
        await send({"type": "http.response.start", "status": 200, "headers": []})

    def note(_: object) -> bool:
        traces.append(trace_context.trace_id())
        return True

    unused: Any = None
    options = GatewayOptions("", "", 1024, 4096, lambda _: None, {}, unused, span=Traces("").span)
    middleware = AuthMiddleware(app, unused, RandomIds(), options)
    headers = [(b"traceparent", f"00-{trace}-b7ad6b7169203331-01".encode())]
    logger = logging.getLogger("switchboard.http")
    logger.addFilter(note)
    try:
        with caplog.at_level(logging.INFO):
            await middleware({**SCOPE, "path": "/nowhere", "headers": headers}, unused, Client().send)
    finally:
        logger.removeFilter(note)

    assert traces == [trace] * (2 if fails else 1)
