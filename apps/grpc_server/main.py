"""`switchboard core`: the gRPC core alone, beside gateways and workers on one database."""

from argparse import Namespace

from adapters.version import VERSION
from apps import logs
from apps.compose.container import CoreContainer
from apps.grpc_server.component import GrpcComponent, listening_address
from apps.processes.components import (
    EventsComponent,
    FilesComponent,
    RulesComponent,
    StorageComponent,
    metrics_components,
)
from apps.processes.knowledge import ModelComponent, ReadersComponent
from apps.processes.process import Component, run, serve
from apps.processes.starting import check_free, migrated, shared_database, unlocked
from apps.settings import Settings
from apps.settings_loading import complete


def main(settings: Settings, _: Namespace) -> int:
    """Runs until it is stopped; the exit status."""
    logs.set_up(settings, "core")
    settings = complete(settings)
    check_free(settings.grpc_host, settings.grpc_port, "GRPC_PORT")
    dsn = unlocked(settings, migrated(shared_database(settings)))

    async def core() -> int:
        container = CoreContainer(settings=settings, dsn=dsn, solitary=False, role="core")
        components: list[Component] = [
            StorageComponent(container, "core"),
            FilesComponent(container),
            ReadersComponent(container),
            ModelComponent(container),
            EventsComponent(container),
            RulesComponent(container),
            GrpcComponent(container),
            *metrics_components(container),
        ]
        address = listening_address(settings)
        return await run(
            components, lambda: logs.announce(f"Switchboard core {VERSION} is ready at {address}")
        )

    return serve(core())
