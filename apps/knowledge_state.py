"""What the doctor wants to know of the knowledge bases."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.container import CommandContainer
from apps.settings import Settings


@dataclass(frozen=True, slots=True)
class KnowledgeState:
    """`orphans`: what is stored and belongs to nothing, by kind."""

    orphans: Mapping[str, int]
    of_other_models: int
    memory_tasks: int
    memory_error: str | None


async def look(settings: Settings, dsn: str) -> KnowledgeState:
    """Counts; changes nothing. The database must be migrated."""
    container = CommandContainer(settings=settings, dsn=dsn)
    database, chunks = container.storage().database, container.knowledge().reindexing
    await database.open()
    try:
        orphans = await chunks.orphans()
        orphans["files on disk that no record knows"] = await container.knowledge().sweeper.strays()
        model = await container.embedder().model()
        tasks = await database.fetch_one("SELECT count(*), max(last_error) FROM memory_task")
        others = await chunks.count_other(model.fingerprint)
    finally:
        container.embedder().close()
        await database.close()
    return KnowledgeState(orphans, others, *(tasks or (0, None)))
