"""The composition roots, one for each kind of process. The only users of dependency-injector.

Each provider makes a group of objects (`apps/compose`) when it is first asked for. Groups are made by typed
functions and constructors, so that mypy checks how they are wired.
"""

from dependency_injector import containers, providers

from adapters.outbound.jobs.arq_queue import ArqQueue, connect
from adapters.outbound.storage.database_metrics import DatabaseMetrics
from adapters.outbound.system.clock import SystemClock
from apps.compose import core
from apps.compose.channels import Channels, Sources, Subscriptions
from apps.compose.knowledge import Knowledge, Uploads, build_embedder, build_model_files
from apps.compose.storage import Files, Foundation, Storage
from apps.compose.work import Work, build_transcriber
from apps.findings import RunningInstallation
from apps.processes.readiness import checks_of
from apps.settings import Settings


class CommandContainer(containers.DeclarativeContainer):
    """A command that needs the database. `solitary`: no other process works on its messages. `role`: which process of
    the service it is; empty for all in one."""

    settings = providers.Dependency(instance_of=Settings)
    dsn = providers.Dependency(instance_of=str)
    solitary = providers.Dependency(instance_of=bool, default=False)
    role = providers.Dependency(instance_of=str, default="")

    clock = providers.Singleton(SystemClock)
    foundation = providers.Singleton(Foundation, settings, clock, role)
    storage = providers.Singleton(Storage, foundation, dsn, solitary=solitary)
    database = storage.provided.database
    files = providers.Singleton(Files, foundation, storage)
    model_files = providers.Singleton(build_model_files, settings)
    embedder = providers.Singleton(build_embedder, settings, model_files, storage)
    uploads = providers.Singleton(Uploads, foundation, storage, files, model_files, embedder)
    knowledge = providers.Singleton(Knowledge, foundation, storage, files, uploads, embedder)
    access = providers.Singleton(core.build_access, foundation, storage)


class CoreContainer(CommandContainer):
    """The gRPC core: the use cases, which others work for."""

    foundation, storage, files = CommandContainer.foundation, CommandContainer.storage, CommandContainer.files
    knowledge, access = CommandContainer.knowledge, CommandContainer.access

    jobs = providers.Singleton(
        ArqQueue, providers.Singleton(connect, CommandContainer.settings.provided.redis_url)
    )
    checks = providers.Singleton(checks_of, storage.provided.database, jobs, storage.provided.processes)
    database_metrics = providers.Singleton(
        DatabaseMetrics,
        foundation.provided.meter,
        storage.provided.database,
        storage.provided.retention,
    )
    metrics = database_metrics.provided.exposition
    channels = providers.Singleton(Channels, foundation, storage, files)
    subscriptions = providers.Singleton(Subscriptions, foundation, storage, channels)
    sources = providers.Singleton(Sources, foundation, storage, CommandContainer.uploads, channels)
    instance_service = providers.Singleton(core.build_instances, foundation, storage, channels)
    callback_service = providers.Singleton(core.build_callbacks, foundation, storage, channels)
    sending = providers.Singleton(core.build_sending, foundation, storage, channels)
    message_service = providers.Singleton(core.build_messages, storage, files, channels, sending)
    conversation_service = providers.Singleton(
        core.build_conversations, storage, files, channels, CommandContainer.uploads
    )
    privacy_worker = providers.Singleton(
        core.build_privacy_worker, foundation, storage, files, CommandContainer.uploads
    )
    notification_writer = providers.Singleton(core.build_notification_writer, foundation, storage, sending)
    notification_delivery = providers.Singleton(
        core.build_notification_delivery, foundation, storage, sending
    )
    people_recorder = providers.Singleton(core.build_people_recorder, storage, channels)
    resources = providers.Singleton(core.build_resources, foundation, storage, knowledge)
    installation = providers.Singleton(
        RunningInstallation,
        CommandContainer.settings,
        CommandContainer.database,
        checks,
        knowledge,
        CommandContainer.embedder,
    )
    monitoring = providers.Singleton(
        core.build_monitoring, storage, files, channels, installation, foundation.provided.clock
    )
    services = providers.Singleton(
        core.Services,
        access,
        instance_service,
        callback_service,
        message_service,
        conversation_service,
        knowledge,
        sources,
        subscriptions,
        resources,
        monitoring,
    )
    use_cases = providers.Singleton(core.build_use_cases, foundation, storage, files, channels, services)


class Container(CoreContainer):
    """A worker, or a whole service in one process."""

    foundation, storage = CommandContainer.foundation, CommandContainer.storage

    downstream = providers.Singleton(core.build_downstream, foundation, CoreContainer.resources)
    transcriber = providers.Singleton(
        build_transcriber,
        CommandContainer.settings,
        CommandContainer.files,
        CommandContainer.uploads.provided.parser,
    )
    work = providers.Singleton(
        Work,
        foundation,
        storage,
        CoreContainer.channels,
        downstream,
        CoreContainer.resources.provided.agents.poll_task,
        transcriber,
        CoreContainer.sending,
        CoreContainer.subscriptions.provided.channels,
    )
