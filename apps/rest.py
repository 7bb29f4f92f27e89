"""The REST gateway over the use cases of this process."""

from __future__ import annotations

from adapters.inbound.rest.app import GatewayOptions, build
from adapters.inbound.rest.gate import App
from adapters.outbound.storage.migrate import head
from apps import logs
from apps.container import Container


def build_gateway(container: Container) -> App:
    """The ASGI application, straight on the use cases."""
    settings, database = container.settings(), container.database()
    newest = head()

    async def migrations_done() -> None:
        row = await database.fetch_one("SELECT version_num FROM alembic_version")
        if row is None or row[0] != newest:
            raise RuntimeError(f"the schema is not at {newest}; run: switchboard migrate")

    async def metrics() -> bytes:
        return await container.meter().scrape(database)

    options = GatewayOptions(
        agent_url=settings.agent_url,
        platform_url=settings.platform_url,
        max_body=settings.max_webhook_body_kb * 1024,
        bind=logs.bind_request,
        checks={"database": database.answers, "queue": container.jobs().ping, "migrations": migrations_done},
        metrics=metrics,
    )
    return build(container.use_cases(), container.clock(), container.ids(), options)
