"""What the doctor wants to know of the knowledge bases."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.outbound.embedding.onnx_embedder import OnnxEmbedder
from adapters.outbound.storage.pool import Database
from apps.containers.knowledge import Knowledge
from apps.settings import Settings


@dataclass(frozen=True, slots=True)
class KnowledgeState:
    """`orphans`: what is stored and belongs to nothing, by kind."""

    orphans: Mapping[str, int]
    of_other_models: int
    memory_tasks: int
    memory_error: str | None


async def state_of(knowledge: Knowledge, embedder: OnnxEmbedder, database: Database) -> KnowledgeState:
    """Counts; changes nothing."""
    chunks = knowledge.reindexing
    orphans = await chunks.orphans()
    orphans["files on disk that no record knows"] = await knowledge.sweeper.strays()
    model = await embedder.model()
    tasks = await database.fetch_one("SELECT count(*), max(last_error) FROM memory_task")
    others = await chunks.count_other(model.fingerprint)
    return KnowledgeState(orphans, others, *(tasks or (0, None)))


async def look(settings: Settings, dsn: str) -> KnowledgeState:
    """The same from a command, which opens the database for it. The database must be migrated."""
    from apps.container import CommandContainer

    container = CommandContainer(settings=settings, dsn=dsn)
    database = container.storage().database
    await database.open()
    try:
        return await state_of(container.knowledge(), container.embedder(), database)
    finally:
        container.embedder().close()
        await database.close()
