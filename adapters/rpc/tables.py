"""The gRPC services of the core: one line for each RPC.

A unary RPC is added by its proto, a method of a use case, and a line here; the server, the client of a gateway and
the reflection are made of it.
"""

from dataclasses import replace
from typing import Any

from switchboard.access.v1 import access_pb2, invitations_pb2, passkeys_pb2, sign_in_pb2, teams_pb2, users_pb2
from switchboard.audit.v1 import audit_pb2
from switchboard.channels.v1 import (
    approvals_pb2,
    callbacks_pb2,
    catalogue_pb2,
    checks_pb2,
    conversations_pb2,
    feedback_pb2,
    files_pb2,
    instances_pb2,
    messages_pb2,
    schedules_pb2,
    snippets_pb2,
    web_chat_pb2,
)
from switchboard.downstream.v1 import agents_pb2, resources_pb2
from switchboard.events.v1 import events_pb2, subscriptions_pb2
from switchboard.knowledge.v1 import base_files_pb2, knowledge_pb2, questions_pb2, sources_pb2
from switchboard.monitoring.v1 import monitoring_pb2, reports_pb2, usage_pb2
from switchboard.notifications.v1 import notifications_pb2
from switchboard.people.v1 import people_pb2
from switchboard.verification.v1 import verification_pb2

from adapters.rpc.engine import Arguments, Paging, Rpc, Service, read
from adapters.rpc.messages import to_message, to_value
from adapters.rpc.metadata import client_address
from domain.access.invitations import InvitationService, MailLinkService
from domain.access.model import KeyKind, Passkey
from domain.access.passkeys import PasskeyService
from domain.access.platform_sign_in import PlatformSignInService
from domain.access.service import KeyService, SessionService
from domain.access.single_sign_on import SingleSignOnService
from domain.access.teams import TeamService
from domain.access.users import UserService
from domain.agents.service import AgentService
from domain.audit.service import AuditService
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
from domain.knowledge.model import Base, KnowledgeAnswer
from domain.knowledge.rules import DEFAULT_WINDOW
from domain.knowledge.search import SearchService
from domain.knowledge.sources.service import SourceService
from domain.monitoring.service import DeadLetterService, DoctorService, FigureService, HealthOverviewService
from domain.notifications.service import NotificationService
from domain.people.model import Person, PrivacyRequest
from domain.people.requests import PrivacyService
from domain.people.service import PeopleService
from domain.polling.service import ScheduleListService
from domain.reports.service import ReportService
from domain.routing.trials import TrialService
from domain.subscriptions.service import SubscriptionService
from domain.usage.budget_service import BudgetService
from domain.usage.budgets import Budget
from domain.usage.service import UsageService
from domain.verification.model import Provider
from domain.verification.service import (
    BotVerificationService,
    EmailVerificationService,
    IdentityService,
    OAuthVerificationService,
)
from domain.web_chat.service import WebChatService

PLATFORM = 40.0
"""Seconds for calls that wait for a platform: registering a webhook, a pairing code, a trial."""
MUCH = 60.0
"""Seconds for calls that may load the model, delete much, or look at the whole installation."""
PROVIDER = 75.0
"""Seconds for calls that wait for a mail server or a provider of identities."""
ERASURE = 120.0
"""Seconds for erasing a long conversation."""
ANSWER = 130.0
"""Seconds for the answer of a model, which has 120."""
FEW = 5
"""Entries of a list whose limit is not set, where the contract says so."""
MOST_DELIVERIES = 1000

BASE_NAMES = {"knowledge_base_id": "base_id", "file_id": "file_hash"}


def _within_limits(_: Any, arguments: Arguments) -> Arguments:
    limit, offset = arguments["limit"], arguments["offset"]
    return {**arguments, "limit": max(1, min(limit, MOST_DELIVERIES)), "offset": max(0, offset)}


_WINDOW: dict[str, Any] = {
    "defaults": {"limit": FEW}, "arguments": _within_limits, "paging": Paging.OFFSET,
}  # fmt: skip


def _of_peer(_: Any, arguments: Arguments) -> Arguments:
    """The address is that of the peer, or the one that a gateway proves to act for."""
    browser = arguments["browser"]
    return {**arguments, "browser": replace(browser, address=client_address.get() or browser.address)}


def _added_passkey(passkey: Passkey) -> passkeys_pb2.AddPasskeyResponse:
    return passkeys_pb2.AddPasskeyResponse(passkey=to_message(passkey, passkeys_pb2.Passkey))


def _passkey_of(response: passkeys_pb2.AddPasskeyResponse) -> Passkey:
    return to_value(response.passkey, Passkey)


def _of_one_instance(request: Any, arguments: Arguments) -> Arguments:
    """Older clients name one instance."""
    if not request.instance_id:
        return arguments
    return {**arguments, "wanted": replace(arguments["wanted"], instance_ids=(request.instance_id,))}


def _created_base(base: Base) -> knowledge_pb2.CreateBaseResponse:
    message = to_message(base, knowledge_pb2.Base)
    return knowledge_pb2.CreateBaseResponse(
        id=base.id, name=base.name, description=base.description, type="kb", status="published", base=message
    )


def _answered(answer: KnowledgeAnswer) -> questions_pb2.AskResponse:
    response = to_message(answer, questions_pb2.AskResponse)
    response.unsearched = not answer.searched
    return response


def _one_person(response: Any) -> dict[str, Any]:
    """How a person stands in the only field of a response."""
    return {
        "answer": lambda person: response(person=to_message(person, people_pb2.Person)),
        "result": lambda answer: to_value(answer.person, Person),
    }


def _one_request(response: Any) -> dict[str, Any]:
    return {
        "answer": lambda request: response(request=to_message(request, people_pb2.PrivacyRequest)),
        "result": lambda answer: to_value(answer.request, PrivacyRequest),
    }


ACCESS = Service(
    access_pb2.DESCRIPTOR.services_by_name["AccessService"],
    {
        "SignIn": Rpc(SessionService.sign_in, as_gateway=True),
        "SignOut": Rpc(SessionService.sign_out),
    },
)
SINGLE_SIGN_ON = Service(
    sign_in_pb2.DESCRIPTOR.services_by_name["SingleSignOnService"],
    {
        "GetProvider": read(SingleSignOnService.name, as_gateway=True),
        "StartSingleSignOn": Rpc(SingleSignOnService.start, PROVIDER, as_gateway=True),
        "FinishSingleSignOn": Rpc(SingleSignOnService.finish, PROVIDER, as_gateway=True, arguments=_of_peer),
        "GetSignOutAddress": read(SingleSignOnService.sign_out_address, PROVIDER, as_gateway=True),
    },
)
PLATFORM_SIGN_IN = Service(
    sign_in_pb2.DESCRIPTOR.services_by_name["PlatformSignInService"],
    {
        "ListPlatforms": read(PlatformSignInService.platforms, as_gateway=True),
        "StartPlatformSignIn": Rpc(PlatformSignInService.start, as_gateway=True),
        "FinishPlatformSignIn": Rpc(
            PlatformSignInService.finish, PROVIDER, as_gateway=True, arguments=_of_peer
        ),
    },
)
INVITATIONS = Service(
    invitations_pb2.DESCRIPTOR.services_by_name["InvitationService"],
    {
        "CreateInvitation": Rpc(InvitationService.create, PROVIDER, defaults={"role": "member"}),
        "ListInvitations": read(InvitationService.list),
        "RevokeInvitation": Rpc(InvitationService.revoke),
        "GetInvitation": read(InvitationService.look, as_gateway=True),
        "AcceptInvitation": Rpc(InvitationService.accept, as_gateway=True, arguments=_of_peer),
    },
)
MAIL_LINKS = Service(
    invitations_pb2.DESCRIPTOR.services_by_name["MailLinkService"],
    {
        "GetMailOffer": read(MailLinkService.is_offered, as_gateway=True),
        "SendMailLink": Rpc(MailLinkService.send, as_gateway=True, arguments=_of_peer),
    },
)
PASSKEYS = Service(
    passkeys_pb2.DESCRIPTOR.services_by_name["PasskeyService"],
    {
        "ListPasskeys": read(PasskeyService.list),
        "StartPasskey": Rpc(PasskeyService.start),
        "AddPasskey": Rpc(PasskeyService.add, answer=_added_passkey, result=_passkey_of),
        "RemovePasskey": Rpc(PasskeyService.remove),
        "ResetPasskeys": Rpc(PasskeyService.reset),
        "AskForPasskey": Rpc(PasskeyService.ask),
        "ConfirmPasskey": Rpc(PasskeyService.confirm),
        "GetPasskeyChallenge": Rpc(PasskeyService.challenge, as_gateway=True),
        "SignInWithPasskey": Rpc(PasskeyService.sign_in, as_gateway=True, arguments=_of_peer),
    },
)
KEYS = Service(
    access_pb2.DESCRIPTOR.services_by_name["KeyService"],
    {
        "CreateKey": Rpc(KeyService.create),
        "ListKeys": read(KeyService.list, defaults={"kind": KeyKind.KEY}),
        "RevokeKey": Rpc(KeyService.revoke),
    },
)
USERS = Service(
    users_pb2.DESCRIPTOR.services_by_name["UserService"],
    {
        "GetMe": read(UserService.me),
        "ListUsers": read(UserService.list),
        "GetUser": read(UserService.get),
        "CreateUser": Rpc(UserService.create),
        "ChangeUser": Rpc(UserService.change),
        "DeleteUser": Rpc(UserService.delete, MUCH),
    },
)
TEAMS = Service(
    teams_pb2.DESCRIPTOR.services_by_name["TeamService"],
    {
        "ListTeams": read(TeamService.list),
        "GetTeam": read(TeamService.get),
        "CreateTeam": Rpc(TeamService.create),
        "ChangeTeam": Rpc(TeamService.change),
        "DeleteTeam": Rpc(TeamService.delete),
    },
)
AUDIT = Service(
    audit_pb2.DESCRIPTOR.services_by_name["AuditService"],
    {"ListAuditEntries": read(AuditService.list)},
)
CATALOGUE = Service(
    catalogue_pb2.DESCRIPTOR.services_by_name["CatalogueService"],
    {
        "ListDefinitions": read(CatalogueService.definitions),
        "GetDefinition": read(CatalogueService.definition, renamed={"id": "channel_id"}),
        "ListSockets": read(CatalogueService.sockets, paging=Paging.TOKEN),
    },
)
INSTANCES = Service(
    instances_pb2.DESCRIPTOR.services_by_name["InstanceService"],
    {
        "ListInstances": read(InstanceService.list, paging=Paging.TOKEN),
        "GetInstance": read(InstanceService.get),
        "CreateInstance": Rpc(InstanceService.create, PLATFORM),
        "UpdateInstance": Rpc(InstanceService.update, PLATFORM),
        "SetTrusted": Rpc(InstanceService.set_trusted),
        "DeleteInstance": Rpc(InstanceService.delete, PLATFORM),
        "RequestPairing": Rpc(InstanceService.request_pairing, PLATFORM),
        "GetHealth": read(OperationsService.health),
        "ListDeliveries": read(OperationsService.deliveries, **_WINDOW),
        "ReplayDelivery": Rpc(OperationsService.replay),
        "DropDelivery": Rpc(OperationsService.drop),
        "ListUnanswered": read(OperationsService.unanswered, **_WINDOW),
        "ReleaseUnanswered": Rpc(OperationsService.release),
        "ListVisibleInstances": read(InstanceService.visible),
        "GetPermissionLevel": read(InstanceService.level),
        "ListInstancePermissions": read(InstanceService.permissions),
        "SetInstancePermission": Rpc(InstanceService.set_permission),
    },
)
CONFIG_CHECKS = Service(
    checks_pb2.DESCRIPTOR.services_by_name["ConfigCheckService"],
    {
        "CheckConfig": read(ConfigCheckService.faults),
        "CheckCredentials": Rpc(ConfigCheckService.credentials, PLATFORM),
    },
)
SCHEDULES = Service(
    schedules_pb2.DESCRIPTOR.services_by_name["ScheduleService"],
    {"ListSchedules": read(ScheduleListService.list), "RunSchedule": Rpc(ScheduleListService.run)},
)
MESSAGES = Service(
    messages_pb2.DESCRIPTOR.services_by_name["MessageService"],
    {
        "SendMessage": Rpc(MessageService.send, PLATFORM),
        "GetMessage": read(MessageService.message, PLATFORM),
        "ListTimelines": read(MessageService.timelines),
    },
)
CONVERSATIONS = Service(
    conversations_pb2.DESCRIPTOR.services_by_name["ConversationService"],
    {
        "ListConversations": read(HistoryService.list, arguments=_of_one_instance),
        "ListMessages": read(HistoryService.messages),
        "ListFailedMessages": read(HistoryService.failed),
        "SetHandler": Rpc(HistoryService.set_handler),
        "ChangeConversation": Rpc(TeamworkService.change),
        "AddNote": Rpc(TeamworkService.add_note),
        "CountConversations": read(TeamworkService.counts),
        "RerunMessage": Rpc(HistoryService.rerun),
        "EraseConversation": Rpc(HistoryService.erase, ERASURE),
    },
)
SNIPPETS = Service(
    snippets_pb2.DESCRIPTOR.services_by_name["SnippetService"],
    {
        "ListSnippets": read(SnippetService.list),
        "GetSnippet": read(SnippetService.get),
        "CreateSnippet": Rpc(SnippetService.create),
        "ChangeSnippet": Rpc(SnippetService.change),
        "DeleteSnippet": Rpc(SnippetService.delete),
    },
)
APPROVALS = Service(
    approvals_pb2.DESCRIPTOR.services_by_name["ApprovalService"],
    {
        "ListApprovals": read(ApproverService.list),
        "GetApproval": read(ApproverService.get),
        "DecideApproval": Rpc(ApproverService.decide),
    },
)
FEEDBACK = Service(
    feedback_pb2.DESCRIPTOR.services_by_name["FeedbackService"],
    {"ListFeedback": read(FeedbackService.list)},
)
PEOPLE = Service(
    people_pb2.DESCRIPTOR.services_by_name["PeopleService"],
    {
        "ListPeople": read(PeopleService.list),
        "GetPerson": read(PeopleService.get, **_one_person(people_pb2.GetPersonResponse)),
        "ChangePerson": Rpc(PeopleService.change, **_one_person(people_pb2.ChangePersonResponse)),
        "MergePeople": Rpc(PeopleService.merge, **_one_person(people_pb2.MergePeopleResponse)),
        "SplitPerson": Rpc(PeopleService.split, **_one_person(people_pb2.SplitPersonResponse)),
    },
)
PRIVACY = Service(
    people_pb2.DESCRIPTOR.services_by_name["PrivacyService"],
    {
        "ExportPerson": Rpc(PrivacyService.export, **_one_request(people_pb2.ExportPersonResponse)),
        "ErasePerson": Rpc(PrivacyService.erase, **_one_request(people_pb2.ErasePersonResponse)),
        "GetPrivacyRequest": read(PrivacyService.get, **_one_request(people_pb2.GetPrivacyRequestResponse)),
        "ListPrivacyRequests": read(PrivacyService.list),
    },
)
NOTIFICATIONS = Service(
    notifications_pb2.DESCRIPTOR.services_by_name["NotificationService"],
    {
        "ListNotifications": read(NotificationService.list),
        "CountUnreadNotifications": read(NotificationService.count_unread),
        "MarkNotificationsRead": read(NotificationService.mark_read),
        "GetNotificationSettings": read(NotificationService.settings),
        "SetNotificationSettings": Rpc(NotificationService.set_settings),
    },
)
CALLBACKS = Service(callbacks_pb2.DESCRIPTOR.services_by_name["CallbackService"])
MESSAGE_FILES = Service(files_pb2.DESCRIPTOR.services_by_name["MessageFileService"])
WEB_CHAT = Service(
    web_chat_pb2.DESCRIPTOR.services_by_name["WebChatService"],
    {
        "CheckOrigin": read(WebChatService.is_allowed, as_gateway=True),
        "OpenChat": Rpc(WebChatService.open, as_gateway=True),
        "PostMessage": read(WebChatService.post, as_gateway=True),  # a message is stored once, by its id
    },
)
VERIFICATION = Service(
    verification_pb2.DESCRIPTOR.services_by_name["VerificationService"],
    {
        "ListProviders": read(
            IdentityService.providers,
            result=lambda answer: {
                provider.value: answer.providers[provider.value]
                for provider in Provider
                if provider.value in answer.providers
            },
        ),
        "ListIdentities": read(IdentityService.list_identities),
        "RemoveIdentity": Rpc(IdentityService.remove_identity),
        "StartBotMessenger": Rpc(BotVerificationService.start_bot_messenger),
        "BotWebhook": Rpc(BotVerificationService.bot_webhook, PROVIDER),
        "CompleteBotMessenger": Rpc(
            BotVerificationService.complete_bot_messenger, renamed={"bot_messenger_id": "messenger_id"}
        ),
        "StartEmail": Rpc(EmailVerificationService.start_email, PROVIDER),
        "VerifyEmail": Rpc(
            EmailVerificationService.verify_email,
            answer=lambda email: verification_pb2.VerifyEmailResponse(
                email=email, message=f"{email} is verified."
            ),
        ),
        "StartOAuth": Rpc(OAuthVerificationService.start_oauth),
        "CompleteOAuth": Rpc(OAuthVerificationService.complete_oauth, PROVIDER),
    },
)
KNOWLEDGE = Service(
    knowledge_pb2.DESCRIPTOR.services_by_name["KnowledgeService"],
    {
        "ListBases": read(BasesService.list, paging=Paging.TOKEN),
        "CreateBase": Rpc(
            BasesService.create, answer=_created_base, result=lambda made: to_value(made.base, Base)
        ),
        "GetBase": read(BasesService.get),
        "UpdateBase": Rpc(BasesService.update),
        "DeleteBase": Rpc(BasesService.delete, MUCH),
        "SetPermission": Rpc(BasesService.set_permission, renamed={"permission_level": "level"}),
        "ListPermissions": read(BasesService.permissions, paging=Paging.TOKEN),
        "Search": read(SearchService.search, MUCH),
        "GetChunk": read(FilesService.chunk),
        "ListChunks": read(FilesService.chunks, defaults={"limit": FEW}, paging=Paging.OFFSET),
    },
    {**BASE_NAMES, "id": "base_id"},
)
BASE_FILES = Service(
    base_files_pb2.DESCRIPTOR.services_by_name["BaseFileService"],
    {
        "GetUploadRules": read(BaseFilesService.rules),
        "ListFileStates": read(BaseFilesService.states),
        "GetFileState": read(BaseFilesService.state),
        "DeleteFile": Rpc(BaseFilesService.remove, MUCH),
        "RetryFile": Rpc(BaseFilesService.retry),
        "ReadFileText": read(BaseFilesService.text, defaults={"limit": FEW}),
        "ReadTextWindow": read(FilesService.text, defaults={"limit": DEFAULT_WINDOW}),
        "ExplainSearch": read(SearchService.explain, MUCH),
    },
    BASE_NAMES,
)
QUESTIONS = Service(
    questions_pb2.DESCRIPTOR.services_by_name["QuestionService"],
    {
        "Ask": Rpc(
            AskService.ask,
            ANSWER,
            answer=_answered,
            result=lambda response: replace(
                to_value(response, KnowledgeAnswer), searched=not response.unsearched
            ),
        )
    },
    BASE_NAMES,
)
SOURCES = Service(
    sources_pb2.DESCRIPTOR.services_by_name["SourceService"],
    {
        "AddPages": Rpc(SourceService.add_pages),
        "ListSources": read(SourceService.list),
        "ListSourcePages": read(SourceService.pages),
        "ReadSource": Rpc(SourceService.read_now),
        "RemoveSource": Rpc(SourceService.remove, MUCH),
    },
    BASE_NAMES,
)
EVENTS = Service(events_pb2.DESCRIPTOR.services_by_name["Events"])
SUBSCRIPTIONS = Service(
    subscriptions_pb2.DESCRIPTOR.services_by_name["SubscriptionService"],
    {
        "CreateSubscription": Rpc(SubscriptionService.create),
        "ListSubscriptions": read(SubscriptionService.list),
        "GetSubscription": read(SubscriptionService.get),
        "ChangeSubscription": Rpc(SubscriptionService.change),
        "DeleteSubscription": Rpc(SubscriptionService.remove),
        "TestSubscription": Rpc(SubscriptionService.test, PLATFORM),
        "ListPushes": read(SubscriptionService.pushes),
        "ReplayPush": Rpc(SubscriptionService.replay),
    },
)
RESOURCES = Service(
    resources_pb2.DESCRIPTOR.services_by_name["ResourceService"],
    {"ListRules": read(TrialService.rules), "TryResource": Rpc(TrialService.try_out, PLATFORM)},
)
AGENTS = Service(
    agents_pb2.DESCRIPTOR.services_by_name["AgentService"],
    {
        "ListAgents": read(AgentService.list),
        "GetAgent": read(AgentService.get),
        "CreateAgent": Rpc(AgentService.create),
        "UpdateAgent": Rpc(AgentService.update),
        "DeleteAgent": Rpc(AgentService.delete),
        "SetAgentTrusted": Rpc(AgentService.set_trusted),
        "TestAgent": Rpc(AgentService.test, PLATFORM),
        "ListAgentPermissions": read(AgentService.permissions),
        "SetAgentPermission": Rpc(AgentService.set_permission),
    },
)
MONITORING = Service(
    monitoring_pb2.DESCRIPTOR.services_by_name["MonitoringService"],
    {
        "ListDeadLetters": read(DeadLetterService.list),
        "GetDeadLetter": read(DeadLetterService.get),
        "ReplayDeadLetters": Rpc(DeadLetterService.replay, MUCH, renamed={"items": "dead_letters"}),
        "DropDeadLetters": Rpc(DeadLetterService.drop, MUCH, renamed={"items": "dead_letters"}),
        "ListInstanceHealth": read(HealthOverviewService.list),
        "GetFigures": read(FigureService.figures),
        "ListFindings": read(DoctorService.findings, MUCH),
    },
)
REPORTS = Service(
    reports_pb2.DESCRIPTOR.services_by_name["ReportService"],
    {"ListReports": read(ReportService.list)},
)
USAGE = Service(
    usage_pb2.DESCRIPTOR.services_by_name["UsageService"],
    {"ListUsage": read(UsageService.list)},
)
BUDGETS = Service(
    usage_pb2.DESCRIPTOR.services_by_name["BudgetService"],
    {
        "ListBudgets": read(BudgetService.list),
        "SetBudget": Rpc(
            BudgetService.set,
            answer=lambda budget: usage_pb2.SetBudgetResponse(budget=to_message(budget, usage_pb2.Budget)),
            result=lambda response: to_value(response.budget, Budget),
        ),
        "DeleteBudget": Rpc(BudgetService.delete),
    },
)

SERVICES = (
    ACCESS,
    SINGLE_SIGN_ON,
    PLATFORM_SIGN_IN,
    INVITATIONS,
    MAIL_LINKS,
    PASSKEYS,
    KEYS,
    USERS,
    TEAMS,
    AUDIT,
    CATALOGUE,
    INSTANCES,
    CONFIG_CHECKS,
    SCHEDULES,
    MESSAGES,
    CONVERSATIONS,
    SNIPPETS,
    APPROVALS,
    FEEDBACK,
    PEOPLE,
    NOTIFICATIONS,
    PRIVACY,
    CALLBACKS,
    MESSAGE_FILES,
    WEB_CHAT,
    VERIFICATION,
    KNOWLEDGE,
    BASE_FILES,
    QUESTIONS,
    SOURCES,
    EVENTS,
    SUBSCRIPTIONS,
    RESOURCES,
    AGENTS,
    MONITORING,
    REPORTS,
    USAGE,
    BUDGETS,
)
REPEATABLE = {ACCESS.path("WhoAmI")}.union(
    service.path(name) for service in SERVICES for name, rpc in service.rpcs.items() if rpc.may_repeat
)
"""Paths of the RPCs for which another core may be asked when one goes away over the call."""
