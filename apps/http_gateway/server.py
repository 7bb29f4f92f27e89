"""The server that speaks HTTP for an application of this process, and the options of the REST gateway."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, cast

import uvicorn

from adapters.inbound.rest.asgi import App
from adapters.inbound.rest.protocol import HttpProtocol, Limits, keep_deadlines
from adapters.inbound.rest.routing import GatewayOptions
from apps import logs
from apps.processes.process import CALL_GRACE, Component, Phase
from apps.processes.starting import allowed_connections
from apps.settings import Settings
from ports.system import Span


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling: the process takes the signals once."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


class HttpComponent(Component):
    """An application on a socket that was bound beforehand."""

    phase = Phase.CALLS

    def __init__(
        self, app: App, listener: socket.socket, settings: Settings, name: str = "REST gateway"
    ) -> None:
        self.name = name
        limits = Limits(
            allowed_connections(settings.http_max_connections),
            settings.http_head_timeout,
            settings.http_stall_timeout,
        )
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=CALL_GRACE,  # type: ignore[arg-type]  # asyncio takes fractions
            server_header=False,
            proxy_headers=False,  # callbacks need none of them, so that is done behind their branch
            http=cast(Any, partial(HttpProtocol, limits=limits)),
            ws="none",
            timeout_keep_alive=settings.http_keep_alive,
            loop="none",
        )
        self._server = _Server(config)
        self._listener = listener
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._server.serve(sockets=[self._listener]))
        while not self._server.started:
            if self._task.done():
                self._task.result()
                raise RuntimeError("the HTTP server ended while starting")
            await asyncio.sleep(0.01)

    async def run(self) -> None:
        assert self._task is not None
        deadlines = asyncio.create_task(keep_deadlines(self._server.server_state.connections))
        try:
            await asyncio.shield(self._task)
        finally:
            deadlines.cancel()

    async def stop(self) -> None:
        self._server.should_exit = True
        if self._task is not None:
            await asyncio.wait([self._task])


def gateway_options(
    settings: Settings,
    checks: Mapping[str, Callable[[], Awaitable[None]]],
    metrics: Callable[[], Awaitable[bytes]],
    answered: Callable[[str, int, float], None],
    span: Span,
) -> GatewayOptions:
    """Half of the connections are kept for everything else than streams of events."""
    return GatewayOptions(
        agent_url=settings.agent_url,
        platform_url=settings.platform_url,
        max_body=settings.max_webhook_body_kb * 1024,
        max_upload=settings.max_upload_bytes,
        bind=logs.current_request.set,
        checks=checks,
        metrics=metrics,
        answered=answered,
        span=span,
        max_streams=allowed_connections(settings.http_max_connections) // 2,
        trusted_proxies=settings.trusted_proxies,
        verification_page=settings.verification_page,
        mcp_send=settings.mcp_send,
    )
