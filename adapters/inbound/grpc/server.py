"""The gRPC core: services, health checking, reflection."""

import grpc
from grpc_health.v1 import health as health_checking
from grpc_reflection.v1alpha import reflection

from adapters.inbound.grpc.access import AccessServicer
from adapters.inbound.grpc.callbacks import CallbackServicer
from adapters.inbound.grpc.events import EventServicer
from adapters.inbound.grpc.health import Health
from adapters.inbound.grpc.instances import InstanceServicer
from adapters.inbound.grpc.interceptors import Guard, caller
from adapters.inbound.grpc.knowledge import KnowledgeServicer
from adapters.inbound.grpc.message_files import MessageFileServicer
from adapters.inbound.grpc.web_chat import WebChatServicer
from adapters.rpc import tables
from adapters.rpc.engine import Service, ports_of, public_methods
from ports.system import Ids
from ports.use_cases import UseCases

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


async def build(
    use_cases: UseCases, guard: Guard, ids: Ids, agent_url: str, health: Health
) -> grpc.aio.Server:
    """The server with all its services; the caller adds a port and starts it. `agent_url`: public base address."""
    server = grpc.aio.server(interceptors=[guard], options=OPTIONS, maximum_concurrent_rpcs=MOST_CALLS)
    by_hand: dict[Service, object] = {
        tables.ACCESS: AccessServicer(use_cases.sessions),
        tables.CALLBACKS: CallbackServicer(use_cases.callbacks, ids, agent_url),
        tables.EVENTS: EventServicer(use_cases.events),
        tables.INSTANCES: InstanceServicer(use_cases.instances),
        tables.KNOWLEDGE: KnowledgeServicer(use_cases.files),
        tables.MESSAGE_FILES: MessageFileServicer(use_cases.shared),
        tables.WEB_CHAT: WebChatServicer(use_cases.web_chat),
    }
    ports = ports_of(use_cases)
    for service in tables.SERVICES:
        written = public_methods(by_hand[service]) if service in by_hand else {}
        server.add_generic_rpc_handlers([service.handler(ports, written, caller)])
    served = [service.descriptor.full_name for service in tables.SERVICES]
    await health.add_to(server, served)
    reflection.enable_server_reflection(
        [*served, health_checking.SERVICE_NAME, reflection.SERVICE_NAME], server
    )
    return server
