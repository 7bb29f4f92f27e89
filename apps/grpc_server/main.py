"""`switchboard core`: the gRPC core alone, beside gateways and workers on one database. `up` runs its server too."""

import asyncio
import logging
from argparse import Namespace

import grpc

from adapters.inbound.grpc.interceptors import Guard
from adapters.inbound.grpc.server import Health, build
from adapters.outbound.net.tls import server_credentials
from adapters.outbound.system.metrics import CertificateMetrics
from adapters.version import VERSION
from apps import logs
from apps.compose.container import CoreContainer
from apps.processes.components import (
    EventsComponent,
    FilesComponent,
    RulesComponent,
    StorageComponent,
    metrics_components,
)
from apps.processes.knowledge import ModelComponent, ReadersComponent
from apps.processes.process import CALL_GRACE, Component, Phase, run, serve
from apps.processes.starting import StartError, check_free, migrated, shared_database, unlocked
from apps.settings import Settings
from apps.settings_loading import complete
from apps.tls import USE_TLS, core_files, is_loopback, keep_looking, watched

log = logging.getLogger("switchboard.grpc")


def listening_address(settings: Settings) -> str:
    host = f"[{settings.grpc_host}]" if ":" in settings.grpc_host else settings.grpc_host
    return f"{host}:{settings.grpc_port}"


class GrpcComponent(Component):
    name = "gRPC core"
    phase = Phase.CALLS

    def __init__(self, container: CoreContainer) -> None:
        """Raises `SettingsError` where the files of TLS cannot be used."""
        self._container = container
        self._files = watched(core_files(container.settings()))
        if self._files is not None:
            container.checks()["certificates"] = self._files.check
            CertificateMetrics(self._files, dict, container.foundation().meter.registry)
        self._server: grpc.aio.Server | None = None
        self._health = Health(container.checks(), needed=["database"])
        self.port = 0

    async def start(self) -> None:
        container, settings = self._container, self._container.settings()
        address = listening_address(settings)
        access, ids = container.access(), container.foundation().ids
        guard = Guard(access, access.is_service_key, ids, logs.current_request.set)
        self._server = await build(container.use_cases(), guard, ids, settings.agent_url, self._health)
        if self._files is None and not is_loopback(settings.grpc_host):
            log.warning("the gRPC core listens on %s without TLS; %s", address, USE_TLS)
        try:
            if self._files is None:
                self.port = self._server.add_insecure_port(address)
            else:
                self.port = self._server.add_secure_port(address, server_credentials(self._files))
        except RuntimeError as error:
            raise StartError(
                f"cannot listen on {address} (in use?); stop the other program or set GRPC_PORT"
            ) from error
        await self._server.start()

    async def run(self) -> None:
        assert self._server is not None
        looking = [asyncio.create_task(self._health.keep())]
        if self._files is not None:
            looking.append(asyncio.create_task(keep_looking(self._files)))
        try:
            await self._server.wait_for_termination()
        finally:
            for task in looking:
                task.cancel()

    def reload(self) -> None:
        """Looks at certificates and keys at once."""
        if self._files is not None:
            self._files.look()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(CALL_GRACE)


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
