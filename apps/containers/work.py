"""What works on conversations and deliveries."""

import asyncio

from adapters.outbound.knowledge.message_files import ParsedSpeech
from adapters.outbound.storage.confirmations import PostgresConfirmations, PostgresOffers
from adapters.outbound.storage.conversations.earlier import PostgresEarlierMessages
from adapters.outbound.storage.knowledge.bases import PostgresBases
from adapters.outbound.storage.processes import PostgresSharedLimits
from adapters.outbound.storage.queue.conversations import PostgresRounds
from apps.containers.channels import Channels
from apps.containers.foundation import Foundation
from apps.containers.knowledge import whisper_folder
from apps.containers.storage import Files, Storage
from apps.settings import Settings
from domain.confirmations.service import ConfirmationService
from domain.conversations.forwarding import DestinationService, ForwardingService
from domain.conversations.sending import SendingService
from domain.delivery.rate_limits import RateLimiter
from domain.delivery.sending import LimitedDrafts, MessageSender
from domain.delivery.service import DeliveryService
from domain.routing.context import ContextService, VoiceService
from domain.routing.conversation import Withdrawals
from domain.routing.drafting import DraftService
from domain.routing.events import EventService
from domain.routing.indicators import LingeringTyping
from domain.routing.invocation import InvocationService
from domain.routing.prompts import ChoiceService, PromptFeedback
from domain.routing.runner import ResourceRunner
from domain.routing.service import ConversationService
from ports.channels import Channels as AllChannels
from ports.files import Transcriber
from ports.indexing import Parser
from ports.resources import Downstream


def build_transcriber(settings: Settings, files: Files, parser: Parser) -> Transcriber | None:
    """None where no speech is to be recognised in messages."""
    wanted = settings.voice_transcription
    has_engine = wanted == "built-in" or (wanted == "model" and bool(whisper_folder(settings)))
    return ParsedSpeech(parser, files.blobs) if has_engine else None


class Work:
    def __init__(
        self,
        foundation: Foundation,
        storage: Storage,
        channels: Channels,
        downstream: Downstream,
        transcriber: Transcriber | None,
        sending: SendingService,
        delivery_channels: AllChannels,
    ) -> None:
        clock, ids, meter = foundation.clock, foundation.ids, foundation.meter
        database, health = storage.database, storage.health
        self.approvals = ConfirmationService(PostgresConfirmations(database), clock, ids)
        self.shared_limits = PostgresSharedLimits(database, foundation.worker_id)
        self.rate_limiter = _rate_limiter(foundation, storage, channels, self.shared_limits)
        self.prompt_feedback = PromptFeedback(storage.outbox)
        self.typing = LingeringTyping()
        runner = ResourceRunner(downstream, foundation.steady_clock, meter)
        invocation = self._invocation(runner, transcriber, storage, channels, foundation.settings.agent_url)
        self.conversations = _conversations(foundation, storage, channels, invocation, sending, self.typing)
        self.deliveries = DeliveryService(
            storage.outbox,
            storage.instances,
            delivery_channels,
            health,
            self.rate_limiter,
            MessageSender(self.rate_limiter, health, foundation.steady_clock, meter, self.typing),
            ids,
            storage.opt_outs,
            foundation.traces.span,
        )

    def _invocation(
        self,
        runner: ResourceRunner,
        transcriber: Transcriber | None,
        storage: Storage,
        channels: Channels,
        agent_url: str,
    ) -> InvocationService:
        database = storage.database
        return InvocationService(
            runner,
            self.approvals,
            channels.files,
            DraftService(LimitedDrafts(self.rate_limiter), storage.conversations),
            self.prompt_feedback,
            VoiceService(transcriber),
            ContextService(PostgresEarlierMessages(database), channels.files, channels.reads),
            ChoiceService(PostgresOffers(database), agent_url),
        )


def _conversations(
    foundation: Foundation,
    storage: Storage,
    channels: Channels,
    invocation: InvocationService,
    sending: SendingService,
    typing: LingeringTyping,
) -> ConversationService:
    instances, health = storage.instances, storage.health
    events = EventService(
        invocation,
        storage.identities,
        PostgresRounds(storage.database),
        health,
        foundation.clock,
        foundation.meter,
        storage.unanswered,
        foundation.settings.verification_page,
    )
    destinations = DestinationService(instances, channels.registry, PostgresBases(storage.database))
    forwarding = ForwardingService(destinations, sending, health)
    withdrawals = Withdrawals()
    storage.event_bus.on_withdrawal(withdrawals.withdraw)
    return ConversationService(
        storage.conversations,
        instances,
        channels.registry,
        events,
        health,
        forwarding,
        withdrawals,
        typing,
        foundation.traces.span,
    )


def _rate_limiter(
    foundation: Foundation, storage: Storage, channels: Channels, shared_limits: PostgresSharedLimits
) -> RateLimiter:
    rate_limiter = RateLimiter(
        shared_limits,
        foundation.steady_clock,
        asyncio.sleep,
        storage.event_bus.limits_changed,
        foundation.meter,
        channels.slots,
        enforce_quotas=foundation.settings.platform_limits == "published",
    )
    storage.event_bus.on_change(rate_limiter.forget)
    return rate_limiter
