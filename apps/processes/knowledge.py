"""What keeps knowledge bases going in a worker: uploads, vector indexes, memory tasks, cleaning."""

import asyncio
import logging

from adapters.inbound.jobs.periodic import PeriodicRunner, PeriodicTask
from adapters.inbound.jobs.uploads import UploadLoop
from apps.compose.container import CommandContainer, Container
from apps.processes.process import Component, Phase
from domain.refusals import Unavailable

log = logging.getLogger(__name__)

SOURCES_AT_ONCE = 4
"""Sources that a worker reads at a time, and as many again of users who have none among those."""


class ModelComponent(Component):
    """Prepares the embedding model right after the start, and loads it where that is asked for; it keeps nobody
    waiting."""

    name = "embedding model"
    phase = Phase.WORK

    def __init__(self, container: CommandContainer) -> None:
        self._container = container

    async def run(self) -> None:
        settings, embedder = self._container.settings(), self._container.embedder()
        try:
            if settings.embedding_preload:
                await embedder.prepare()
            elif settings.embedding_prepare_at_start:
                await embedder.ensure_prepared()
        except Unavailable as refusal:
            log.warning("the embedding model cannot be used: %s", refusal.message)
        await asyncio.Event().wait()


class ReadersComponent(Component):
    """Ends the processes and threads that read and embed files, once nobody works with them."""

    name = "file readers"
    phase = Phase.CONNECTIONS

    def __init__(self, container: CommandContainer) -> None:
        self._container = container

    async def stop(self) -> None:
        await self._container.embedder().close()
        await self._container.uploads().parser.close()


class KnowledgeComponent(Component):
    name = "knowledge bases"
    phase = Phase.WORK

    def __init__(self, container: Container) -> None:
        self._container = container
        self._periodic_task: asyncio.Task[None] | None = None
        ingest, news = container.uploads().ingest, container.uploads().news
        self.upload_loop = UploadLoop(ingest.take, ingest.work, news, container.settings().upload_concurrency)
        reader, due = container.sources().reader, container.sources().due
        self.source_loop = UploadLoop(reader.take, reader.work, due, SOURCES_AT_ONCE, "sources")
        self._periodic = PeriodicRunner(
            [
                PeriodicTask("files of sources", 5.0, reader.delete_unused),
                PeriodicTask("memory nodes", 5.0, container.knowledge().memory.work),
                PeriodicTask("words of the index", 60.0, container.knowledge().word_index.maintain),
                PeriodicTask("vector indexes", 60.0, container.knowledge().vector_indexes.maintain),
                PeriodicTask("embedding model", 5.0, container.knowledge().reindex.work),
                PeriodicTask("leftover files", 600.0, container.knowledge().sweeper.sweep),
            ]
        )

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.upload_loop.run())
            group.create_task(self.source_loop.run())
            self._periodic_task = group.create_task(self._periodic.run())

    async def stop(self) -> None:
        if self._periodic_task is not None:  # a process may be told to stop before its components run
            self._periodic_task.cancel()
        await self.source_loop.stop()
        await self.upload_loop.stop()
