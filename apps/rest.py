"""The REST gateway over the use cases of this process."""

from __future__ import annotations

from adapters.inbound.rest.app import build
from adapters.inbound.rest.asgi import App
from adapters.inbound.rest.routing import GatewayOptions
from apps import logs
from apps.container import Container


def build_gateway(container: Container) -> App:
    """The ASGI application, straight on the use cases."""
    settings, database = container.settings(), container.database()

    async def metrics() -> bytes:
        return await container.meter().scrape(database)

    options = GatewayOptions(
        agent_url=settings.agent_url,
        platform_url=settings.platform_url,
        max_body=settings.max_webhook_body_kb * 1024,
        max_upload=settings.max_upload_bytes,
        bind=logs.bind_request,
        checks=container.checks(),
        metrics=metrics,
    )
    return build(container.use_cases(), container.clock(), container.ids(), options)
