"""The gRPC server as a component of a process."""

import asyncio

import grpc

from adapters.inbound.grpc.health import Health
from adapters.inbound.grpc.server import build
from apps import logs
from apps.container import CoreContainer
from apps.process import CALL_GRACE, Component, Phase
from apps.settings import Settings
from apps.starting import StartError


def listening_address(settings: Settings) -> str:
    host = f"[{settings.grpc_host}]" if ":" in settings.grpc_host else settings.grpc_host
    return f"{host}:{settings.grpc_port}"


class GrpcComponent(Component):
    name = "gRPC core"
    phase = Phase.CALLS

    def __init__(self, container: CoreContainer) -> None:
        self._container = container
        self._server: grpc.aio.Server | None = None
        self._health = Health(container.checks(), needed=["database"])
        self.port = 0

    async def start(self) -> None:
        container = self._container
        address = listening_address(container.settings())
        self._server = await build(
            container.use_cases(), container.foundation().ids, logs.bind_request, self._health
        )
        try:
            self.port = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise StartError(
                f"cannot listen on {address} (in use?); stop the other program or set GRPC_PORT"
            ) from error
        await self._server.start()

    async def run(self) -> None:
        assert self._server is not None
        looking = asyncio.create_task(self._health.keep())
        try:
            await self._server.wait_for_termination()
        finally:
            looking.cancel()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(CALL_GRACE)
