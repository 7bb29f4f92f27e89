"""Wiring of what all else needs: clock, ids, metrics, traces, HTTP, the database with its queue, and files."""

import secrets
from datetime import timedelta
from functools import partial

from adapters.outbound.knowledge.message_files import Artifacts
from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.storage.agent_tasks import PostgresAgentTasks
from adapters.outbound.storage.agents import PostgresAgents
from adapters.outbound.storage.approvals import PostgresApprovals
from adapters.outbound.storage.audit import PostgresAudit
from adapters.outbound.storage.blobs import PostgresBlobReferences
from adapters.outbound.storage.budgets import PostgresBudgets
from adapters.outbound.storage.conversations.erasure import ConversationExpiry
from adapters.outbound.storage.conversations.messages import PostgresMessages
from adapters.outbound.storage.events import PostgresEventLog
from adapters.outbound.storage.figures import PostgresFigures
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.identities import PostgresIdentities
from adapters.outbound.storage.instances import PostgresInstances
from adapters.outbound.storage.keys import PostgresKeys
from adapters.outbound.storage.notifications import PostgresNotifications
from adapters.outbound.storage.pool import Database, after_commit
from adapters.outbound.storage.processes import PostgresProcesses
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.queue.outbox import PostgresOutbox
from adapters.outbound.storage.queue.sends import PostgresSends, UntakenAnswers
from adapters.outbound.storage.reports import PostgresReports
from adapters.outbound.storage.resource_states import PostgresResourceStates
from adapters.outbound.storage.retention import Retention, Times
from adapters.outbound.storage.schedules import PostgresSchedules
from adapters.outbound.storage.sessions import PostgresSessions
from adapters.outbound.storage.sign_ins import PostgresInvitations, PostgresPasskeys, PostgresSignIns
from adapters.outbound.storage.signals import Signals
from adapters.outbound.storage.unanswered import PostgresChatHistory, PostgresUnanswered
from adapters.outbound.storage.usage import PostgresUsage
from adapters.outbound.storage.users import PostgresTeams, PostgresUsers
from adapters.outbound.storage.web_chat import PostgresChatFeed, PostgresChatLog
from adapters.outbound.system.blobs import Bucket, FileBlobs, S3Blobs
from adapters.outbound.system.clock import RandomIds, SteadyClock, SystemClock
from adapters.outbound.system.encryption import ConfigCipher
from adapters.outbound.system.event_bus import EventBus
from adapters.outbound.system.event_feed import LogFeed
from adapters.outbound.system.metadata import MemoryMetadata
from adapters.outbound.system.metrics import PrometheusMeter
from adapters.outbound.system.signed_tokens import SignedTokens
from adapters.outbound.system.tracing import Traces
from apps.settings import Settings
from domain.files import StoredFiles
from domain.usage.budget_service import BudgetGuard
from ports.files import Blobs


class Foundation:
    """`role` is the command of the process, for its traces. `worker_id` is the number of this run of the process: the
    key of its advisory lock, the owner of its leases."""

    def __init__(self, settings: Settings, clock: SystemClock, role: str = "") -> None:
        self.settings = settings
        self.clock = clock
        self.steady_clock = SteadyClock() if isinstance(clock, SystemClock) else clock
        self.ids = RandomIds()
        self.meter = PrometheusMeter()
        self.worker_id = secrets.randbits(62)
        self.policy = AddressPolicy.parse(settings.address_policy, settings.outbound_allow.split(","))
        self.http = AioHttp(self.policy, observe=self.meter.exchanged)
        self.traces = Traces(settings.otlp_endpoint, role, settings.ssl_cert_file)
        self.traced_http = self.traces.http(self.http)


UPLOADS = "uploads"


class Storage:
    """`solitary`: no other process works on the messages of this database."""

    def __init__(self, foundation: Foundation, dsn: str, *, solitary: bool) -> None:
        worker_id = foundation.worker_id
        self.config_cipher = ConfigCipher(foundation.settings.config_encryption_key)
        self.database = database = Database(dsn)
        self.event_bus = bus = EventBus(solitary=solitary)
        self.signals = Signals(database, worker_id, bus.on_notification, bus.on_disconnect)
        bus.broadcast = self.signals.notify
        self.metadata = MemoryMetadata()
        self.keys = PostgresKeys(database)
        self.users = PostgresUsers(database, after_commit(bus.changed), after_commit(bus.agents_changed))
        self.teams = PostgresTeams(database, after_commit(bus.agents_changed))
        self.audit = PostgresAudit(database, foundation.clock)
        self.sign_ins = PostgresSignIns(database, self.config_cipher)
        self.invitations = PostgresInvitations(database)
        self.passkeys = PostgresPasskeys(database)
        self.identities = PostgresIdentities(database)
        self.processes = PostgresProcesses(database)
        self.health = PostgresHealth(database)
        self.instances = PostgresInstances(database, self.config_cipher, after_commit(bus.changed))
        bus.on_change(self.instances.forget)
        bus.on_change(self.metadata.forget)

        # inbox and outbox
        self.leases = LeaseStore(database, worker_id, self.health)
        bus.may_take = dict.fromkeys(
            ("in", "out"), lambda: False
        )  # until a worker of this process has started
        enqueue_inbound = partial(bus.inbound_enqueued, here=True)
        enqueue_outbound = partial(bus.outbound_enqueued, here=True)
        self.inbox = PostgresInbox(database, enqueue_inbound, bus.withdrawn, bus.inbound_enqueued)
        wakeups = Wakeups(bus.inbound_enqueued, enqueue_outbound, bus.answered, enqueue_inbound)
        self.usage = PostgresUsage(database)
        self.budgets = PostgresBudgets(database)
        self.budget_guard = BudgetGuard(self.budgets)
        self.conversations = PostgresConversations(database, self.leases, wakeups, self.usage)
        self.outbox = PostgresOutbox(
            database, self.leases, after_commit(bus.outbound_enqueued), enqueue_outbound
        )
        self.untaken_answers = UntakenAnswers(database, bus.outbound_enqueued)

        self.schedules = PostgresSchedules(
            database, worker_id, self.instances, self.health, bus.inbound_enqueued
        )

        # sending, conversations and the event log
        settings = foundation.settings
        self.sends = PostgresSends(database, after_commit(bus.outbound_enqueued))
        self.sessions = PostgresSessions(database)
        self.unanswered = PostgresUnanswered(database, after_commit(bus.inbound_enqueued))
        self.messages = PostgresMessages(
            database, after_commit(bus.inbound_enqueued), after_commit(bus.outbound_enqueued)
        )
        self.chat_history = PostgresChatHistory(database)
        self.agents = PostgresAgents(database, self.config_cipher, after_commit(bus.agents_changed))
        self.agent_tasks = PostgresAgentTasks(database)
        self.approvals = PostgresApprovals(database)
        self.resource_states = PostgresResourceStates(database)
        self.conversation_expiry = ConversationExpiry(database, settings.conversation_days)
        self.retention = Retention(database, times_of(settings), foundation.meter.removed)
        self.event_log = PostgresEventLog(database, settings.event_days)
        self.event_feed = LogFeed(self.event_log)
        self.figures = PostgresFigures(database)
        self.reports = PostgresReports(database)
        self.notifications = PostgresNotifications(database)
        self.chat_log = PostgresChatLog(database, bus.chat_changed)
        self.chat_feed = PostgresChatFeed(database)
        bus.on_chat(self.chat_feed.changed)
        bus.on_change(self.chat_feed.instance_changed)


def times_of(settings: Settings) -> Times:
    days = (settings.event_days, settings.message_days, settings.dead_letter_days, settings.usage_days)
    return Times(*(timedelta(days=count) for count in days))


class Files:
    """Attachments, artifacts and uploads."""

    def __init__(self, foundation: Foundation, storage: Storage) -> None:
        settings = foundation.settings
        largest = settings.max_message_file_mb * 1024 * 1024
        lifetime = timedelta(days=settings.message_file_days)
        self.blobs = blob_store(settings)
        self.references = PostgresBlobReferences(storage.database, lifetime)
        self.artifacts = Artifacts(self.blobs, foundation.http, largest)
        self.shared = StoredFiles(
            self.blobs,
            self.references,
            SignedTokens(settings.config_encryption_key),
            foundation.clock,
            settings.agent_url,
            largest,
            lifetime,
        )


def blob_store(settings: Settings) -> Blobs:
    if not settings.blob_s3_bucket:
        return FileBlobs(settings.data_dir / UPLOADS)
    bucket = Bucket(
        settings.blob_s3_endpoint,
        settings.blob_s3_bucket,
        settings.blob_s3_access_key_id,
        settings.blob_s3_secret_access_key,
        settings.blob_s3_region,
        settings.blob_s3_prefix,
    )
    return S3Blobs(bucket)
