"""The use cases, behind REST and gRPC alike."""

from __future__ import annotations

from adapters.outbound.storage.sessions import PostgresSessions
from apps import verification
from apps.containers.channels import Channels
from apps.containers.foundation import Foundation
from apps.containers.knowledge import Knowledge
from apps.containers.storage import Files, Storage
from domain.access.service import AccessService
from domain.callbacks.model import CallbackRules
from domain.callbacks.service import CallbackService
from domain.channels.service import CatalogueService
from domain.instances.service import InstanceService
from ports.use_cases import UseCases


def build_access(foundation: Foundation, storage: Storage) -> AccessService:
    return AccessService(storage.keys, foundation.ids, foundation.settings.internal_service_key)


def build_instances(foundation: Foundation, storage: Storage, channels: Channels) -> InstanceService:
    return InstanceService(
        storage.instances,
        channels.registry,
        storage.health,
        storage.outbox,
        storage.processes,
        channels.pairings,
        channels.polling,
        foundation.settings.agent_url,
    )


def build_callbacks(foundation: Foundation, storage: Storage, channels: Channels) -> CallbackService:
    settings = foundation.settings
    return CallbackService(
        storage.instances,
        channels.registry,
        storage.inbox,
        storage.outbox,
        storage.health,
        storage.metadata,
        storage.schedules,
        storage.deactivation,
        storage.event_bus,
        foundation.clock,
        foundation.meter,
        PostgresSessions(storage.database),
        CallbackRules(settings.demands_signatures, settings.max_webhook_body_kb),
    )


def build_use_cases(
    foundation: Foundation,
    storage: Storage,
    files: Files,
    channels: Channels,
    knowledge: Knowledge,
    access: AccessService,
    instances: InstanceService,
    callbacks: CallbackService,
) -> UseCases:
    return UseCases(
        access=access,
        catalogue=CatalogueService(channels.registry, channels.links),
        instances=instances,
        callbacks=foundation.traces.callbacks(callbacks),
        verification=verification.service(foundation, storage),
        bases=knowledge.bases,
        files=knowledge.files,
        search=knowledge.search,
        shared=files.shared,
    )
