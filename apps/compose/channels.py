"""Wiring of channels, of sources of knowledge bases, and of subscriptions to events."""

import asyncio
from functools import cache

from adapters.inbound.sockets.supervisor import Supervisor
from adapters.outbound.channels.registry import Registry
from adapters.outbound.knowledge.fetching import PageFetcher
from adapters.outbound.knowledge.web_origin import WebOrigin
from adapters.outbound.net.addresses import AllowedAddresses
from adapters.outbound.net.websockets import AioWebSockets
from adapters.outbound.storage.connections import PostgresConnections
from adapters.outbound.storage.knowledge.bases import PostgresBases
from adapters.outbound.storage.knowledge.files import PostgresFiles
from adapters.outbound.storage.knowledge.sources import PostgresSources
from adapters.outbound.storage.knowledge.web_hosts import PostgresWebHosts
from adapters.outbound.storage.pool import after_commit
from adapters.outbound.storage.subscriptions import PostgresSubscriptions
from adapters.outbound.system.event_pushes import EventPushes, SubscriptionAddresses
from adapters.outbound.system.verification_bot import OwnerNotifier
from apps import verification
from apps.compose.knowledge import Uploads
from apps.compose.storage import Files, Foundation, Storage
from domain.callbacks import SessionRenames
from domain.conversations.forwarding import DestinationService
from domain.delivery.concurrency import ConcurrencyLimiter, ReadLimiter
from domain.files import MessageFilesService
from domain.instances.pairing import PairingService
from domain.instances.registration import RegistrationService
from domain.knowledge.sources.model import SourceKind
from domain.knowledge.sources.reading import FolderOrigin, FolderSync, SourceReader
from domain.knowledge.sources.service import SourceService
from domain.polling.service import PollingService, ScheduleService
from domain.subscriptions.pushing import PushService
from domain.subscriptions.service import SubscriptionService
from ports.channels import ChannelDependencies


class Channels:
    """`slots` limits concurrent calls of each platform, `reads` those that read from it."""

    def __init__(self, foundation: Foundation, storage: Storage, files: Files) -> None:
        instances, health = storage.instances, storage.health
        settings, clock, policy = foundation.settings, foundation.clock, foundation.policy
        self.dependencies = ChannelDependencies(
            http=foundation.traced_http,
            websockets=AioWebSockets(policy),
            artifacts=files.artifacts,
            clock=clock,
            ids=foundation.ids,
            address=cache(settings.address),
            hosts=AllowedAddresses(policy),
            data_folder=settings.data_dir,
            web_chat=storage.chat_log,
        )
        self.registry = registry = Registry.build(self.dependencies)
        for channel in registry.all():
            for address in channel.addresses:
                self.dependencies.address(address)  # a wrong setting stops the start
        self.destinations = DestinationService(instances, registry, PostgresBases(storage.database))
        self.slots = ConcurrencyLimiter()
        self.reads = ReadLimiter(self.slots)
        self.files = MessageFilesService(files.shared, registry, health, self.reads)
        notifier = OwnerNotifier(
            instances,
            storage.identities,
            verification.mailer(settings, clock, foundation.ids),
            verification.bot(settings, foundation.http),
            verification.offered(settings),
        )
        self.connections = PostgresConnections(
            storage.database,
            foundation.worker_id,
            instances,
            health,
            notifier,
            storage.event_bus.inbound_enqueued,
        )
        self.pairings = PairingService(self.connections, registry)
        self.renames = SessionRenames(storage.sessions, instances)
        self.supervisor = Supervisor(
            self.connections,
            instances,
            registry,
            storage.inbox,
            storage.unanswered,
            foundation.meter,
            self.renames,
        )
        storage.event_bus.on_change(self.supervisor.changed)
        self.registration = RegistrationService(instances, registry, health, settings.agent_url)
        self.schedules = ScheduleService(storage.schedules, instances, registry, clock)
        self.polling = PollingService(
            storage.schedules,
            instances,
            registry,
            health,
            clock,
            foundation.meter,
            self.reads,
            FolderSync(PostgresSources(storage.database)),
        )


class Sources:
    """`service` takes sources in, `reader` reads them; `due` is set when there is one to read."""

    def __init__(
        self, foundation: Foundation, storage: Storage, uploads: Uploads, channels: Channels
    ) -> None:
        settings, database = foundation.settings, storage.database
        self.due = asyncio.Event()
        store = PostgresSources(database)
        self.service = SourceService(uploads.access, store, self.due.set, storage.audit)
        hosts = PostgresWebHosts(database)
        pause, most = settings.pages_pause_ms / 1000, settings.pages_max_mb * 1024 * 1024
        fetcher = PageFetcher(foundation.http, hosts, pause, most)
        folders = FolderOrigin(storage.instances, channels.registry, channels.reads)
        self.reader = SourceReader(
            store,
            {SourceKind.WEB: WebOrigin(fetcher, uploads.parser), SourceKind.DRIVE: folders},
            uploads.service,
            PostgresFiles(database),
            uploads.retention,
            foundation.worker_id,
        )


class Subscriptions:
    """`channels` are those that messages and pushes are sent by."""

    def __init__(self, foundation: Foundation, storage: Storage, channels: Channels) -> None:
        settings, bus = foundation.settings, storage.event_bus
        store = PostgresSubscriptions(
            storage.database,
            storage.config_cipher,
            after_commit(bus.changed),
            after_commit(bus.outbound_enqueued),
        )
        pushes = EventPushes(
            foundation.traced_http,
            storage.event_log,
            foundation.clock,
            storage.instances,
            store,
        )
        # Pushes are sent as replies are, though no channel of the catalogue sends them.
        self.channels = Registry([*channels.registry.all(), pushes.channel()])
        self.service = SubscriptionService(
            store,
            storage.outbox,
            storage.health,
            storage.instances,
            storage.event_log,
            pushes,
            SubscriptionAddresses(
                AllowedAddresses(foundation.policy),
                [settings.agent_url, f"http://{settings.http_host}:{settings.http_port}"],
            ),
            foundation.ids,
            foundation.clock,
            storage.audit,
        )
        self.pushing = PushService(store, storage.event_log, storage.event_feed)
