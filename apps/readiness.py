"""What a process needs to be ready."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from adapters.outbound.storage.migrate import head
from apps.container import Container

NEEDS = ("database", "queue", "migrations")


def checks_of(container: Container) -> Mapping[str, Callable[[], Awaitable[None]]]:
    """For each of `NEEDS` what raises when it is not there."""
    database = container.database()
    newest = head()

    async def migrations_done() -> None:
        row = await database.fetch_one("SELECT version_num FROM alembic_version")
        if row is None or row[0] != newest:
            raise RuntimeError(f"the schema is not at {newest}; run: switchboard migrate")

    found = (database.answers, container.jobs().ping, migrations_done)
    return dict(zip(NEEDS, found, strict=True))
