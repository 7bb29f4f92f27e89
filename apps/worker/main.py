"""`switchboard worker`: conversations, deliveries, polls and schedules, beside a core on one database."""

from __future__ import annotations

from apps import logs
from apps.components import SocketsPart, StoragePart, WorkerPart
from apps.container import Container
from apps.jobs import JobsPart
from apps.knowledge import KnowledgePart, ModelPart, ReadersPart
from apps.process import Component, run, serve
from apps.secrets import complete
from apps.settings import Settings
from apps.starting import migrated, shared_database, unlocked
from apps.verification import VerificationBotPart


def main(settings: Settings) -> int:
    """Runs until it is told to stop; the exit status."""
    logs.set_up(settings)
    settings = complete(settings)
    dsn = unlocked(settings, migrated(shared_database(settings)))

    async def worker() -> int:
        container = Container(settings=settings, dsn=dsn, solitary=False)
        parts: list[Component] = [
            StoragePart(container, "worker"),
            WorkerPart(container),
            JobsPart(container),
            SocketsPart(container),
            VerificationBotPart(settings, container.http()),
            KnowledgePart(container),
            ReadersPart(container),
            ModelPart(container),
        ]
        return await run(parts, lambda: print("Switchboard worker is ready", flush=True))

    return serve(worker())
