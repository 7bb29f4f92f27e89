"""The gRPC core: services, health checking, reflection."""

import grpc
from grpc_health.v1 import health as health_checking
from grpc_reflection.v1alpha import reflection
from switchboard.access.v1 import access_pb2, access_pb2_grpc
from switchboard.channels.v1 import (
    callbacks_pb2,
    callbacks_pb2_grpc,
    catalogue_pb2,
    catalogue_pb2_grpc,
    checks_pb2,
    checks_pb2_grpc,
    conversations_pb2,
    conversations_pb2_grpc,
    files_pb2,
    files_pb2_grpc,
    instances_pb2,
    instances_pb2_grpc,
    messages_pb2,
    messages_pb2_grpc,
    schedules_pb2,
    schedules_pb2_grpc,
    web_chat_pb2,
    web_chat_pb2_grpc,
)
from switchboard.downstream.v1 import resources_pb2, resources_pb2_grpc, runner_pb2
from switchboard.events.v1 import events_pb2, events_pb2_grpc, subscriptions_pb2, subscriptions_pb2_grpc
from switchboard.knowledge.v1 import (
    base_files_pb2,
    base_files_pb2_grpc,
    knowledge_pb2,
    knowledge_pb2_grpc,
    questions_pb2,
    questions_pb2_grpc,
    sources_pb2,
    sources_pb2_grpc,
)
from switchboard.monitoring.v1 import monitoring_pb2, monitoring_pb2_grpc
from switchboard.verification.v1 import verification_pb2, verification_pb2_grpc

from adapters.inbound.grpc.access import AccessServicer, KeyServicer
from adapters.inbound.grpc.base_files import BaseFileServicer
from adapters.inbound.grpc.callbacks import CallbackServicer
from adapters.inbound.grpc.channels import CatalogueServicer, InstanceServicer
from adapters.inbound.grpc.config_checks import ConfigCheckServicer
from adapters.inbound.grpc.conversations import ConversationServicer
from adapters.inbound.grpc.events import EventServicer
from adapters.inbound.grpc.health import Health
from adapters.inbound.grpc.interceptors import Guard
from adapters.inbound.grpc.knowledge import KnowledgeServicer
from adapters.inbound.grpc.message_files import MessageFileServicer
from adapters.inbound.grpc.messages import MessageServicer
from adapters.inbound.grpc.monitoring import MonitoringServicer
from adapters.inbound.grpc.questions import QuestionServicer
from adapters.inbound.grpc.resources import ResourceServicer
from adapters.inbound.grpc.schedules import ScheduleServicer
from adapters.inbound.grpc.sources import SourceServicer
from adapters.inbound.grpc.subscriptions import SubscriptionServicer
from adapters.inbound.grpc.verification import VerificationServicer
from adapters.inbound.grpc.web_chat import WebChatServicer
from ports.clock import Ids
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

FILES = (
    access_pb2,
    callbacks_pb2,
    catalogue_pb2,
    events_pb2,
    files_pb2,
    instances_pb2,
    checks_pb2,
    conversations_pb2,
    messages_pb2,
    knowledge_pb2,
    resources_pb2,
    schedules_pb2,
    base_files_pb2,
    questions_pb2,
    sources_pb2,
    monitoring_pb2,
    subscriptions_pb2,
    verification_pb2,
    web_chat_pb2,
    runner_pb2,
)


RUNNER = "switchboard.downstream.v1.ResourceRunner"
"""Others serve it: resources."""


async def build(
    use_cases: UseCases, guard: Guard, ids: Ids, agent_url: str, health: Health
) -> grpc.aio.Server:
    """The server with all its services; the caller adds a port and starts it. `agent_url`: public base address."""
    server = grpc.aio.server(interceptors=[guard], options=OPTIONS, maximum_concurrent_rpcs=MOST_CALLS)
    _add_channels(use_cases, server)
    _add_conversations(use_cases, ids, agent_url, server)
    _add_others(use_cases, server)
    await _operations(server, health)
    return server


def _add_channels(use_cases: UseCases, server: grpc.aio.Server) -> None:
    catalogue_pb2_grpc.add_CatalogueServiceServicer_to_server(CatalogueServicer(use_cases.catalogue), server)
    instances = InstanceServicer(use_cases.instances, use_cases.operations)
    instances_pb2_grpc.add_InstanceServiceServicer_to_server(instances, server)
    checks_pb2_grpc.add_ConfigCheckServiceServicer_to_server(ConfigCheckServicer(use_cases.checks), server)
    schedules_pb2_grpc.add_ScheduleServiceServicer_to_server(ScheduleServicer(use_cases.schedules), server)


def _add_conversations(use_cases: UseCases, ids: Ids, agent_url: str, server: grpc.aio.Server) -> None:
    messages_pb2_grpc.add_MessageServiceServicer_to_server(MessageServicer(use_cases.messages), server)
    conversations_pb2_grpc.add_ConversationServiceServicer_to_server(
        ConversationServicer(use_cases.conversations), server
    )
    callbacks_pb2_grpc.add_CallbackServiceServicer_to_server(
        CallbackServicer(use_cases.callbacks, ids, agent_url), server
    )
    files_pb2_grpc.add_MessageFileServiceServicer_to_server(MessageFileServicer(use_cases.shared), server)
    web_chat_pb2_grpc.add_WebChatServiceServicer_to_server(WebChatServicer(use_cases.web_chat), server)


def _add_others(use_cases: UseCases, server: grpc.aio.Server) -> None:
    """Access, knowledge, events, resources and monitoring."""
    access_pb2_grpc.add_AccessServiceServicer_to_server(AccessServicer(use_cases.sessions), server)
    access_pb2_grpc.add_KeyServiceServicer_to_server(KeyServicer(use_cases.keys), server)
    verification_pb2_grpc.add_VerificationServiceServicer_to_server(
        VerificationServicer(use_cases.verification), server
    )
    knowledge = KnowledgeServicer(use_cases.bases, use_cases.files, use_cases.search)
    knowledge_pb2_grpc.add_KnowledgeServiceServicer_to_server(knowledge, server)
    base_files = BaseFileServicer(use_cases.base_files, use_cases.files, use_cases.search)
    base_files_pb2_grpc.add_BaseFileServiceServicer_to_server(base_files, server)
    questions = QuestionServicer(use_cases.questions)
    questions_pb2_grpc.add_QuestionServiceServicer_to_server(questions, server)
    sources_pb2_grpc.add_SourceServiceServicer_to_server(SourceServicer(use_cases.sources), server)
    events_pb2_grpc.add_EventsServicer_to_server(EventServicer(use_cases.events), server)
    subscriptions = SubscriptionServicer(use_cases.subscriptions, use_cases.pushes)
    subscriptions_pb2_grpc.add_SubscriptionServiceServicer_to_server(subscriptions, server)
    resources_pb2_grpc.add_ResourceServiceServicer_to_server(ResourceServicer(use_cases.resources), server)
    monitoring_pb2_grpc.add_MonitoringServiceServicer_to_server(
        MonitoringServicer(use_cases.monitoring), server
    )


async def _operations(server: grpc.aio.Server, health: Health) -> None:
    names = [service.full_name for file in FILES for service in file.DESCRIPTOR.services_by_name.values()]
    served = [name for name in names if name != RUNNER]
    await health.add_to(server, served)
    operations = [health_checking.SERVICE_NAME, reflection.SERVICE_NAME]
    reflection.enable_server_reflection([*served, *operations], server)
