"""`switchboard up`: REST gateway, gRPC core, worker and queue in one process, PostgreSQL as its child."""

import sys
from argparse import Namespace

from apps import logs
from apps.components import EventsComponent, SocketsComponent, StorageComponent, WorkerComponent
from apps.container import Container
from apps.grpc_server.component import GrpcComponent
from apps.http_server import HttpComponent
from apps.jobs import JobsComponent
from apps.knowledge import KnowledgeComponent, ModelComponent, ReadersComponent
from apps.process import Component, Phase, run, serve
from apps.rest import build_gateway
from apps.secrets import complete
from apps.settings import Settings
from apps.starting import check_free, embedded_database, listen, migrated, unlocked
from apps.subscriptions import SubscriptionsComponent
from apps.verification import VerificationBotComponent
from domain.access.model import Role
from domain.access.service import FIRST_ADMIN
from domain.access.tokens import sign_in_address


def main(settings: Settings, _: Namespace) -> int:
    """Runs until it is told to stop; the exit status."""
    logs.set_up(settings)
    settings = complete(settings)
    listener = listen(settings.http_host, settings.http_port, "HTTP_PORT")
    check_free(settings.grpc_host, settings.grpc_port, "GRPC_PORT")
    if settings.database_url:
        return serve(_serve(settings, unlocked(settings, migrated(settings.database_url)), listener))
    with embedded_database(settings) as dsn:
        return serve(_serve(settings, unlocked(settings, migrated(dsn, embedded=True)), listener))


async def _serve(settings: Settings, dsn: str, listener) -> int:  # type: ignore[no-untyped-def]
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
        ReadersComponent(container),
        ModelComponent(container),
        EventsComponent(container),
        grpc,
        VerificationBotComponent(settings, container.foundation().http),
        HttpComponent(build_gateway(container), listener, settings),
    ]
    host, port = listener.getsockname()[:2]
    return await run(components, lambda: _banner(f"{host}:{port}", grpc.port, settings, first))


class _FirstSignIn(Component):
    """Makes an admin key when there is none yet, and at each start a link to sign in to the console."""

    name = "first sign-in"
    phase = Phase.CONNECTIONS

    def __init__(self, container: Container) -> None:
        self._container = container
        self.token: str | None = None
        self.link = ""

    async def start(self) -> None:
        access = self._container.access()
        if not await access.list_keys():
            _, self.token = await access.create_key(FIRST_ADMIN, Role.ADMIN)
        self.link = sign_in_address(self._container.settings().agent_url, await access.create_link())


def _banner(rest: str, grpc_port: int, settings: Settings, first: _FirstSignIn) -> None:
    lines = [
        "Switchboard is ready",
        f"  REST gateway   http://{rest}  (documentation at /docs)",
        f"  gRPC core      {settings.grpc_host}:{grpc_port}",
        f"  data           {settings.data_dir if settings.embedded else 'DATABASE_URL'}",
        "",
        "  Console; this link signs in once, within an hour:",
        f"  {first.link}",
    ]
    if first.token:
        lines += ["", "  Admin API key, shown this once:", f"  {first.token}"]
    print("\n".join([*lines, ""]), file=sys.stdout, flush=True)
