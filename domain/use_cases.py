"""The use cases, as inbound adapters call them. In a gateway of its own, a client of a core has their methods."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from domain.access.invitations import InvitationService, MailLinkService
from domain.access.passkeys import PasskeyService
from domain.access.platform_sign_in import PlatformSignInService
from domain.access.service import AccessService, KeyService, SessionService
from domain.access.single_sign_on import SingleSignOnService
from domain.access.teams import TeamService
from domain.access.users import UserService
from domain.agents.service import AgentService
from domain.audit.service import AuditService
from domain.channels.messages import RawAnswer, RawCall
from domain.confirmations.approvers import ApproverService
from domain.conversations.history import HistoryService
from domain.conversations.sending import MessageService
from domain.conversations.snippets import SnippetService
from domain.conversations.teamwork import TeamworkService
from domain.feedback.service import FeedbackService
from domain.instances.checks import ConfigCheckService
from domain.instances.lookup import CatalogueService
from domain.instances.service import InstanceService, OperationsService
from domain.knowledge.answers import AskService
from domain.knowledge.bases import BasesService
from domain.knowledge.files import BaseFilesService, FilesService
from domain.knowledge.search import SearchService
from domain.knowledge.sources.service import SourceService
from domain.monitoring.service import DeadLetterService, DoctorService, FigureService, HealthOverviewService
from domain.notifications.service import NotificationService
from domain.people.requests import PrivacyService
from domain.people.service import PeopleService
from domain.polling.service import ScheduleListService
from domain.reports.service import ReportService
from domain.routing.trials import TrialService
from domain.subscriptions.service import EventStreams, SubscriptionService
from domain.usage.budget_service import BudgetService
from domain.usage.service import UsageService
from domain.verification.service import (
    BotVerificationService,
    EmailVerificationService,
    IdentityService,
    OAuthVerificationService,
)
from domain.web_chat.service import WebChatService
from ports.files import SharedFiles


class Callbacks(Protocol):
    """Calls of the platforms."""

    async def handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
        """Proves, stores and acknowledges a call. Raises `NotFound`, `Unauthenticated`, `Invalid`."""
        ...

    def stream(
        self, channel_id: str, instance_id: int, call: RawCall
    ) -> AsyncGenerator[RawAnswer | bytes, None]:
        """Answers a call for which `handle` returned an answer that streams: yields the head, then the pieces of the
        body where the head streams. Empty pieces are signs of life, also before the head. Raises as `handle`."""
        ...


@dataclass(frozen=True, slots=True)
class Verification:
    """Verified identities and the ways to verify them."""

    identities: IdentityService
    email: EmailVerificationService
    bot: BotVerificationService
    oauth: OAuthVerificationService


@dataclass(frozen=True, slots=True)
class Monitoring:
    """What operators look at."""

    dead_letters: DeadLetterService
    health: HealthOverviewService
    figures: FigureService
    reports: ReportService
    doctor: DoctorService


@dataclass(frozen=True, slots=True)
class UseCases:
    """All that can be asked of the service, for the inbound adapters."""

    access: AccessService
    sessions: SessionService
    single_sign_on: SingleSignOnService
    platform_sign_in: PlatformSignInService
    invitations: InvitationService
    mail_links: MailLinkService
    passkeys: PasskeyService
    keys: KeyService
    users: UserService
    teams: TeamService
    audit: AuditService
    catalogue: CatalogueService
    instances: InstanceService
    checks: ConfigCheckService
    operations: OperationsService
    messages: MessageService
    conversations: HistoryService
    teamwork: TeamworkService
    snippets: SnippetService
    approvals: ApproverService
    feedback: FeedbackService
    notifications: NotificationService
    people: PeopleService
    privacy: PrivacyService
    callbacks: Callbacks
    verification: Verification
    bases: BasesService
    files: FilesService
    base_files: BaseFilesService
    sources: SourceService
    search: SearchService
    questions: AskService
    shared: SharedFiles
    events: EventStreams
    subscriptions: SubscriptionService
    pushes: SubscriptionService
    schedules: ScheduleListService
    resources: TrialService
    agents: AgentService
    monitoring: Monitoring
    web_chat: WebChatService
    usage: UsageService
    budgets: BudgetService


GROUPS = (Verification, Monitoring)
"""Fields of `UseCases` that hold several use cases."""
