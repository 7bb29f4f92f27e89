"""One core among several: its connections, and whether it says that it can serve."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub

from adapters.outbound.core_client.targets import address_of
from adapters.tls.credentials import ClientTls, channel_credentials
from adapters.tls.probe import ProbeResult, probe

log = logging.getLogger("switchboard.core")

LARGEST_MESSAGE = 16 * 1024 * 1024
LARGEST_METADATA = 64 * 1024

OPTIONS = (
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.max_send_message_length", LARGEST_MESSAGE),
    ("grpc.max_metadata_size", LARGEST_METADATA),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),  # a minute otherwise, whatever the line before says
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)

LOOK_AGAIN = 1.0
"""Seconds after which a core that is away is looked for again."""
DRAIN_SECONDS = 24 * 3600.0
"""How long connections with former certificates are kept for calls under way, such as streams of events."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where one core is. `name`: the name of CORE_TARGET, which its certificate is checked against."""

    host: str = ""
    port: int = 0
    name: str = ""
    path: str = ""

    def __str__(self) -> str:
        return f"unix:{self.path}" if self.path else address_of(self.host, self.port)


class Endpoint:
    """Two connections to one core, opened on first use in the running loop: a connection takes 1,000 calls at a time,
    so that streams, of which there are many, have one of their own."""

    def __init__(self, address: Address, tls: ClientTls | None) -> None:
        self.address = address
        self.serving = False
        self.valid_until: datetime | None = None
        """The end of the core's certificate, as it was at the latest look."""
        self.on_retire: list[Callable[[], None]] = []
        self.methods: dict[tuple[bool, str], Any] = {}
        self._tls = None if address.path else tls
        self._contents = self._tls.files.contents if self._tls else None
        self._channels: dict[bool, grpc.aio.Channel] = {}
        self.fault = ""
        """Why the core is not used."""

    def channel(self, of_streams: bool) -> grpc.aio.Channel:
        channel = self._channels.get(of_streams)
        if channel is None:
            channel = self._channels[of_streams] = self._connect(of_streams)
        return channel

    def _connect(self, of_streams: bool) -> grpc.aio.Channel:
        options: list[tuple[str, Any]] = [*OPTIONS, ("grpc.use_local_subchannel_pool", int(of_streams))]
        if self._tls is None or self._contents is None:
            return grpc.aio.insecure_channel(str(self.address), options=options)
        name = self._tls.server_name or self.address.name
        if name != self.address.host:
            options.append(("grpc.ssl_target_name_override", name))
        return grpc.aio.secure_channel(
            str(self.address), channel_credentials(self._contents), options=options
        )

    async def watch(self) -> None:
        """Follows what the core says of itself, until it is cancelled."""
        while True:
            try:
                stub = HealthStub(self.channel(of_streams=False))
                answers: Any = stub.Watch(HealthCheckRequest(service=""))
                async for answer in answers:
                    self.serving = answer.status == HealthCheckResponse.SERVING
                    self._tell("" if self.serving else "it cannot serve; its log says why")
                    if self.serving and self.valid_until is None:
                        self.valid_until = (await self.probe()).valid_until
            except grpc.aio.AioRpcError as error:
                self.serving = False
                result = await self.probe()
                self._tell(result.fault or f"gRPC status {error.code().name}")
            self.serving = False
            await asyncio.sleep(LOOK_AGAIN)

    async def probe(self) -> ProbeResult:
        """Why the core cannot be reached."""
        if self.address.path:
            return ProbeResult()
        tls = self._tls
        name = (tls.server_name if tls else "") or self.address.name
        return await probe(self.address.host, self.address.port, tls.files if tls else None, name)

    def _tell(self, fault: str) -> None:
        """Logs a change."""
        if fault and fault != self.fault:
            log.warning("the core at %s is not used: %s", str(self.address), fault)
        elif self.fault and not fault:
            log.info("the core at %s can serve again", str(self.address))
        self.fault = fault

    async def drain(self) -> None:
        """Closes the connections once the calls under way have ended."""
        for retire in self.on_retire:
            retire()
        await asyncio.gather(*(channel.close(DRAIN_SECONDS) for channel in self._channels.values()))

    async def close(self) -> None:
        for channel in self._channels.values():
            await channel.close(None)
