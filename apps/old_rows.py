"""What the doctor wants to know of rows that go by age."""

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention.runner import Retention
from apps import findings
from apps.containers.storage import times_of
from apps.settings import Settings
from domain.monitoring.model import Finding


async def old_rows(retention: Retention) -> Finding:
    return findings.of_retention(await retention.late(), await retention.bloated())


async def look_at_rows(settings: Settings, dsn: str) -> Finding:
    """The same from a command. The database must be migrated."""
    database = Database(dsn)
    await database.open()
    try:
        return await old_rows(Retention(database, times_of(settings)))
    finally:
        await database.close()
