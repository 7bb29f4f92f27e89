"""The gRPC core: services, health checking (grpc.health.v1), reflection.

Beside the services and the empty name, which stands for the whole server, health is reported for what is checked,
such as `database`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_health.v1 import health as health_checking
from grpc_health.v1.health_pb2 import HealthCheckResponse
from grpc_reflection.v1alpha import reflection

from adapters.inbound.grpc import servicers
from adapters.inbound.grpc.callbacks import CallbackServicer
from adapters.inbound.grpc.interceptors import Guard, caller
from adapters.rpc import tables
from adapters.rpc.engine import Service, public_methods, use_cases_of
from domain.use_cases import UseCases
from ports.system import Ids

Check = Callable[[], Awaitable[object]]

LOOK_EVERY = 2.0
LOOK_SECONDS = 3.0


class Health:
    """`checks` raise when what they look at is away; without those in `needed` no service can serve."""

    def __init__(self, checks: Mapping[str, Check], needed: Sequence[str]) -> None:
        self._checks = checks
        self._needed = needed
        self._services: list[str] = [""]
        self.servicer = health.aio.HealthServicer()  # type: ignore[attr-defined]  # which its types lack

    async def add_to(self, server: grpc.aio.Server, services: Sequence[str]) -> None:
        """Answers for these services from now on."""
        self._services += services
        health_pb2_grpc.add_HealthServicer_to_server(self.servicer, server)
        await self.look()

    async def keep(self) -> None:
        """Looks again and again, until it is cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            await self.look()

    async def look(self) -> None:
        async def answers(check: Check) -> bool:
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await check()
            except Exception:  # noqa: BLE001 - whatever it is, it does not answer
                return False
            return True

        outcomes = await asyncio.gather(*map(answers, self._checks.values()))
        states = dict(zip(self._checks, outcomes, strict=True))
        serving = all(states[name] for name in self._needed)
        for name, state in [*states.items(), *((name, serving) for name in self._services)]:
            status = HealthCheckResponse.SERVING if state else HealthCheckResponse.NOT_SERVING
            await self.servicer.set(name, status)


LARGEST_MESSAGE = 16 * 1024 * 1024
LARGEST_METADATA = 64 * 1024

MOST_CALLS = 4000
"""Calls under way at a time, over all connections; others are refused with RESOURCE_EXHAUSTED."""

OPTIONS = (
    ("grpc.so_reuseport", 0),  # else a second process on the same port would start silently
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.max_send_message_length", LARGEST_MESSAGE),
    ("grpc.max_metadata_size", LARGEST_METADATA),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.max_connection_idle_ms", 15 * 60_000),
    ("grpc.max_concurrent_streams", 1000),
    ("grpc.server_handshake_timeout_ms", 10_000),
)


def behaviours_of(
    use_cases: UseCases, ids: Ids, agent_url: str
) -> Mapping[Service, Mapping[str, Callable[[Any, Any], Any]]]:
    """The methods of all services by their names, those written by hand among them."""
    by_hand: dict[Service, object] = {
        tables.ACCESS: servicers.AccessServicer(use_cases.sessions),
        tables.CALLBACKS: CallbackServicer(use_cases.callbacks, ids, agent_url),
        tables.EVENTS: servicers.EventServicer(use_cases.events),
        tables.INSTANCES: servicers.InstanceServicer(use_cases.instances),
        tables.KNOWLEDGE: servicers.KnowledgeServicer(use_cases.files),
        tables.MESSAGE_FILES: servicers.MessageFileServicer(use_cases.shared),
        tables.WEB_CHAT: servicers.WebChatServicer(use_cases.web_chat),
    }
    by_class = use_cases_of(use_cases)
    return {
        service: service.behaviours(
            by_class, public_methods(by_hand[service]) if service in by_hand else {}, caller
        )
        for service in tables.SERVICES
    }


async def build(
    use_cases: UseCases, guard: Guard, ids: Ids, agent_url: str, health: Health
) -> grpc.aio.Server:
    """The server with all its services; the caller adds a port and starts it. `agent_url`: public base address."""
    server = grpc.aio.server(interceptors=[guard], options=OPTIONS, maximum_concurrent_rpcs=MOST_CALLS)
    for service, behaviours in behaviours_of(use_cases, ids, agent_url).items():
        server.add_generic_rpc_handlers([service.handler(behaviours)])
    served = [service.descriptor.full_name for service in tables.SERVICES]
    await health.add_to(server, served)
    reflection.enable_server_reflection(
        [*served, health_checking.SERVICE_NAME, reflection.SERVICE_NAME], server
    )
    return server
