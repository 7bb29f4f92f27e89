"""The use cases, behind REST and gRPC alike."""

from dataclasses import dataclass
from datetime import timedelta

from adapters.outbound.storage.conversations.store import PostgresConversationStore
from adapters.outbound.storage.feedback import PostgresFeedback
from adapters.outbound.storage.people.export import PersonZip
from adapters.outbound.storage.people.recording import PostgresSeenSenders
from adapters.outbound.storage.people.requests import PostgresPersonEraser, PostgresPrivacyRequests
from adapters.outbound.storage.people.store import PostgresPeople
from adapters.outbound.storage.pool import after_commit
from adapters.outbound.storage.processes import PostgresSharedLimits
from adapters.outbound.storage.snippets import PostgresSnippets
from adapters.outbound.system.signed_tokens import Signer
from apps import sign_in, verification
from apps.compose.channels import Channels, Sources, Subscriptions
from apps.compose.knowledge import Knowledge, Uploads
from apps.compose.storage import Files, Foundation, Storage
from apps.compose.work import Resources
from domain.access.service import AccessService, KeyService, SessionService
from domain.access.sessions import SessionOpener
from domain.access.teams import TeamService
from domain.access.users import UserService
from domain.agents.service import AgentBinding, AgentService
from domain.audit.service import AuditService
from domain.call_streams import CallStreams
from domain.callbacks import CallbackService, CallVerifier, ReplyWaiter
from domain.confirmations.approvers import ApproverService
from domain.confirmations.policy_check import ApproverCheck
from domain.conversations.assignees import AssigneeCheck
from domain.conversations.history import HistoryService
from domain.conversations.sending import MessageService, SendingService
from domain.conversations.snippets import SnippetService
from domain.conversations.teamwork import TeamworkService
from domain.feedback.service import FeedbackService
from domain.instances.checks import ConfigCheckService
from domain.instances.lookup import CatalogueService
from domain.instances.service import InstanceService, OperationsService
from domain.knowledge.answers import AskService
from domain.monitoring.service import DeadLetterService, DoctorService, FigureService, HealthOverviewService
from domain.notifications.delivery import NotificationDelivery
from domain.notifications.service import NotificationService
from domain.notifications.team_hours import TeamAnswer
from domain.notifications.writing import NotificationWriter
from domain.people.recording import PeopleRecorder
from domain.people.requests import PrivacyService, PrivacyWorker
from domain.people.service import PeopleService
from domain.polling.service import ScheduleListService
from domain.reports.service import ReportService
from domain.routing.trials import TrialService
from domain.subscriptions.service import EventStreams
from domain.usage.budget_service import BudgetService
from domain.usage.service import UsageService
from domain.use_cases import Monitoring, UseCases
from domain.verification.model import Provider
from domain.web_chat.model import MOST_FILE_BYTES, own_origin
from domain.web_chat.service import VisitorService, WebChatService
from ports.monitoring import Installation
from ports.resources import Downstream
from ports.system import Clock


@dataclass(frozen=True, slots=True)
class Services:
    """What the container makes on its own, and what others take from it."""

    access: AccessService
    instances: InstanceService
    callbacks: CallbackService
    messages: MessageService
    conversations: HistoryService
    knowledge: Knowledge
    sources: Sources
    subscriptions: Subscriptions
    resources: Resources
    monitoring: Monitoring


def build_access(foundation: Foundation, storage: Storage) -> AccessService:
    settings = foundation.settings
    return AccessService(
        storage.keys,
        storage.users,
        storage.audit,
        foundation.ids,
        foundation.clock,
        settings.internal_service_key,
        admins_need_passkey=settings.admin_passkey == "required",
    )


def build_instances(foundation: Foundation, storage: Storage, channels: Channels) -> InstanceService:
    return InstanceService(
        storage.instances,
        channels.registry,
        channels.registration,
        storage.processes,
        channels.pairings,
        channels.schedules,
        channels.destinations,
        AgentBinding(storage.agents),
        ApproverCheck(storage.users, storage.teams),
        storage.audit,
        foundation.settings.agent_url,
    )


def build_callbacks(foundation: Foundation, storage: Storage, channels: Channels) -> CallbackService:
    settings, clock, meter = foundation.settings, foundation.clock, foundation.meter
    instances, inbox, health = storage.instances, storage.inbox, storage.health
    return CallbackService(
        instances,
        channels.registry,
        CallVerifier(storage.metadata, health, clock, meter, settings.demands_signatures),
        inbox,
        storage.outbox,
        channels.renames,
        storage.unanswered,
        storage.sessions,
        storage.schedules,
        ReplyWaiter(inbox, storage.event_bus, instances, clock),
        CallStreams(inbox, storage.event_bus, instances, foundation.steady_clock),
        health,
        meter,
        settings.max_webhook_body_kb,
        foundation.traces.span,
    )


def build_sending(foundation: Foundation, storage: Storage, channels: Channels) -> SendingService:
    return SendingService(
        channels.registry,
        storage.sends,
        storage.sessions,
        channels.files,
        foundation.ids,
        storage.audit,
        foundation.settings.agent_url,
    )


def build_messages(
    storage: Storage, files: Files, channels: Channels, sending: SendingService
) -> MessageService:
    return MessageService(
        storage.instances, storage.messages, sending, files.shared, channels.files, build_snippets(storage)
    )


def build_snippets(storage: Storage) -> SnippetService:
    return SnippetService(PostgresSnippets(storage.database), storage.teams, storage.audit)


def build_conversation_store(storage: Storage, uploads: Uploads) -> PostgresConversationStore:
    return PostgresConversationStore(
        storage.database,
        after_commit(storage.event_bus.inbound_enqueued),
        uploads.retention.delete_unreferenced,
        after_commit(storage.chat_log.changed),
    )


def build_conversations(
    storage: Storage, files: Files, channels: Channels, uploads: Uploads
) -> HistoryService:
    return HistoryService(
        storage.instances,
        channels.registry,
        build_conversation_store(storage, uploads),
        storage.messages,
        storage.identities,
        storage.teams,
        files.shared,
        storage.audit,
    )


def build_privacy_requests(foundation: Foundation, storage: Storage) -> PostgresPrivacyRequests:
    return PostgresPrivacyRequests(storage.database, timedelta(days=foundation.settings.message_file_days))


def build_privacy_worker(
    foundation: Foundation, storage: Storage, files: Files, uploads: Uploads
) -> PrivacyWorker:
    database, requests = storage.database, build_privacy_requests(foundation, storage)
    conversations = build_conversation_store(storage, uploads)
    exporter = PersonZip(
        database, PostgresPeople(database), storage.messages, requests, files.blobs, foundation.clock
    )
    return PrivacyWorker(requests, PostgresPersonEraser(database, conversations.erase_by_key), exporter)


def build_notification_writer(
    foundation: Foundation, storage: Storage, sending: SendingService
) -> NotificationWriter:
    store = storage.notifications
    return NotificationWriter(store, TeamAnswer(store, storage.instances, sending), foundation.clock)


def build_notification_delivery(
    foundation: Foundation, storage: Storage, sending: SendingService
) -> NotificationDelivery:
    settings = foundation.settings
    can_mail = Provider.EMAIL in verification.offered(settings)
    mailer = verification.mailer(settings, foundation.clock, foundation.ids) if can_mail else None
    return NotificationDelivery(
        storage.notifications,
        storage.users,
        storage.instances,
        sending,
        storage.approvals,
        mailer,
        foundation.clock,
        settings.agent_url,
    )


def build_people_recorder(storage: Storage, channels: Channels) -> PeopleRecorder:
    senders = PostgresSeenSenders(storage.database)
    return PeopleRecorder(senders, storage.messages, storage.instances, channels.registry, storage.identities)


def build_resources(foundation: Foundation, storage: Storage, knowledge: Knowledge) -> Resources:
    return Resources(
        foundation.settings,
        foundation.http,
        storage.chat_history,
        storage.resource_states,
        storage.agents,
        storage.event_bus,
        storage.agent_tasks,
        knowledge.answers,
    )


def build_downstream(foundation: Foundation, resources: Resources) -> Downstream:
    return foundation.traces.downstream(resources.runner)


def build_monitoring(
    storage: Storage, files: Files, channels: Channels, installation: Installation, clock: Clock
) -> Monitoring:
    instances = storage.instances
    limits = PostgresSharedLimits(storage.database)
    return Monitoring(
        DeadLetterService(instances, storage.messages, files.shared, storage.audit),
        HealthOverviewService(instances, channels.registry, storage.health, limits),
        FigureService(instances, storage.figures),
        ReportService(instances, storage.reports, clock),
        DoctorService(installation),
    )


def build_use_cases(
    foundation: Foundation, storage: Storage, files: Files, channels: Channels, services: Services
) -> UseCases:
    settings, clock, ids = foundation.settings, foundation.clock, foundation.ids
    instances, registry, audit = storage.instances, channels.registry, storage.audit
    knowledge, resources = services.knowledge, services.resources
    downstream = build_downstream(foundation, resources)
    trials = TrialService(
        resources.directory, downstream, foundation.steady_clock, ids, storage.usage, storage.budget_guard
    )
    opener = SessionOpener(storage.keys, audit, ids, clock)
    invitations = sign_in.invitations(foundation, storage, opener)
    signer = Signer(settings.config_encryption_key, b"switchboard: visitors of the web chat")
    people = PeopleService(PostgresPeople(storage.database), instances, audit)
    return UseCases(
        access=services.access,
        sessions=SessionService(storage.keys, opener, audit, clock),
        single_sign_on=sign_in.single_sign_on(foundation, storage, invitations, opener),
        platform_sign_in=sign_in.platform_sign_in(foundation, storage, opener),
        invitations=invitations,
        passkeys=sign_in.passkeys(foundation, storage, opener),
        mail_links=sign_in.mail_links(foundation, storage),
        keys=KeyService(services.access, storage.keys, audit, clock),
        users=UserService(storage.users, storage.teams, audit, clock),
        teams=TeamService(storage.teams, audit),
        audit=AuditService(audit),
        catalogue=CatalogueService(registry, channels.connections),
        instances=services.instances,
        checks=ConfigCheckService(instances, registry, channels.registration, channels.destinations, clock),
        operations=OperationsService(
            instances, registry, storage.health, storage.outbox, storage.unanswered, audit
        ),
        messages=services.messages,
        conversations=services.conversations,
        teamwork=TeamworkService(
            instances,
            services.conversations.conversations,
            AssigneeCheck(instances, storage.users, storage.teams),
            storage.teams,
            audit,
            clock,
        ),
        snippets=build_snippets(storage),
        feedback=FeedbackService(instances, PostgresFeedback(storage.database)),
        notifications=NotificationService(
            storage.notifications,
            storage.users,
            instances,
            audit,
            clock,
            settings.agent_url,
            Provider.EMAIL in verification.offered(settings),
        ),
        people=people,
        privacy=PrivacyService(
            people, build_privacy_requests(foundation, storage), audit, files.shared, clock
        ),
        callbacks=services.callbacks,
        verification=verification.service(foundation, storage),
        bases=knowledge.bases,
        files=knowledge.files,
        base_files=knowledge.base_files,
        sources=services.sources.service,
        search=knowledge.search,
        questions=AskService(
            knowledge.access,
            knowledge.answers,
            resources.models,
            ids,
            foundation.steady_clock,
            storage.usage,
            storage.budget_guard,
        ),
        shared=files.shared,
        events=EventStreams(instances, storage.event_feed),
        subscriptions=services.subscriptions.service,
        pushes=services.subscriptions.service,
        schedules=ScheduleListService(storage.schedules, instances, registry, clock, audit),
        resources=trials,
        agents=AgentService(
            storage.agents,
            resources.agents,
            knowledge.access,
            trials,
            ApproverCheck(storage.users, storage.teams),
            audit,
        ),
        approvals=ApproverService(storage.approvals, storage.teams, storage.users, audit, clock),
        monitoring=services.monitoring,
        web_chat=WebChatService(
            VisitorService(instances, registry, signer, clock, ids),
            storage.chat_log,
            storage.chat_feed,
            files.shared,
            storage.inbox,
            foundation.meter,
            own_origin(settings.agent_url),
            min(MOST_FILE_BYTES, settings.max_message_file_mb * 1024 * 1024),
        ),
        usage=UsageService(instances, storage.usage, clock),
        budgets=BudgetService(storage.budgets, instances, storage.agents, audit),
    )
