"""Wiring of what processes conversations and deliveries, and of the resources that answer."""

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path

from adapters.outbound.knowledge.message_files import ParsedSpeech
from adapters.outbound.resources.builtin import Builtins, Echo
from adapters.outbound.resources.directory import Directory
from adapters.outbound.resources.grpc_runner import GrpcChannels
from adapters.outbound.resources.router import Retrying, Router, RuleModels, Runners, Timed
from adapters.outbound.resources.rules import Rule
from adapters.outbound.resources.rules_file import Build, RulesFile
from adapters.outbound.resources.stored_agents import StoredAgents
from adapters.outbound.resources.targets import BadRules
from adapters.outbound.storage.confirmations import PostgresConfirmations
from adapters.outbound.storage.conversations.earlier import PostgresEarlierMessages
from adapters.outbound.storage.feedback import PostgresFeedback
from adapters.outbound.storage.processes import PostgresSharedLimits
from adapters.outbound.storage.queue.conversations import PostgresRounds
from adapters.outbound.system.event_bus import EventBus
from apps.compose.channels import Channels
from apps.compose.knowledge import whisper_folder
from apps.compose.storage import Files, Foundation, Storage
from apps.setting_types import SettingsError
from apps.settings import Settings
from domain.confirmations.approvers import ApproverService
from domain.confirmations.policy_check import ApproverCheck
from domain.confirmations.questions import ApproverQuestions
from domain.confirmations.service import ConfirmationService
from domain.conversations.forwarding import ForwardingService
from domain.conversations.results import ResultService
from domain.conversations.sending import SendingService
from domain.delivery.drafts import LimitedDrafts
from domain.delivery.rate_limits import RateLimiter
from domain.delivery.service import DeliveryService
from domain.routing.agent_tasks import AgentTaskService
from domain.routing.approved_runs import ApprovedRunService
from domain.routing.context import ContextService
from domain.routing.conversation import Withdrawals
from domain.routing.decisions import DecisionService
from domain.routing.drafting import DraftService
from domain.routing.events import EventService
from domain.routing.forms import FormService
from domain.routing.indicators import LingeringTyping
from domain.routing.invocation import InvocationService
from domain.routing.prompts import ChoiceService, PromptFeedback
from domain.routing.running import RunService
from domain.routing.service import ConversationService
from ports.agents import AgentStore
from ports.channels import Channels as AllChannels
from ports.files import Transcriber
from ports.http import Http
from ports.indexing import Parser
from ports.resources import AgentTasks, ChatHistory, Downstream, KnowledgeReader, PollTask, ResourceStates


def build_transcriber(settings: Settings, files: Files, parser: Parser) -> Transcriber | None:
    """None if no speech is to be recognised in messages."""
    engine = settings.voice_transcription
    has_engine = engine == "built-in" or (engine == "model" and bool(whisper_folder(settings)))
    return ParsedSpeech(parser, files.blobs) if has_engine else None


class Work:
    def __init__(
        self,
        foundation: Foundation,
        storage: Storage,
        channels: Channels,
        downstream: Downstream,
        poll_task: PollTask,
        transcriber: Transcriber | None,
        sending: SendingService,
        delivery_channels: AllChannels,
    ) -> None:
        settings, clock, ids, meter = foundation.settings, foundation.clock, foundation.ids, foundation.meter
        database, health, instances, bus = (
            storage.database,
            storage.health,
            storage.instances,
            storage.event_bus,
        )
        self.approvals = ConfirmationService(PostgresConfirmations(database), storage.audit, clock, ids)
        self.shared_limits = PostgresSharedLimits(database, foundation.worker_id)
        self.rate_limiter = RateLimiter(
            self.shared_limits,
            foundation.steady_clock,
            asyncio.sleep,
            bus.limits_changed,
            meter,
            channels.slots,
            enforce_quotas=settings.platform_limits == "published",
        )
        bus.on_change(self.rate_limiter.forget)
        self.prompt_feedback = PromptFeedback(storage.outbox)
        self.typing = LingeringTyping()
        earlier = PostgresEarlierMessages(database)
        forms = FormService(self.prompt_feedback, clock, settings.agent_url)
        approvers = ApproverService(storage.approvals, storage.teams, storage.users, storage.audit, clock)
        questions = ApproverQuestions(
            storage.approvals, ApproverCheck(storage.users, storage.teams), clock, ids
        )
        invocation = InvocationService(
            RunService(downstream, foundation.steady_clock, meter, storage.budget_guard),
            DecisionService(
                self.approvals,
                approvers,
                self.prompt_feedback,
                ChoiceService(earlier),
                PostgresFeedback(database),
                forms,
            ),
            self.approvals,
            questions,
            channels.files,
            DraftService(LimitedDrafts(self.rate_limiter), storage.conversations, bus.grew),
            self.prompt_feedback,
            ContextService(earlier, channels.files, channels.reads, transcriber),
            forms,
            clock,
            settings.agent_url,
        )
        events = EventService(
            invocation,
            storage.identities,
            PostgresRounds(database),
            health,
            clock,
            meter,
            storage.unanswered,
            settings.verification_page,
        )
        results = ResultService(channels.registry, channels.destinations, sending)
        self.agent_tasks = AgentTaskService(
            storage.agent_tasks,
            poll_task,
            instances,
            results,
            channels.files,
            health,
        )
        self.approved_runs = ApprovedRunService(
            storage.approvals,
            approvers,
            invocation,
            instances,
            channels.registry,
            storage.identities,
            storage.messages,
            storage.conversations,
            results,
            health,
            storage.usage,
            storage.budget_guard,
        )
        withdrawals = Withdrawals()
        bus.on_withdrawal(withdrawals.withdraw)
        self.conversations = ConversationService(
            storage.conversations,
            instances,
            channels.registry,
            events,
            health,
            ForwardingService(channels.destinations, sending, health),
            withdrawals,
            self.typing,
            storage.usage,
            storage.budget_guard,
            foundation.traces.span,
        )
        self.deliveries = DeliveryService(
            storage.outbox,
            instances,
            delivery_channels,
            health,
            self.rate_limiter,
            ids,
            storage.sessions,
            foundation.steady_clock,
            meter,
            self.typing,
            foundation.traces.span,
        )


class Resources:
    """The rules file, the connections of the resources, and the router over both."""

    def __init__(
        self,
        settings: Settings,
        http: Http,
        history: ChatHistory,
        states: ResourceStates,
        agents: AgentStore,
        bus: EventBus,
        tasks: AgentTasks,
        knowledge: KnowledgeReader,
    ) -> None:
        self._channels = GrpcChannels()
        builtins, seconds = Builtins(knowledge), float(settings.downstream_timeout)
        runners = Runners(http, self._channels, history, states, tasks, builtins, knowledge, _retrying)
        self.rules = _rules(settings, runners.build)
        self.models = RuleModels(self.rules, runners, seconds)
        self.agents = StoredAgents(agents, runners, self.rules)
        bus.on_agents(self.agents.forget)
        self.directory = Directory(self.rules, self.agents, settings.downstream_url, seconds)
        default = runners.for_url(settings.downstream_url) if settings.downstream_url else None
        self.router = Router(self.rules, builtins, default, self.agents.find)
        self.runner: Downstream = Timed(self.router, seconds)

    def load(self) -> None:
        """Reads the rules. Raises `SettingsError`."""
        _load(self.rules)

    async def close(self) -> None:
        await self._channels.close()


def rules_of(settings: Settings) -> Sequence[Rule]:
    """The rules of RESOURCES_FILE, each checked and none put in force. Raises `SettingsError`."""
    rules = _rules(settings, lambda _: Echo())
    _load(rules)
    return rules.rules


def _rules(settings: Settings, build: Build) -> RulesFile:
    path = Path(settings.resources_file) if settings.resources_file else None
    return RulesFile(path, settings.environment.get, build)


def _load(rules: RulesFile) -> None:
    try:
        rules.load()
    except BadRules as error:
        raise SettingsError(f"RESOURCES_FILE: {error}") from error


def _retrying(inner: Downstream) -> Downstream:
    return Retrying(inner, sleep=asyncio.sleep, now=time.monotonic, chance=random.random)
