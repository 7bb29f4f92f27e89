"""The gRPC server as a component of a process."""

import asyncio
import logging

import grpc

from adapters.inbound.grpc.interceptors import Guard
from adapters.inbound.grpc.server import Health, build
from adapters.outbound.net.tls import server_credentials
from adapters.outbound.system.metrics import CertificateMetrics
from apps import logs
from apps.compose.container import CoreContainer
from apps.processes.process import CALL_GRACE, Component, Phase
from apps.processes.starting import StartError
from apps.settings import Settings
from apps.tls import USE_TLS, is_loopback, keep_looking, tls_of_core

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
        self._files = tls_of_core(container.settings())
        if self._files is not None:
            container.checks()["certificates"] = self._files.check
            CertificateMetrics(self._files, dict, container.foundation().meter.registry)
        self._server: grpc.aio.Server | None = None
        self._health = Health(container.checks(), needed=["database"])
        self.port = 0

    async def start(self) -> None:
        container = self._container
        address = listening_address(container.settings())
        access, ids = container.access(), container.foundation().ids
        guard = Guard(access, access.is_service_key, ids, logs.bind_request)
        agent_url = container.settings().agent_url
        self._server = await build(container.use_cases(), guard, ids, agent_url, self._health)
        try:
            self.port = self._add_port(self._server, address)
        except RuntimeError as error:
            raise StartError(
                f"cannot listen on {address} (in use?); stop the other program or set GRPC_PORT"
            ) from error
        await self._server.start()

    def _add_port(self, server: grpc.aio.Server, address: str) -> int:
        if self._files is not None:
            return server.add_secure_port(address, server_credentials(self._files))
        if not is_loopback(self._container.settings().grpc_host):
            log.warning("the gRPC core listens on %s without TLS; %s", address, USE_TLS)
        return server.add_insecure_port(address)

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
