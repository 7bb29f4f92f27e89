"""The REST gateway over the use cases of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.inbound.rest.app import build
from adapters.inbound.rest.asgi import App
from adapters.inbound.rest.routing import GatewayOptions
from apps import logs
from apps.processes.starting import allowed_connections
from apps.settings import Settings

if TYPE_CHECKING:
    from apps.compose.container import CoreContainer


def build_gateway(container: CoreContainer) -> App:
    """The ASGI application, straight on the use cases."""
    foundation = container.foundation()
    settings = foundation.settings
    options = GatewayOptions(
        agent_url=settings.agent_url,
        platform_url=settings.platform_url,
        max_body=settings.max_webhook_body_kb * 1024,
        max_upload=settings.max_upload_bytes,
        bind=logs.bind_request,
        checks=container.checks(),
        metrics=container.metrics(),
        answered=foundation.meter.answered,
        span=foundation.traces.span,
        max_streams=most_streams(settings),
        trusted_proxies=settings.trusted_proxies,
        verification_page=settings.verification_page,
        mcp_send=settings.mcp_send,
    )
    return build(container.use_cases(), foundation.clock, foundation.ids, options)


def most_streams(settings: Settings) -> int:
    """Of events: half of the connections are kept for everything else."""
    return allowed_connections(settings.http_max_connections) // 2
