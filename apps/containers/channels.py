"""The channels, and what keeps their instances going."""

from functools import cache

from adapters.inbound.sockets.supervisor import Supervisor
from adapters.outbound.channels.registry import Registry
from adapters.outbound.net.addresses import AllowedAddresses
from adapters.outbound.net.websockets import AioWebSockets
from adapters.outbound.storage.identities import PostgresSessions
from adapters.outbound.storage.knowledge.sources import PostgresSources
from adapters.outbound.storage.links import PairingStore
from adapters.outbound.system.verification_bot import OwnerNotifier
from apps import verification
from apps.containers.foundation import Foundation
from apps.containers.storage import Files, Storage
from domain.callbacks import SessionRenames
from domain.delivery.concurrency import ConcurrencyLimiter, ReadLimiter
from domain.files import MessageFilesService
from domain.instances.pairing import PairingService
from domain.instances.registration import RegistrationService
from domain.knowledge.sources.reading import FolderSync
from domain.polling.service import PollingService, ScheduleService
from ports.channels import ChannelDependencies


class Channels:
    """`slots` limits concurrent calls of each platform, `reads` those that read from it."""

    def __init__(self, foundation: Foundation, storage: Storage, files: Files) -> None:
        instances, health = storage.instances, storage.health
        self.dependencies = _dependencies(foundation, storage, files)
        self.registry = registry = _registry(self.dependencies)
        self.slots = ConcurrencyLimiter()
        self.reads = ReadLimiter(self.slots)
        self.files = MessageFilesService(files.shared, registry, health, self.reads)
        self.links = PairingStore(
            storage.database, foundation.worker_id, instances, health, _notifier(foundation, storage)
        )
        self.pairings = PairingService(self.links, registry)
        self.renames = SessionRenames(PostgresSessions(storage.database), instances)
        self.supervisor = Supervisor(
            self.links,
            instances,
            registry,
            storage.inbox,
            storage.unanswered,
            storage.cursors,
            foundation.meter,
            self.renames,
        )
        storage.event_bus.on_change(self.supervisor.changed)
        self.registration = RegistrationService(
            instances, registry, health, storage.connections, foundation.settings.agent_url
        )
        self.schedules = ScheduleService(storage.schedules, instances, registry, foundation.clock)
        self.polling = PollingService(
            storage.scheduled_runs,
            instances,
            registry,
            health,
            foundation.clock,
            foundation.meter,
            self.reads,
            FolderSync(PostgresSources(storage.database)),
        )


def _registry(dependencies: ChannelDependencies) -> Registry:
    registry = Registry.build(dependencies)
    for address in (address for channel in registry.all() for address in channel.addresses):
        dependencies.address(address)  # a wrong setting stops the start
    return registry


def _dependencies(foundation: Foundation, storage: Storage, files: Files) -> ChannelDependencies:
    settings = foundation.settings
    return ChannelDependencies(
        http=foundation.traced_http,
        websockets=AioWebSockets(foundation.policy),
        artifacts=files.artifacts,
        clock=foundation.clock,
        ids=foundation.ids,
        address=cache(settings.address),
        hosts=AllowedAddresses(foundation.policy),
        data_folder=settings.data_dir,
        web_chat=storage.chat_log,
    )


def _notifier(foundation: Foundation, storage: Storage) -> OwnerNotifier:
    settings = foundation.settings
    return OwnerNotifier(
        storage.instances,
        storage.identities,
        verification.mailer(settings, foundation.clock, foundation.ids),
        verification.bot(settings, foundation.http),
        verification.offered(settings),
    )
