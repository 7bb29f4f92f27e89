"""The REST gateway: routers, the middleware in front of them, and the callback application in front of that."""

from __future__ import annotations

import re
from typing import Any, cast

from fastapi import FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from adapters.inbound.rest import (
    catalogue,
    docs_page,
    errors,
    instances,
    knowledge,
    knowledge_files,
    message_files,
    ops,
    verification,
)
from adapters.inbound.rest.asgi import App
from adapters.inbound.rest.auth_middleware import AuthMiddleware
from adapters.inbound.rest.callbacks import CallbackApp
from adapters.inbound.rest.openapi import describe
from adapters.inbound.rest.routing import PUBLIC, Gateway, GatewayOptions
from ports.clock import Clock, Ids
from ports.use_cases import UseCases

STREAMED = re.compile(r"/api/agent/kb/[^/]+/uploadfile")
PRIVATE = re.compile(r"/api/agent/(?:verification/identities|files)/(.+)")
ROUTES = (catalogue, instances, verification, knowledge_files, knowledge, message_files, ops, docs_page)


def build(use_cases: UseCases, clock: Clock, ids: Ids, options: GatewayOptions) -> App:
    """The whole gateway as one ASGI application."""
    protected = AuthMiddleware(
        cast(App, ProxyHeadersMiddleware(cast(Any, _api(Gateway(use_cases, clock, ids, options))))),
        use_cases.access,
        ids,
        max_body=options.max_body,
        max_upload=options.max_upload,
        public=PUBLIC,
        streamed=STREAMED,
        private=PRIVATE,
        bind=options.bind,
    )
    return CallbackApp(
        protected,
        use_cases.callbacks,
        ids,
        agent_url=options.agent_url,
        max_body=options.max_body,
        bind=options.bind,
    )


def _api(gateway: Gateway) -> FastAPI:
    api = FastAPI(title="Switchboard", version="0.1.0", docs_url=None, redoc_url=None, redirect_slashes=False)
    api.state.gateway = gateway
    errors.install(api)
    for module in ROUTES:
        api.include_router(module.router)
    api.openapi = lambda: describe(api)  # type: ignore[method-assign]
    return api
