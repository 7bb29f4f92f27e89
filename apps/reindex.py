"""`switchboard reindex`: embeds with the present model what another one has embedded."""

from __future__ import annotations

import asyncio

from apps import logs
from apps.container import CommandContainer
from apps.secrets import complete
from apps.settings import Settings
from apps.starting import a_database, migrated


def main(settings: Settings) -> int:
    """Prints how far it is; the exit status. May be stopped and started again."""
    logs.set_up(settings)
    settings = complete(settings)
    with a_database(settings) as dsn:
        done = asyncio.run(_run(settings, migrated(dsn)))
    print(f"{done} chunks embedded anew" if done else "nothing to do: all chunks are of the present model")
    return 0


async def _run(settings: Settings, dsn: str) -> int:
    container = CommandContainer(settings=settings, dsn=dsn)
    await container.storage().database.open()
    try:
        return await container.knowledge().reindex.run(
            lambda done, total: print(f"{done} of {total}", flush=True)
        )
    finally:
        container.embedder().close()
        await container.storage().database.close()
