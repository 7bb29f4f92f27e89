"""The REST gateway: routers, the middleware in front of them, and the callback application in front of that."""

from typing import Any, cast

from fastapi import FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from adapters.inbound.mcp.app import McpApp
from adapters.inbound.rest import (
    base_files,
    catalogue,
    config_checks,
    conversations,
    docs_page,
    errors,
    events,
    instances,
    keys,
    knowledge,
    knowledge_files,
    message_files,
    messages,
    monitoring,
    ops,
    resources,
    schedules,
    sources,
    subscriptions,
    verification,
    web_chat,
    web_chat_panel,
)
from adapters.inbound.rest.asgi import App
from adapters.inbound.rest.auth_middleware import AuthMiddleware
from adapters.inbound.rest.callbacks import CallbackApp
from adapters.inbound.rest.console_beside import ConsoleBeside
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
    events,
    subscriptions,
    schedules,
    resources,
    keys,
    monitoring,
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


def build(use_cases: UseCases, clock: Clock, ids: Ids, options: GatewayOptions) -> App:
    """The whole gateway as one ASGI application."""
    gateway = Gateway(use_cases, clock, ids, options)
    streams = events.Streams(options.max_streams)
    mcp = McpApp(ConsoleBeside(cast(App, _api(gateway, streams)), gateway, streams), gateway)
    known = cast(App, ProxyHeadersMiddleware(cast(Any, mcp), trusted_hosts=options.trusted_proxies))
    protected = AuthMiddleware(known, use_cases.access, ids, options)
    return CallbackApp(protected, use_cases.callbacks, ids, options)


def _api(gateway: Gateway, streams: events.Streams) -> FastAPI:
    api = FastAPI(
        title="Switchboard",
        version=VERSION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    api.state.gateway = gateway
    api.state.operations = gateway.options
    api.state.streams = streams
    api.state.visitor_limits = VisitorLimits(min(MOST_STREAMS, gateway.options.max_streams * 4 // 5))
    errors.install(api)
    for module in ROUTES:
        api.include_router(module.router)
    api.openapi = lambda: describe(api)  # type: ignore[method-assign]
    return api
