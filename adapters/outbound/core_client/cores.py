"""The cores of a gateway: addresses from CORE_TARGET, their connections and health, and which one takes a call."""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub
from grpc_status import rpc_status

from adapters.outbound.net.tls import ClientTls, ProbeResult, channel_credentials, probe
from adapters.rpc.tables import REPEATABLE
from adapters.tasks import end

EXAMPLES = (
    "core:50051, or several as core-1:50051,core-2:50051, or dns:///cores:50051, or unix:///run/core.sock"
)
UNIX = re.compile(r"unix:(//)?(?P<path>/\S+)")
DNS = re.compile(r"dns:(///)?")
ADDRESS = re.compile(r"ipv[46]:")


@dataclass(frozen=True, slots=True)
class Target:
    """One entry of the list. `all_addresses`: the name stands for several cores, one behind each of its addresses.
    A socket of this machine has a `path` instead of a host."""

    host: str = ""
    port: int = 0
    all_addresses: bool = False
    path: str = ""

    @property
    def address(self) -> Address:
        """Of a target that stands for one core."""
        return Address(self.host, self.port, self.host, self.path)

    def __str__(self) -> str:
        return f"dns:///{self.address}" if self.all_addresses else str(self.address)


def address_of(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_targets(text: str) -> tuple[Target, ...]:
    """The targets of a comma-separated list. Raises `ValueError` for an entry that is invalid or repeated."""
    targets: list[Target] = []
    for entry in filter(None, map(str.strip, text.split(","))):
        if unix := UNIX.fullmatch(entry):
            target = Target(path=unix["path"])
        else:
            name = DNS.match(entry)
            scheme = name or ADDRESS.match(entry)
            host, port = _host_and_port(entry[scheme.end() if scheme else 0 :])
            if not host or not port:
                raise ValueError(f"must list host:port, not '{entry}'; write {EXAMPLES}")
            target = Target(host, port, all_addresses=name is not None)
        if target in targets:
            raise ValueError(f"names {target} twice")
        targets.append(target)
    return tuple(targets)


def _host_and_port(text: str) -> tuple[str, int]:
    """Empty and 0 where they are missing or wrong."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname or "", parts.port or 0
    except ValueError:
        return "", 0
    clean = parts.netloc == text and "@" not in text and not re.search(r"\s", text)
    return (host, port) if clean else ("", 0)


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
        if of_streams in self._channels:
            return self._channels[of_streams]
        address = str(self.address)
        options: list[tuple[str, Any]] = [*OPTIONS, ("grpc.use_local_subchannel_pool", int(of_streams))]
        if self._tls is None or self._contents is None:
            channel = grpc.aio.insecure_channel(address, options=options)
        else:
            name = self._tls.server_name or self.address.name
            if name != self.address.host:
                options.append(("grpc.ssl_target_name_override", name))
            channel = grpc.aio.secure_channel(address, channel_credentials(self._contents), options=options)
        self._channels[of_streams] = channel
        return channel

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


UNSENT = ("failed to connect to all addresses", "dns resolution failed", "name resolution failure")
"""How gRPC describes an UNAVAILABLE of a core to which there was no connection."""


class BalancedChannel:
    """The part of `grpc.aio.Channel` that generated stubs use."""

    def __init__(self, cores: Cores, *, of_streams: bool) -> None:
        self._cores = cores
        self._of_streams = of_streams

    def unary_unary(self, path: str, **options: Any) -> Any:
        return partial(self._call, path, self._method("unary_unary", path, options))

    def unary_stream(self, path: str, **options: Any) -> Any:
        return self._begin(self._method("unary_stream", path, options))

    def stream_unary(self, path: str, **options: Any) -> Any:
        return self._begin(self._method("stream_unary", path, options))

    def stream_stream(self, path: str, **options: Any) -> Any:
        return self._begin(self._method("stream_stream", path, options))

    def _method(self, kind: str, path: str, options: dict[str, Any]) -> Callable[[Endpoint], Any]:
        """The method at one core. Remembered, as making it costs a part of a call."""
        of_streams = self._of_streams

        def method(endpoint: Endpoint) -> Any:
            method = endpoint.methods.get((of_streams, path))
            if method is None:
                method = getattr(endpoint.channel(of_streams), kind)(path, **options)
                endpoint.methods[of_streams, path] = method
            return method

        return method

    def _begin(self, method: Callable[[Endpoint], Any]) -> Callable[..., Any]:
        def begin(*arguments: Any, **options: Any) -> Any:
            return method(self._cores.pick())(*arguments, **options)

        return begin

    async def _call(self, path: str, method: Callable[[Endpoint], Any], request: Any, **options: Any) -> Any:
        """The answer of one core, or of another where that is safe."""
        tried: list[Endpoint] = []
        while True:
            endpoint = self._cores.pick(tried)
            try:
                return await method(endpoint)(request, **options)
            except grpc.aio.AioRpcError as error:
                tried.append(endpoint)
                if len(tried) >= len(self._cores.endpoints) or not may_repeat(path, error):
                    raise


def may_repeat(path: str, error: grpc.aio.AioRpcError) -> bool:
    """Return True if another core may be asked: the call was not sent, or it may be repeated."""
    away = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    if error.code() not in away or rpc_status.from_call(error) is not None:  # type: ignore[arg-type]
        return False
    if any(sign in (error.details() or "").lower() for sign in UNSENT):
        return True
    return path in REPEATABLE


class Cores:
    """Calls go to the cores that say that they can serve, in turn; to all while none says so."""

    def __init__(self, targets: Sequence[Target], tls: ClientTls | None) -> None:
        self._targets = targets
        self.tls = tls
        self._turn = itertools.count()
        self._tasks: dict[Endpoint, asyncio.Task[None]] = {}
        self._draining: dict[asyncio.Task[None], Endpoint] = {}
        self._unresolved: set[Target] = set()
        self._refreshing = asyncio.Lock()
        self.endpoints = [Endpoint(target.address, tls) for target in targets]

    def pick(self, tried: Sequence[Endpoint] = ()) -> Endpoint:
        """One that was not tried before, as far as there is one."""
        untried = [endpoint for endpoint in self.endpoints if endpoint not in tried] or self.endpoints
        serving = [endpoint for endpoint in untried if endpoint.serving] or untried
        return serving[next(self._turn) % len(serving)]

    def start(self) -> None:
        """Begins to follow how the cores are."""
        for endpoint in self.endpoints:
            if endpoint not in self._tasks:
                self._tasks[endpoint] = asyncio.create_task(endpoint.watch())

    @property
    def fault(self) -> str:
        """Why calls find no core, as far as that is known."""
        return "; ".join(
            f"{endpoint.address}: {endpoint.fault}" for endpoint in self.endpoints if endpoint.fault
        )

    def certificates(self) -> Mapping[str, datetime]:
        """Until when the certificates of the cores are valid, by their addresses."""
        ends = {str(endpoint.address): endpoint.valid_until for endpoint in self.endpoints}
        return {address: end for address, end in ends.items() if end}

    async def refresh(self) -> None:
        """Resolves names that stand for several cores, and connects anew with new certificates."""
        async with self._refreshing:
            renewed = self.tls is not None and self.tls.files.look()
            former = {endpoint.address: endpoint for endpoint in self.endpoints}
            endpoints: dict[Address, Endpoint] = {}
            for target in self._targets:
                for address in await self._addresses(target):
                    endpoint = former.get(address)
                    if endpoint is None or renewed:
                        # A core that could serve a moment ago still can.
                        is_serving = endpoint is not None and endpoint.serving
                        endpoint = Endpoint(address, self.tls)
                        endpoint.serving = is_serving
                    endpoints[address] = endpoint
            retired = [endpoint for endpoint in self.endpoints if endpoint not in endpoints.values()]
            self.endpoints = [*endpoints.values()]
            self.start()
            for endpoint in retired:
                await self._retire(endpoint)

    async def _addresses(self, target: Target) -> Sequence[Address]:
        """Those of a name as they are now; as they were while it cannot be resolved."""
        if not target.all_addresses:
            return [target.address]
        loop = asyncio.get_running_loop()
        try:
            entries = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        except OSError as error:
            if target not in self._unresolved:
                log.warning("%s of CORE_TARGET cannot be resolved: %s", str(target), error.strerror)
            self._unresolved.add(target)
            name = (target.host, target.port)
            known = (endpoint.address for endpoint in self.endpoints)
            return [address for address in known if (address.name, address.port) == name]
        self._unresolved.discard(target)
        return [Address(str(entry[4][0]), target.port, target.host) for entry in sorted(entries)]

    async def _retire(self, endpoint: Endpoint) -> None:
        watching = self._tasks.pop(endpoint, None)
        if watching:
            await end([watching], f"watching {endpoint.address}")
        draining = asyncio.create_task(endpoint.drain())
        self._draining[draining] = endpoint
        draining.add_done_callback(lambda task: self._draining.pop(task, None))

    async def close(self) -> None:
        draining = list(self._draining.values())
        await end([*self._tasks.values(), *self._draining], "connections to cores")
        for endpoint in (*self.endpoints, *draining):
            await endpoint.close()
