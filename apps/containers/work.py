"""What works on conversations and deliveries."""

from __future__ import annotations

import asyncio

from adapters.outbound.storage.confirmations import PostgresConfirmations
from adapters.outbound.storage.queue.rounds import PostgresRounds
from adapters.outbound.storage.shared_limits import PostgresSharedLimits
from apps.containers.channels import Channels
from apps.containers.foundation import Foundation
from apps.containers.knowledge import Knowledge
from apps.containers.storage import Storage
from apps.downstream import Resources
from domain.confirmations.service import ConfirmationService
from domain.delivery.rate_limits.service import RateLimiter
from domain.delivery.service import DeliveryService
from domain.routing.asking.service import InvocationService
from domain.routing.service import ConversationService
from ports.downstream import Downstream


def build_resources(foundation: Foundation, storage: Storage, knowledge: Knowledge) -> Resources:
    return Resources(foundation.settings, foundation.http, storage.chat_history, knowledge.answers)


def build_downstream(foundation: Foundation, resources: Resources) -> Downstream:
    return foundation.traces.downstream(resources.runner)


class Work:
    def __init__(
        self, foundation: Foundation, storage: Storage, channels: Channels, downstream: Downstream
    ) -> None:
        clock, ids, meter, settings = foundation.clock, foundation.ids, foundation.meter, foundation.settings
        database, outbox, instances = storage.database, storage.outbox, storage.instances
        self.approvals = ConfirmationService(PostgresConfirmations(database), clock, ids)
        self.shared_limits = PostgresSharedLimits(database)
        self.rate_limiter = _rate_limiter(foundation, storage, channels, self.shared_limits)
        invocations = InvocationService(
            downstream, self.approvals, channels.files, clock, ids, meter, storage.conversations, outbox
        )
        self.conversations = ConversationService(
            storage.conversations,
            instances,
            channels.registry,
            storage.identities,
            invocations,
            storage.health,
            clock,
            meter,
            settings.platform_url,
            PostgresRounds(database),
        )
        self.deliveries = DeliveryService(
            outbox, instances, channels.registry, storage.health, self.rate_limiter, clock, ids, meter
        )


def _rate_limiter(
    foundation: Foundation, storage: Storage, channels: Channels, shared_limits: PostgresSharedLimits
) -> RateLimiter:
    rate_limiter = RateLimiter(
        shared_limits,
        foundation.clock,
        asyncio.sleep,
        storage.event_bus.limits_changed,
        foundation.meter,
        channels.slots,
        enforce_quotas=foundation.settings.platform_limits == "published",
    )
    storage.event_bus.on_change(rate_limiter.forget)
    return rate_limiter
