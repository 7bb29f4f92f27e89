"""`switchboard worker`: conversations, deliveries, polls and schedules, beside a core on one database."""

from argparse import Namespace

from adapters.version import VERSION
from apps import logs
from apps.compose.container import Container
from apps.processes.components import (
    FilesComponent,
    JobsComponent,
    SocketsComponent,
    StorageComponent,
    SubscriptionsComponent,
    WorkerComponent,
    metrics_components,
)
from apps.processes.knowledge import KnowledgeComponent, ModelComponent, ReadersComponent
from apps.processes.process import Component, run, serve
from apps.processes.starting import migrated, shared_database, unlocked
from apps.settings import Settings
from apps.settings_loading import complete
from apps.verification import VerificationBotComponent


def main(settings: Settings, _: Namespace) -> int:
    """Runs until it is stopped; the exit status."""
    logs.set_up(settings, "worker")
    settings = complete(settings)
    dsn = unlocked(settings, migrated(shared_database(settings)))

    async def worker() -> int:
        container = Container(settings=settings, dsn=dsn, solitary=False, role="worker")
        components: list[Component] = [
            StorageComponent(container, "worker"),
            WorkerComponent(container),
            JobsComponent(container),
            SocketsComponent(container),
            SubscriptionsComponent(container),
            VerificationBotComponent(settings, container.foundation().http),
            KnowledgeComponent(container),
            FilesComponent(container),
            ReadersComponent(container),
            ModelComponent(container),
            *metrics_components(container),
        ]
        return await run(components, lambda: logs.announce(f"Switchboard worker {VERSION} is ready"))

    return serve(worker())
