"""The REST gateway: routers, the gate in front of them, and the callback branch in front of that."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
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
from adapters.inbound.rest.auth_middleware import App, AuthMiddleware
from adapters.inbound.rest.callbacks import CallbackApp
from adapters.inbound.rest.openapi import describe
from adapters.inbound.rest.routing import PUBLIC
from ports.clock import Clock, Ids
from ports.use_cases import UseCases

STREAMED = re.compile(r"/api/agent/kb/[^/]+/uploadfile")
PRIVATE = re.compile(r"/api/agent/(?:verification/identities|files)/(.+)")


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """`agent_url` is the public base address, `platform_url` that of the platform in front; `max_body` in
    bytes, as `max_upload` for the whole body of an upload."""

    agent_url: str
    platform_url: str
    max_body: int
    max_upload: int
    bind: Callable[[str], None]
    checks: Mapping[str, Callable[[], Awaitable[None]]]
    metrics: Callable[[], Awaitable[bytes]]


def build(use_cases: UseCases, clock: Clock, ids: Ids, options: GatewayOptions) -> App:
    """The whole gateway as one ASGI application."""
    api = FastAPI(
        title="Switchboard",
        version="0.1.0",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
    )
    errors.install(api)
    api.include_router(catalogue.router(use_cases.catalogue, clock))
    api.include_router(instances.router(use_cases.instances))
    api.include_router(verification.router(use_cases.verification, ids, options.platform_url))
    api.include_router(knowledge_files.router(use_cases.files))
    api.include_router(knowledge.router(use_cases.bases, use_cases.search))
    api.include_router(message_files.router(use_cases.shared))
    api.include_router(ops.router(options.checks, options.metrics))
    api.include_router(docs_page.router(api))
    api.openapi = lambda: describe(api)  # type: ignore[method-assign]
    gate = AuthMiddleware(
        _app(ProxyHeadersMiddleware(cast(Any, api))),
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
        gate,
        use_cases.callbacks,
        ids,
        agent_url=options.agent_url,
        max_body=options.max_body,
        bind=options.bind,
    )


def _app(api: Any) -> App:
    app: App = api
    return app
