"""The gRPC services of the core: one line for each RPC.

A unary RPC is added by its proto, a method of a port, and a line here; the server, the client of a gateway and the
reflection are made of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from switchboard.access.v1 import access_pb2
from switchboard.channels.v1 import (
    callbacks_pb2,
    catalogue_pb2,
    checks_pb2,
    conversations_pb2,
    files_pb2,
    instances_pb2,
    messages_pb2,
    schedules_pb2,
    web_chat_pb2,
)
from switchboard.downstream.v1 import resources_pb2
from switchboard.events.v1 import events_pb2, subscriptions_pb2
from switchboard.knowledge.v1 import base_files_pb2, knowledge_pb2, questions_pb2, sources_pb2
from switchboard.monitoring.v1 import monitoring_pb2
from switchboard.verification.v1 import verification_pb2

from adapters.rpc.engine import Arguments, Paging, Rpc, Service, read
from adapters.rpc.messages import to_message, to_value
from domain.access.model import KeyKind
from domain.knowledge.model import Base, KnowledgeAnswer
from domain.knowledge.rules import DEFAULT_WINDOW
from domain.verification.model import Provider
from ports.access import Keys, Sessions
from ports.conversations import WebChat
from ports.instances import ConfigChecks, Schedules
from ports.knowledge import (
    BaseFiles,
    KnowledgeBases,
    KnowledgeFiles,
    KnowledgeQuestions,
    KnowledgeSearch,
    KnowledgeSources,
)
from ports.monitoring import DeadLetters, Doctor, FigureReport, HealthOverview
from ports.resources import Resources
from ports.subscriptions import PushLog, Subscriptions
from ports.use_cases import (
    BotVerification,
    Catalogue,
    Conversations,
    EmailVerification,
    InstanceOperations,
    Instances,
    Messages,
    OAuthVerification,
    VerifiedIdentities,
)

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


ACCESS = Service(
    access_pb2.DESCRIPTOR.services_by_name["AccessService"],
    {
        "SignIn": Rpc(Sessions.sign_in, as_gateway=True),
        "SignOut": Rpc(Sessions.sign_out),
    },
)
KEYS = Service(
    access_pb2.DESCRIPTOR.services_by_name["KeyService"],
    {
        "CreateKey": Rpc(Keys.create),
        "ListKeys": read(Keys.list, defaults={"kind": KeyKind.KEY}),
        "RevokeKey": Rpc(Keys.revoke),
    },
)
CATALOGUE = Service(
    catalogue_pb2.DESCRIPTOR.services_by_name["CatalogueService"],
    {
        "ListDefinitions": read(Catalogue.definitions),
        "GetDefinition": read(Catalogue.definition, renamed={"id": "channel_id"}),
        "ListSockets": read(Catalogue.sockets, paging=Paging.TOKEN),
    },
)
INSTANCES = Service(
    instances_pb2.DESCRIPTOR.services_by_name["InstanceService"],
    {
        "ListInstances": read(Instances.list, paging=Paging.TOKEN),
        "GetInstance": read(Instances.get),
        "CreateInstance": Rpc(Instances.create, PLATFORM),
        "UpdateInstance": Rpc(Instances.update, PLATFORM),
        "SetTrusted": Rpc(Instances.set_trusted),
        "DeleteInstance": Rpc(Instances.delete, PLATFORM),
        "RequestPairing": Rpc(Instances.request_pairing, PLATFORM),
        "GetHealth": read(InstanceOperations.health),
        "ListDeliveries": read(
            InstanceOperations.deliveries,
            defaults={"limit": FEW},
            arguments=_within_limits,
            paging=Paging.OFFSET,
        ),
        "ReplayDelivery": Rpc(InstanceOperations.replay),
        "DropDelivery": Rpc(InstanceOperations.drop),
        "ListUnanswered": read(
            InstanceOperations.unanswered,
            defaults={"limit": FEW},
            arguments=_within_limits,
            paging=Paging.OFFSET,
        ),
        "ReleaseUnanswered": Rpc(InstanceOperations.release),
    },
)
CONFIG_CHECKS = Service(
    checks_pb2.DESCRIPTOR.services_by_name["ConfigCheckService"],
    {
        "CheckConfig": read(ConfigChecks.faults),
        "CheckCredentials": Rpc(ConfigChecks.credentials, PLATFORM),
    },
)
SCHEDULES = Service(
    schedules_pb2.DESCRIPTOR.services_by_name["ScheduleService"],
    {"ListSchedules": read(Schedules.list), "RunSchedule": Rpc(Schedules.run)},
)
MESSAGES = Service(
    messages_pb2.DESCRIPTOR.services_by_name["MessageService"],
    {
        "SendMessage": Rpc(Messages.send, PLATFORM),
        "GetMessage": read(Messages.message, PLATFORM),
        "ListTimelines": read(Messages.timelines),
    },
)
CONVERSATIONS = Service(
    conversations_pb2.DESCRIPTOR.services_by_name["ConversationService"],
    {
        "ListConversations": read(Conversations.list, arguments=_of_one_instance),
        "ListMessages": read(Conversations.messages),
        "ListFailedMessages": read(Conversations.failed),
        "SetHandler": Rpc(Conversations.set_handler),
        "RerunMessage": Rpc(Conversations.rerun),
        "EraseConversation": Rpc(Conversations.erase, ERASURE),
    },
)
CALLBACKS = Service(callbacks_pb2.DESCRIPTOR.services_by_name["CallbackService"])
MESSAGE_FILES = Service(files_pb2.DESCRIPTOR.services_by_name["MessageFileService"])
WEB_CHAT = Service(
    web_chat_pb2.DESCRIPTOR.services_by_name["WebChatService"],
    {
        "CheckOrigin": read(WebChat.is_allowed, as_gateway=True),
        "OpenChat": Rpc(WebChat.open, as_gateway=True),
        "PostMessage": read(WebChat.post, as_gateway=True),  # a message is stored once, by its id
    },
)
VERIFICATION = Service(
    verification_pb2.DESCRIPTOR.services_by_name["VerificationService"],
    {
        "ListProviders": read(
            VerifiedIdentities.providers,
            result=lambda answer: {
                provider.value: answer.providers[provider.value]
                for provider in Provider
                if provider.value in answer.providers
            },
        ),
        "ListIdentities": read(VerifiedIdentities.list_identities),
        "RemoveIdentity": Rpc(VerifiedIdentities.remove_identity),
        "StartBotMessenger": Rpc(BotVerification.start_bot_messenger),
        "BotWebhook": Rpc(BotVerification.bot_webhook, PROVIDER),
        "CompleteBotMessenger": Rpc(
            BotVerification.complete_bot_messenger, renamed={"bot_messenger_id": "messenger_id"}
        ),
        "StartEmail": Rpc(EmailVerification.start_email, PROVIDER),
        "VerifyEmail": Rpc(
            EmailVerification.verify_email,
            answer=lambda email: verification_pb2.VerifyEmailResponse(
                email=email, message=f"{email} is verified."
            ),
        ),
        "StartOAuth": Rpc(OAuthVerification.start_oauth),
        "CompleteOAuth": Rpc(OAuthVerification.complete_oauth, PROVIDER),
    },
)
KNOWLEDGE = Service(
    knowledge_pb2.DESCRIPTOR.services_by_name["KnowledgeService"],
    {
        "ListBases": read(KnowledgeBases.list, paging=Paging.TOKEN),
        "CreateBase": Rpc(
            KnowledgeBases.create, answer=_created_base, result=lambda made: to_value(made.base, Base)
        ),
        "GetBase": read(KnowledgeBases.get),
        "UpdateBase": Rpc(KnowledgeBases.update),
        "DeleteBase": Rpc(KnowledgeBases.delete, MUCH),
        "SetPermission": Rpc(KnowledgeBases.set_permission, renamed={"permission_level": "level"}),
        "ListPermissions": read(KnowledgeBases.permissions, paging=Paging.TOKEN),
        "Search": read(KnowledgeSearch.search, MUCH),
        "GetChunk": read(KnowledgeFiles.chunk),
        "ListChunks": read(KnowledgeFiles.chunks, defaults={"limit": FEW}, paging=Paging.OFFSET),
    },
    {**BASE_NAMES, "id": "base_id"},
)
BASE_FILES = Service(
    base_files_pb2.DESCRIPTOR.services_by_name["BaseFileService"],
    {
        "GetUploadRules": read(BaseFiles.rules),
        "ListFileStates": read(BaseFiles.states),
        "GetFileState": read(BaseFiles.state),
        "DeleteFile": Rpc(BaseFiles.remove, MUCH),
        "RetryFile": Rpc(BaseFiles.retry),
        "ReadFileText": read(BaseFiles.text, defaults={"limit": FEW}),
        "ReadTextWindow": read(KnowledgeFiles.text, defaults={"limit": DEFAULT_WINDOW}),
        "ExplainSearch": read(KnowledgeSearch.explain, MUCH),
    },
    BASE_NAMES,
)
QUESTIONS = Service(
    questions_pb2.DESCRIPTOR.services_by_name["QuestionService"],
    {
        "Ask": Rpc(
            KnowledgeQuestions.ask,
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
        "AddPages": Rpc(KnowledgeSources.add_pages),
        "ListSources": read(KnowledgeSources.list),
        "ListSourcePages": read(KnowledgeSources.pages),
        "ReadSource": Rpc(KnowledgeSources.read_now),
        "RemoveSource": Rpc(KnowledgeSources.remove, MUCH),
    },
    BASE_NAMES,
)
EVENTS = Service(events_pb2.DESCRIPTOR.services_by_name["Events"])
SUBSCRIPTIONS = Service(
    subscriptions_pb2.DESCRIPTOR.services_by_name["SubscriptionService"],
    {
        "CreateSubscription": Rpc(Subscriptions.create),
        "ListSubscriptions": read(Subscriptions.list),
        "GetSubscription": read(Subscriptions.get),
        "ChangeSubscription": Rpc(Subscriptions.change),
        "DeleteSubscription": Rpc(Subscriptions.remove),
        "TestSubscription": Rpc(Subscriptions.test, PLATFORM),
        "ListPushes": read(PushLog.pushes),
        "ReplayPush": Rpc(PushLog.replay),
    },
)
RESOURCES = Service(
    resources_pb2.DESCRIPTOR.services_by_name["ResourceService"],
    {"ListRules": read(Resources.rules), "TryResource": Rpc(Resources.try_out, PLATFORM)},
)
MONITORING = Service(
    monitoring_pb2.DESCRIPTOR.services_by_name["MonitoringService"],
    {
        "ListDeadLetters": read(DeadLetters.list),
        "GetDeadLetter": read(DeadLetters.get),
        "ReplayDeadLetters": Rpc(DeadLetters.replay, MUCH, renamed={"items": "dead_letters"}),
        "DropDeadLetters": Rpc(DeadLetters.drop, MUCH, renamed={"items": "dead_letters"}),
        "ListInstanceHealth": read(HealthOverview.list),
        "GetFigures": read(FigureReport.figures),
        "ListFindings": read(Doctor.findings, MUCH),
    },
)

SERVICES = (
    ACCESS,
    KEYS,
    CATALOGUE,
    INSTANCES,
    CONFIG_CHECKS,
    SCHEDULES,
    MESSAGES,
    CONVERSATIONS,
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
    MONITORING,
)
REPEATABLE = {ACCESS.path("WhoAmI")}.union(
    service.path(name) for service in SERVICES for name, rpc in service.rpcs.items() if rpc.may_repeat
)
"""Paths of the RPCs for which another core may be asked when one goes away over the call."""
