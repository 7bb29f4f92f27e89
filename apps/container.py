"""The composition root: which adapter stands behind which port. The only user of dependency-injector."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from dependency_injector import containers, providers

from adapters.inbound.sockets.supervisor import Supervisor
from adapters.outbound.artifacts import Artifacts
from adapters.outbound.blobs.files import FileBlobs
from adapters.outbound.blobs.s3 import Bucket, S3Blobs
from adapters.outbound.channels.registry import Registry
from adapters.outbound.clock import RandomIds, SystemClock
from adapters.outbound.embedding.model_files import ModelFiles
from adapters.outbound.embedding.sentence import SentenceEmbedder
from adapters.outbound.event_bus import EventBus
from adapters.outbound.facts import MemoryFacts
from adapters.outbound.http.addresses import AllowedAddresses
from adapters.outbound.http.client import AioHttp
from adapters.outbound.http.policy import AddressPolicy
from adapters.outbound.jobs.arq_queue import ArqQueue, connect
from adapters.outbound.linked_device.neonize_devices import NeonizeDevices
from adapters.outbound.memory.http import HttpMemory
from adapters.outbound.metrics import PrometheusMeter
from adapters.outbound.notifier import OwnerNotifier
from adapters.outbound.parsing.parser import ParsingOptions, SandboxedParser
from adapters.outbound.security.encryption import ConfigCipher
from adapters.outbound.security.file_tokens import SignedTokens
from adapters.outbound.storage.chat_history import PostgresChatHistory
from adapters.outbound.storage.confirmations import PostgresConfirmations
from adapters.outbound.storage.conversations import PostgresConversations, Wakes
from adapters.outbound.storage.direct_dispatch import DirectDispatch
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.identities import PostgresIdentities
from adapters.outbound.storage.inbox import PostgresInbox
from adapters.outbound.storage.instances import PostgresInstances
from adapters.outbound.storage.keys import PostgresKeys
from adapters.outbound.storage.knowledge.bases import PostgresBases
from adapters.outbound.storage.knowledge.blob_holds import PostgresBlobHolds
from adapters.outbound.storage.knowledge.files import PostgresFiles
from adapters.outbound.storage.knowledge.memory_tasks import PostgresMemoryTasks
from adapters.outbound.storage.knowledge.reindexing import PostgresReindexing
from adapters.outbound.storage.knowledge.search import PostgresChunkIndex
from adapters.outbound.storage.knowledge.staging import PostgresStaging
from adapters.outbound.storage.knowledge.uploads import PostgresUploads
from adapters.outbound.storage.knowledge.vector_indexes import VectorIndexes
from adapters.outbound.storage.leases import LeaseStore
from adapters.outbound.storage.links import PairingStore
from adapters.outbound.storage.outbox import PostgresOutbox
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.processes import PostgresProcesses
from adapters.outbound.storage.rounds import PostgresRounds
from adapters.outbound.storage.runs import PostgresRuns
from adapters.outbound.storage.schedules import PostgresDeactivation, PostgresSchedules
from adapters.outbound.storage.sessions import PostgresSessions
from adapters.outbound.storage.shared_limits import PostgresSharedLimits
from adapters.outbound.storage.signals import Signals
from adapters.outbound.tracing import Traces
from apps import verification as verifying
from apps.downstream import Resources
from apps.readiness import checks_of
from apps.settings import Settings
from domain.access.service import AccessService
from domain.callbacks.model import CallbackRules
from domain.callbacks.service import CallbackService
from domain.channels.service import CatalogueService
from domain.confirmations.service import ConfirmationService
from domain.delivery.concurrency.service import ConcurrencyLimiter
from domain.delivery.rate_limits.service import RateLimiter
from domain.delivery.reads.service import ReadLimiter
from domain.delivery.service import DeliveryService
from domain.files.service import MessageFilesService, StoredFiles
from domain.instances.service import InstanceService
from domain.knowledge.answers.service import AnswersService
from domain.knowledge.bases.service import BaseAccess, BasesService
from domain.knowledge.files.service import FilesService, UploadLimits, UploadService
from domain.knowledge.ingest.service import IngestService
from domain.knowledge.memory.service import MemoryService
from domain.knowledge.model import ReadPolicy
from domain.knowledge.reindex.service import ReindexService
from domain.knowledge.retention.service import Retention, Sweeper
from domain.knowledge.search.service import SearchService
from domain.pairing.service import PairingService
from domain.polling.service import PollingService
from domain.routing.asking.service import InvocationService
from domain.routing.service import ConversationService
from ports.blobs import Blobs
from ports.channels import ChannelDependencies
from ports.inbox import Conversation
from ports.outbox import QueuedMessages
from ports.use_cases import UseCases

T = TypeVar("T")


def _worker_id() -> int:
    """The number of this run of the process: the key of its advisory lock and the owner of its leases."""
    return secrets.randbits(62)


def _traced(wrap: Callable[[T], T], inner: T) -> T:
    """`inner`, with spans around its calls when a collector is named."""
    return wrap(inner)


def _policy(settings: Settings) -> AddressPolicy:
    return AddressPolicy.parse(settings.address_policy, settings.outbound_allow.split(","))


def _addresses(settings: Settings) -> Callable[[str], str]:
    """Looked up here, as a provider's `provided` answers special methods such as `__getitem__` itself."""
    return settings.addresses.__getitem__


def _devices(settings: Settings) -> NeonizeDevices:
    return NeonizeDevices(settings.data_dir / "linked-devices")


def _instances(
    database: Database, config_cipher: ConfigCipher, event_bus: EventBus, metadata: MemoryFacts
) -> PostgresInstances:
    store = PostgresInstances(database, config_cipher, event_bus.changed)
    event_bus.on_change(store.forget)
    event_bus.on_change(metadata.forget)
    return store


def _signals(database: Database, worker_id: int, event_bus: EventBus) -> Signals:
    signals = Signals(database, worker_id, event_bus.on_notification, event_bus.lost)
    event_bus.broadcast = signals.notify
    return signals


def _model_files(settings: Settings) -> ModelFiles:
    folder = Path(settings.embedding_model_dir) if settings.embedding_model_dir else None
    return ModelFiles(folder, multilingual=settings.embedding_multilingual)


def _embedder(settings: Settings, files: ModelFiles) -> SentenceEmbedder:
    return SentenceEmbedder(files, threads=settings.embedding_threads, dtype=settings.embedding_dtype)


def _parser(settings: Settings) -> SandboxedParser:
    return SandboxedParser(
        ParsingOptions(slots=settings.parsing_slots, whisper_dir=settings.whisper_model_dir)
    )


def _blobs(settings: Settings) -> Blobs:
    if not settings.blob_s3_bucket:
        return FileBlobs(settings.data_dir / "uploads")
    bucket = Bucket(
        settings.blob_s3_endpoint,
        settings.blob_s3_bucket,
        settings.blob_s3_access_key_id,
        settings.blob_s3_secret_access_key,
        settings.blob_s3_region,
        settings.blob_s3_prefix,
    )
    return S3Blobs(bucket)


def _largest_file(settings: Settings) -> int:
    """Bytes of one attachment or artifact."""
    return settings.max_message_file_mb * 1024 * 1024


def _file_life(settings: Settings) -> timedelta:
    return timedelta(days=settings.message_file_days)


def _limits(settings: Settings) -> UploadLimits:
    return UploadLimits(settings.max_upload_mb * 1024 * 1024, settings.max_files_per_upload)


def _wakes(event_bus: EventBus) -> Wakes:
    return Wakes(event_bus.arrived, event_bus.waiting, event_bus.answered)


def _rate_limiter(
    settings: Settings,
    shared: PostgresSharedLimits,
    clock: SystemClock,
    event_bus: EventBus,
    meter: PrometheusMeter,
    slots: ConcurrencyLimiter,
) -> RateLimiter:
    limiter = RateLimiter(
        shared,
        clock,
        asyncio.sleep,
        event_bus.limits_changed,
        meter,
        slots,
        enforce_quotas=settings.platform_limits == "published",
    )
    event_bus.on_change(limiter.forget)
    return limiter


class Container(containers.DeclarativeContainer):
    """Everything of one process that has a database. `solitary`: no other process works on its messages."""

    settings = providers.Dependency(instance_of=Settings)
    dsn = providers.Dependency(instance_of=str)
    solitary = providers.Dependency(instance_of=bool)

    clock = providers.Singleton(SystemClock)
    ids = providers.Singleton(RandomIds)
    meter = providers.Singleton(PrometheusMeter)
    worker_id = providers.Singleton(_worker_id)
    policy = providers.Singleton(_policy, settings)
    http = providers.Singleton(AioHttp, policy, observe=meter.provided.exchanged)
    traces = providers.Singleton(Traces, settings.provided.otlp_endpoint)
    traced_http = providers.Singleton(_traced, traces.provided.http, http)

    database = providers.Singleton(Database, dsn)
    config_cipher = providers.Singleton(ConfigCipher, settings.provided.config_encryption_key)
    event_bus = providers.Singleton(EventBus, solitary=solitary)
    metadata = providers.Singleton(MemoryFacts)
    signals = providers.Singleton(_signals, database, worker_id, event_bus)
    health = providers.Singleton(PostgresHealth, database)
    leases = providers.Singleton(LeaseStore, database, worker_id, health)
    wakes = providers.Singleton(_wakes, event_bus)

    jobs = providers.Singleton(ArqQueue, providers.Singleton(connect, settings.provided.redis_url))
    checks = providers.Singleton(checks_of, database, jobs)

    keys = providers.Singleton(PostgresKeys, database)
    instances = providers.Singleton(_instances, database, config_cipher, event_bus, metadata)
    processes = providers.Singleton(PostgresProcesses, database)
    arrivals: providers.Singleton[DirectDispatch[Conversation]] = providers.Singleton(DirectDispatch)
    replies: providers.Singleton[DirectDispatch[QueuedMessages]] = providers.Singleton(DirectDispatch)
    inbox = providers.Singleton(PostgresInbox, database, event_bus.provided.arrived, worker_id, arrivals)
    conversations = providers.Singleton(PostgresConversations, database, leases, wakes, replies)
    outbox = providers.Singleton(PostgresOutbox, database, leases, event_bus.provided.waiting)

    largest_file = providers.Singleton(_largest_file, settings)
    blobs = providers.Singleton(_blobs, settings)
    file_life = providers.Singleton(_file_life, settings)
    blob_references = providers.Singleton(PostgresBlobHolds, database, file_life)
    shared_files = providers.Singleton(
        StoredFiles,
        blobs,
        blob_references,
        providers.Singleton(SignedTokens, settings.provided.config_encryption_key),
        clock,
        settings.provided.agent_url,
        largest_file,
        file_life,
    )
    channel_dependencies = providers.Singleton(
        ChannelDependencies,
        http=traced_http,
        artifacts=providers.Singleton(Artifacts, blobs, http, largest_file),
        clock=clock,
        ids=ids,
        address=providers.Singleton(_addresses, settings),
        hosts=providers.Singleton(AllowedAddresses, policy),
        devices=providers.Singleton(_devices, settings),
    )
    channels = providers.Singleton(Registry.build, channel_dependencies)
    slots = providers.Singleton(ConcurrencyLimiter)
    reads = providers.Singleton(ReadLimiter, slots)
    files = providers.Singleton(MessageFilesService, shared_files, channels, health, reads)
    chat_history = providers.Singleton(PostgresChatHistory, database)
    parser = providers.Singleton(_parser, settings)
    model_files = providers.Singleton(_model_files, settings)
    embedder = providers.Singleton(_embedder, settings, model_files)
    bases = providers.Singleton(PostgresBases, database)
    uploads = providers.Singleton(PostgresUploads, database)
    chunk_index = providers.Singleton(PostgresChunkIndex, database)
    vector_indexes = providers.Singleton(VectorIndexes, database)
    retention = providers.Singleton(Retention, blobs, blob_references)
    sweeper = providers.Singleton(Sweeper, blobs, blob_references, uploads, retention, clock)
    base_access = providers.Singleton(
        BaseAccess, bases, providers.Singleton(ReadPolicy, settings.provided.kb_read_policy)
    )
    base_service = providers.Singleton(
        BasesService, bases, base_access, retention, memory_sync=settings.provided.kb_memory_sync
    )
    upload_news = providers.Singleton(asyncio.Event)
    upload_service = providers.Singleton(
        UploadService,
        base_access,
        blobs,
        blob_references,
        uploads,
        parser,
        retention,
        upload_news.provided.set,
        providers.Singleton(_limits, settings),
    )
    file_service = providers.Singleton(
        FilesService, base_access, providers.Singleton(PostgresFiles, database), blobs, upload_service
    )
    search_service = providers.Singleton(SearchService, base_access, chunk_index, embedder)
    knowledge_answers = providers.Singleton(AnswersService, base_access, search_service)
    ingest = providers.Singleton(
        IngestService,
        uploads,
        providers.Singleton(PostgresStaging, database),
        blobs,
        parser,
        embedder,
        model_files.provided.count_tokens,
        retention,
        clock,
        ids,
        worker_id,
        upload_service.provided.ended,
    )
    reindexing = providers.Singleton(PostgresReindexing, database)
    reindex = providers.Singleton(ReindexService, reindexing, embedder)
    memory = providers.Singleton(
        MemoryService,
        providers.Singleton(PostgresMemoryTasks, database),
        providers.Singleton(
            HttpMemory, http, settings.provided.memory_url, settings.provided.internal_service_key
        ),
    )

    resources = providers.Singleton(Resources, settings, http, chat_history, knowledge_answers)
    downstream = providers.Singleton(_traced, traces.provided.downstream, resources.provided.runner)
    identities = providers.Singleton(PostgresIdentities, database)
    verification = providers.Singleton(
        verifying.service, settings, database, identities, config_cipher, http, clock, ids
    )
    approvals = providers.Singleton(
        ConfirmationService, providers.Singleton(PostgresConfirmations, database), clock, ids
    )
    notifier = providers.Singleton(
        OwnerNotifier,
        instances,
        identities,
        providers.Singleton(verifying.mailer, settings, clock, ids),
        providers.Singleton(verifying.bot, settings, http),
        providers.Singleton(verifying.offered, settings),
    )
    links = providers.Singleton(PairingStore, database, worker_id, instances, health, notifier)
    pairings = providers.Singleton(PairingService, links, channels)
    sockets = links
    supervisor = providers.Singleton(Supervisor, links, instances, channels, inbox)
    schedules = providers.Singleton(PostgresSchedules, database)
    deactivation = providers.Singleton(PostgresDeactivation, database, event_bus.provided.changed)
    scheduled_runs = providers.Singleton(
        PostgresRuns, database, worker_id, event_bus.provided.arrived, event_bus.provided.changed, health
    )
    polling = providers.Singleton(
        PollingService, schedules, scheduled_runs, instances, channels, health, jobs, clock, meter, reads
    )

    access = providers.Singleton(AccessService, keys, ids, settings.provided.internal_service_key)
    catalogue = providers.Singleton(CatalogueService, channels, sockets)
    instance_service = providers.Singleton(
        InstanceService,
        instances,
        channels,
        health,
        outbox,
        processes,
        pairings,
        polling,
        settings.provided.agent_url,
    )
    callback_service = providers.Singleton(
        CallbackService,
        instances,
        channels,
        inbox,
        outbox,
        health,
        metadata,
        schedules,
        deactivation,
        event_bus,
        clock,
        meter,
        providers.Singleton(PostgresSessions, database),
        providers.Singleton(
            CallbackRules, settings.provided.demands_signatures, settings.provided.max_webhook_body_kb
        ),
    )
    use_cases = providers.Singleton(
        UseCases,
        access=access,
        catalogue=catalogue,
        instances=instance_service,
        callbacks=providers.Singleton(_traced, traces.provided.callbacks, callback_service),
        verification=verification,
        bases=base_service,
        files=file_service,
        search=search_service,
        shared=shared_files,
    )
    conversation_service = providers.Singleton(
        ConversationService,
        conversations,
        instances,
        channels,
        identities,
        providers.Singleton(
            InvocationService, downstream, approvals, files, clock, ids, meter, conversations, outbox
        ),
        health,
        clock,
        meter,
        settings.provided.platform_url,
        providers.Singleton(PostgresRounds, database),
    )
    shared_limits = providers.Singleton(PostgresSharedLimits, database)
    rate_limiter = providers.Singleton(_rate_limiter, settings, shared_limits, clock, event_bus, meter, slots)
    delivery_service = providers.Singleton(
        DeliveryService, outbox, instances, channels, health, rate_limiter, clock, ids, meter
    )
