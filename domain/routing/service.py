"""A conversation is worked off: who is writing, may they, what is asked of the resource, what goes back."""

from __future__ import annotations

import logging

from domain.channels.messages import Answer, CallOutcome, Event, Part
from domain.confirmations.choices import is_approval
from domain.instances.model import Instance
from domain.refusals import Invalid, Unavailable
from domain.routing.model import Approval, RunRequest, RunResult, RunSender
from domain.routing.resource import parse_resource
from domain.routing.words import APOLOGY, GAVE_UP, NO_RESOURCE, TOO_MANY_CRASHES, not_served
from ports.channels import Channel, Channels, Decides, Replies, Types
from ports.clock import Clock
from ports.downstream import Downstream, DownstreamFailed
from ports.files import MessageFiles
from ports.metrics import Meter
from ports.people import Approvals, Asker, Decision, People
from ports.storage import (
    CallResult,
    Conversation,
    Conversations,
    HealthStore,
    InstanceStore,
    Processed,
    Waiting,
)

log = logging.getLogger(__name__)

MAX_CRASHES = 3
"""After so many workers died over an event it is given up."""


class ConversationService:
    """Works off leased conversations, event by event, in order."""

    def __init__(
        self,
        conversations: Conversations,
        instances: InstanceStore,
        channels: Channels,
        downstream: Downstream,
        people: People,
        approvals: Approvals,
        files: MessageFiles,
        health: HealthStore,
        clock: Clock,
        meter: Meter,
        verification_address: str,
    ) -> None:
        self._conversations = conversations
        self._instances = instances
        self._channels = channels
        self._downstream = downstream
        self._people = people
        self._approvals = approvals
        self._files = files
        self._health = health
        self._clock = clock
        self._meter = meter
        self._verification_address = verification_address

    async def work(self, conversation: Conversation) -> None:
        """Works off the events of one lease. An outage of the database leaves them for later."""
        instance = await self._instances.cached(conversation.lane.instance_id)
        channel = self._channels.find(instance.channel_id) if instance else None
        for position, waiting in enumerate(conversation.waiting, start=1):
            last = position == len(conversation.waiting)
            if instance is None or channel is None:
                processed = Processed(
                    conversation.lane, waiting.id, {}, error="the instance is gone", last=last
                )
            elif waiting.event.unreadable:
                reason = waiting.event.unreadable
                await self._health.failed(instance.id, reason)
                processed = Processed(conversation.lane, waiting.id, {}, error=reason, last=last)
            else:
                processed = await self._processed(conversation, waiting, instance, channel, last)
            await self._conversations.record(processed)

    async def _processed(
        self, conversation: Conversation, waiting: Waiting, instance: Instance, channel: Channel, last: bool
    ) -> Processed:
        event, error = waiting.event, None
        started = self._clock.now()
        try:
            answer = await self._answer(waiting, instance, channel)
        except _GaveUp as gave_up:
            answer, error = Answer(gave_up.words), gave_up.reason
        except Unavailable:
            raise
        except Exception as unexpected:
            log.exception("an event could not be worked on", extra={"instance": instance.id})
            answer, error = Answer(GAVE_UP), f"internal error: {type(unexpected).__name__}"
        if error:
            await self._health.failed(instance.id, error)
        outcome = "failed" if error else "answered" if answer else "silent"
        waited = (started - waiting.received_at).total_seconds()
        self._meter.processed(instance.channel_id, outcome, max(0.0, waited))
        return self._outcome(conversation, waiting, event, instance, channel, answer, error, last)

    def _outcome(
        self,
        conversation: Conversation,
        waiting: Waiting,
        event: Event,
        instance: Instance,
        channel: Channel,
        answer: Answer | None,
        error: str | None,
        last: bool,
    ) -> Processed:
        parts: tuple[Part, ...] = ()
        if answer is not None:
            answer = _addressed(answer, event)
            if isinstance(channel, Replies):
                parts = tuple(channel.render(instance.config, event.target, answer))
        result = None
        if event.awaits_reply:
            result = CallResult(CallOutcome.FAILED if error else CallOutcome.ANSWERED, answer)
        return Processed(conversation.lane, waiting.id, event.target, parts, error, result, last)

    async def _answer(self, waiting: Waiting, instance: Instance, channel: Channel) -> Answer | None:
        event = waiting.event
        if waiting.attempts >= MAX_CRASHES:
            raise _GaveUp(GAVE_UP, TOO_MANY_CRASHES)
        if event.canned_reply is not None:
            return Answer(event.canned_reply)
        user_id = await self._user(instance, event)
        if instance.config.get("accessMode") == "allowlist" and user_id is None:
            return await self._notice(instance, event)
        asker = Asker(instance.id, event.session_id, event.sender.external_id)
        decision = await self._approvals.decide(asker, event.text, event.choice)
        if decision and event.choice and isinstance(channel, Decides):
            await channel.decided(instance.config, event.target, decision.decision)
        if decision is None and event.choice is not None and is_approval(event.choice):
            return None
        return await self._ask(instance, channel, event, user_id, asker, decision)

    async def _user(self, instance: Instance, event: Event) -> str | None:
        wanted = (
            instance.config.get("identifyUsers") is True or instance.config.get("accessMode") == "allowlist"
        )
        return await self._people.resolve(event.sender.identities) if wanted else None

    async def _notice(self, instance: Instance, event: Event) -> Answer | None:
        if await self._people.may_notice(instance.id, event.sender.external_id):
            return Answer(not_served(self._verification_address))
        return None

    async def _ask(
        self,
        instance: Instance,
        channel: Channel,
        event: Event,
        user_id: str | None,
        asker: Asker,
        decision: Decision | None,
    ) -> Answer:
        if instance.resource_id is None:
            return Answer(NO_RESOURCE)
        if isinstance(channel, Types):
            await channel.typing(instance.config, event.target)
        request = RunRequest(
            resource=_resource(instance.resource_id),
            request_id=event.request_id,
            instance_id=instance.id,
            channel_id=instance.channel_id,
            session_id=event.session_id,
            sender=RunSender(event.sender.external_id, event.sender.display_name, user_id),
            text=event.text,
            files=tuple(await self._files.taken_in(instance, event)),
            approval=_approval(decision),
            approved_tools=tuple(await self._approvals.approved_tools(asker)),
            owner=instance.user_id,
        )
        return await self._rendered(asker, await self._run(request))

    async def _run(self, request: RunRequest) -> RunResult:
        started = self._clock.now()
        outcome = "answered"
        try:
            return await self._downstream.run(request)
        except DownstreamFailed as failed:
            outcome = "failed"
            raise _GaveUp(APOLOGY, f"the downstream resource failed: {failed}") from failed
        finally:
            seconds = (self._clock.now() - started).total_seconds()
            self._meter.downstream(request.resource.kind, outcome, seconds)

    async def _rendered(self, asker: Asker, result: RunResult) -> Answer:
        artifacts = tuple(await self._files.given_out(result.artifacts))
        if result.confirmation is None:
            return Answer(result.text, artifacts)
        prompt = await self._approvals.ask(asker, result.confirmation.tool, result.confirmation.parameters)
        text = f"{result.text}\n\n{prompt.text}" if result.text else prompt.text
        return Answer(text, artifacts, prompt.choices)


class _GaveUp(Exception):
    """An event that ends in an apology: `words` for the sender, `reason` for the record."""

    def __init__(self, words: str, reason: str) -> None:
        super().__init__(reason)
        self.words = words
        self.reason = reason


def _addressed(answer: Answer, event: Event) -> Answer:
    return Answer(answer.text, answer.artifacts, answer.choices, event.request_id, event.session_id)


def _approval(decision: Decision | None) -> Approval | None:
    return Approval(decision.confirmation_id, decision.tool, decision.decision) if decision else None


def _resource(text: str):  # type: ignore[no-untyped-def]
    try:
        return parse_resource(text)
    except Invalid as error:
        raise _GaveUp(NO_RESOURCE, error.message) from error
