"""`switchboard up`: REST gateway, gRPC core, worker and queue in one process, PostgreSQL as its child."""

import socket
import sys
from argparse import Namespace
from contextlib import nullcontext

from adapters.inbound.rest.app import build
from adapters.inbound.rest.asgi import App
from adapters.version import VERSION
from apps import logs
from apps.compose.container import Container
from apps.grpc_server.main import GrpcComponent
from apps.http_gateway.server import HttpComponent, gateway_options
from apps.processes.components import (
    EventsComponent,
    FilesComponent,
    JobsComponent,
    SocketsComponent,
    StorageComponent,
    SubscriptionsComponent,
    WorkerComponent,
)
from apps.processes.knowledge import KnowledgeComponent, ModelComponent, ReadersComponent
from apps.processes.process import Component, Phase, run, serve
from apps.processes.starting import check_free, embedded_database, listen, migrated, unlocked
from apps.settings import Settings
from apps.settings_loading import complete
from apps.verification import VerificationBotComponent
from domain.access.model import Role, sign_in_address
from domain.access.service import FIRST_ADMIN


def main(settings: Settings, _: Namespace) -> int:
    """Runs until it is stopped; the exit status."""
    logs.set_up(settings, "up")
    settings = complete(settings)
    listener = listen(settings.http_host, settings.http_port, "HTTP_PORT")
    check_free(settings.grpc_host, settings.grpc_port, "GRPC_PORT")
    database = nullcontext(settings.database_url) if settings.database_url else embedded_database(settings)
    with database as dsn:
        migrated(dsn, embedded=settings.embedded)
        return serve(run_service(settings, unlocked(settings, dsn), listener))


async def run_service(settings: Settings, dsn: str, listener: socket.socket) -> int:
    """Runs until it is stopped; the exit status."""
    container = Container(settings=settings, dsn=dsn, solitary=True)
    first = _FirstSignIn(container)
    grpc = GrpcComponent(container)
    components: list[Component] = [
        StorageComponent(container, "standalone"),
        first,
        WorkerComponent(container),
        JobsComponent(container),
        SocketsComponent(container),
        SubscriptionsComponent(container),
        KnowledgeComponent(container),
        FilesComponent(container),
        ReadersComponent(container),
        ModelComponent(container),
        EventsComponent(container),
        grpc,
        VerificationBotComponent(settings, container.foundation().http),
        HttpComponent(build_gateway(container), listener, settings),
    ]
    host, port = listener.getsockname()[:2]

    def ready() -> None:
        lines = [
            f"Switchboard {VERSION} is ready",
            f"  REST gateway   http://{host}:{port}  (documentation at /docs)",
            f"  gRPC core      {settings.grpc_host}:{grpc.port}",
            f"  data           {settings.data_dir if settings.embedded else 'DATABASE_URL'}",
            "",
        ]
        if first.link:
            lines += ["  Console; this link signs in once, within an hour:", f"  {first.link}"]
        else:
            lines += [
                "  Output that is no terminal may be kept, so it gets no link and no key. To make them:",
                "  switchboard console link --user me --role admin   (signs in to the console once)",
                "  switchboard keys create --user me --role admin    (an API key)",
            ]
        if first.token:
            lines += ["", "  Admin API key, shown this once:", f"  {first.token}"]
        logs.announce(*lines, "")

    return await run(components, ready)


def build_gateway(container: Container) -> App:
    """The REST gateway, straight on the use cases of this process."""
    foundation = container.foundation()
    options = gateway_options(
        foundation.settings,
        container.checks(),
        container.metrics(),
        foundation.meter.answered,
        foundation.traces.span,
    )
    return build(container.use_cases(), foundation.clock, foundation.ids, options)


class _FirstSignIn(Component):
    """Makes an admin key if there is no key yet, and at each start a link to sign in to the console. Both only on a
    terminal: other output is kept in logs, where no credential belongs."""

    name = "first sign-in"
    phase = Phase.CONNECTIONS

    def __init__(self, container: Container) -> None:
        self._container = container
        self.token: str | None = None
        self.link = ""

    async def start(self) -> None:
        if not sys.stdout.isatty():
            return
        access = self._container.access()
        if not await access.list_keys():
            _, self.token = await access.create_key(FIRST_ADMIN, Role.ADMIN)
        self.link = sign_in_address(self._container.settings().agent_url, await access.create_link())
