"""The REST gateway: routers, the middleware in front of them, and the callback application in front of that."""

import asyncio
from typing import Any, cast

from fastapi import FastAPI
from starlette.applications import Starlette
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from adapters.inbound.console.sessions import ROOT
from adapters.inbound.mcp.app import McpApp
from adapters.inbound.rest import (
    agents,
    approvals,
    audit,
    base_files,
    budgets,
    catalogue,
    config_checks,
    conversations,
    docs_page,
    errors,
    events,
    feedback,
    instances,
    invitations,
    keys,
    knowledge,
    knowledge_files,
    message_files,
    messages,
    monitoring,
    notifications,
    ops,
    passkeys,
    people,
    reports,
    resources,
    schedules,
    snippets,
    sources,
    subscriptions,
    usage,
    users,
    verification,
    web_chat,
    web_chat_panel,
)
from adapters.inbound.rest.asgi import App, Receive, Scope, Send
from adapters.inbound.rest.auth_middleware import AuthMiddleware
from adapters.inbound.rest.callbacks import CallbackApp
from adapters.inbound.rest.openapi import describe
from adapters.inbound.rest.routing import Gateway, GatewayOptions
from adapters.inbound.visitor_limits import MOST_STREAMS, VisitorLimits
from adapters.version import VERSION
from domain.use_cases import UseCases
from ports.system import Clock, Ids

ROUTES = (
    catalogue,
    instances,
    config_checks,
    conversations,
    messages,
    approvals,
    snippets,
    feedback,
    people,
    notifications,
    events,
    agents,
    subscriptions,
    schedules,
    resources,
    keys,
    users,
    invitations,
    passkeys,
    audit,
    monitoring,
    reports,
    usage,
    budgets,
    verification,
    web_chat_panel,
    base_files,
    sources,
    knowledge_files,
    knowledge,
    message_files,
    web_chat,
    ops,
    docs_page,
)


class ConsoleBeside:
    """The console at its paths and at `/`; everything else is the API's. It is imported and built with the first
    request for it: 8 MB that a gateway without visitors of the console spares."""

    def __init__(self, api: App, gateway: Gateway, streams: events.Streams) -> None:
        self._api = api
        self._gateway = gateway
        self._streams = streams
        self._console: asyncio.Future[Starlette] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if path not in ("/", ROOT) and not path.startswith(f"{ROOT}/"):
            await self._api(scope, receive, send)
            return
        if self._console is None:  # made once, in a thread, so that nobody else waits for it
            self._console = asyncio.ensure_future(asyncio.to_thread(self._build))
        console = await asyncio.shield(self._console)  # a request that breaks off does not end it
        await console(scope, receive, send)

    def _build(self) -> Starlette:
        from adapters.inbound.console.app import build_console

        return build_console(self._gateway, self._streams)


def add_routes(api: FastAPI) -> FastAPI:
    for module in ROUTES:
        api.include_router(module.router)
    return api


def build(use_cases: UseCases, clock: Clock, ids: Ids, options: GatewayOptions) -> App:
    """The whole gateway as one ASGI application."""
    gateway = Gateway(use_cases, clock, ids, options)
    streams = events.Streams(options.max_streams)
    api = FastAPI(
        title="Switchboard",
        version=VERSION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    api.state.gateway = gateway
    api.state.operations = ops.Operations(options.checks, options.metrics)
    api.state.streams = streams
    api.state.visitor_limits = VisitorLimits(min(MOST_STREAMS, options.max_streams * 4 // 5))
    errors.install(api)
    add_routes(api)
    api.openapi = lambda: describe(api)  # type: ignore[method-assign]
    mcp = McpApp(ConsoleBeside(cast(App, api), gateway, streams), gateway)
    proxied = cast(App, ProxyHeadersMiddleware(cast(Any, mcp), trusted_hosts=options.trusted_proxies))
    protected = AuthMiddleware(proxied, use_cases.access, ids, options)
    return CallbackApp(protected, use_cases.callbacks, ids, options)
