"""Tells resources what users and teams decided about their tools, and sends what they answer."""

import asyncio
import logging
from dataclasses import dataclass, field, replace

from domain.channels.answers import Answer
from domain.channels.messages import Event
from domain.confirmations.approvers import ApproverService
from domain.confirmations.model import unclear
from domain.confirmations.requests import ApprovalRequest, outcome_for_sender
from domain.conversations.history import HANDLER_MINUTES
from domain.conversations.results import ResultService
from domain.instances.model import ACTIVE, Activity, Instance
from domain.refusals import Refusal, Unavailable, reason_of
from domain.routing.conversation import PROCESSING_FAILED, ConversationContext, ProcessingFailed
from domain.routing.invocation import InvocationService
from domain.usage.budget_service import BudgetGuard
from ports.access import IdentityStore
from ports.approvals import ApprovalStore, LeasedApproval
from ports.channels import Channels
from ports.conversations import MessageStore
from ports.instances import HealthStore, InstanceStore
from ports.queue import Conversations, QueuedEvent, QueueKey
from ports.usage import UsageStore

log = logging.getLogger(__name__)

MOST_AT_ONCE = 20
"""Decisions of one process that are carried out at the same time."""
RENEWAL_SECONDS = 20.0
"""How often a process says that it still carries out a decision."""
MOST_TRIES = 30
"""How often an answer is stored again if the database is away, every two seconds or so."""


@dataclass(eq=False)
class ApprovedRunService:
    store: ApprovalStore
    approvers: ApproverService
    invocation: InvocationService
    instances: InstanceStore
    channels: Channels
    users: IdentityStore
    messages: MessageStore
    conversations: Conversations
    results: ResultService
    health: HealthStore
    usage: UsageStore
    budgets: BudgetGuard
    tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _stops: bool = field(default=False, init=False)

    async def work(self) -> None:
        """Rejects what nobody decided in time, and begins to carry out what was decided: a slow resource holds up
        no other. Raises `Unavailable`."""
        await self.approvers.expire()
        room = 0 if self._stops else MOST_AT_ONCE - len(self.tasks)
        for leased in await self.store.lease_decided(room) if room else ():
            task = asyncio.create_task(self._hold(leased))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def stop(self, seconds: float) -> None:
        """Begins with nothing more, and lets what is under way end within so many seconds."""
        self._stops = True
        _, hanging = await asyncio.wait(self.tasks, timeout=seconds) if self.tasks else ((), ())
        for task in hanging:
            task.cancel()

    async def _hold(self, leased: LeasedApproval) -> None:
        """Carries out a decision, and keeps its lease meanwhile."""
        run = asyncio.create_task(self._carry_out(leased))
        try:
            while not (await asyncio.wait({run}, timeout=RENEWAL_SECONDS))[0]:
                await self._renew(leased.request.id)
            run.result()
        except Unavailable as away:
            log.warning("a decided tool waits: %s", away.message)
        except Exception:
            log.exception("a decision could not be carried out", extra={"approval": leased.request.id})
        finally:
            run.cancel()

    async def _renew(self, approval_id: int) -> None:
        try:
            await self.store.renew(approval_id)
        except Unavailable as away:
            log.warning("a lease is not renewed: %s", away.message)

    async def _carry_out(self, leased: LeasedApproval) -> None:
        """Raises `Unavailable`."""
        request = leased.request
        instance = await self.instances.find(request.instance_id)
        event = await self.messages.event(request.instance_id, request.inbox_id)
        if instance is not None and instance.status == ACTIVE and event is not None:
            answer, context = await self._answer(leased, instance, event)
            await self._send(request, instance, answer, context)
        await self.store.finish(request.id)

    async def _answer(
        self, leased: LeasedApproval, instance: Instance, event: Event
    ) -> tuple[Answer, ConversationContext | None]:
        """The decision, and what the resource says to it; None where it is not asked."""
        request = leased.request
        if leased.begun and request.is_approved:  # its tool may have been used
            return Answer(unclear(request.tool)), None
        channel = self.channels.find(instance.channel_id)
        if channel is None:
            return Answer(""), None
        run_id = f"{request.request_id}-{request.id}"  # of its own, as resources know a repeated run by it
        event = replace(
            event,
            session_id=request.session_id,
            request_id=run_id,
            attachments=(),
            choice=None,
            reaction="",
            awaits_reply=False,
        )
        context = ConversationContext(instance, channel, has_open_approval=False)
        queued = QueuedEvent(request.inbox_id, event, 0, request.asked_at)
        answer, error = await self._asked(context, queued, request)
        runs = context.usage_meter.take()
        self.usage.keep(instance.id, runs)
        self.budgets.note(instance.id, runs)
        if error:
            log.warning("a decided tool was not carried out: %s", error, extra={"instance": instance.id})
            await self.health.failed(instance.id, Activity.PROCESSING, error)
        text = "\n\n".join(filter(None, (outcome_for_sender(request), answer.text)))
        return replace(answer, text=text), context

    async def _asked(
        self, context: ConversationContext, queued: QueuedEvent, request: ApprovalRequest
    ) -> tuple[Answer, str]:
        """The answer of the resource, or an apology and why. Raises `Unavailable`."""
        event, user_id = queued.event, None
        if context.channel.definition.identifies(context.instance.config):
            only_user = context.instance.only_user(event.sender.proof)
            user_id = await self.users.resolve(event.sender.identities, only_user)

        async def begin() -> None:
            await self.store.begin(request.id)

        try:
            return await self.invocation.after_approval(context, queued, user_id, request, begin), ""
        except ProcessingFailed as failed:
            return Answer(failed.user_message, provenance=failed.provenance), failed.reason
        except Unavailable:
            raise
        except Exception as unexpected:
            log.exception("a decided tool could not be carried out", extra={"instance": context.instance.id})
            return Answer(PROCESSING_FAILED), reason_of(unexpected)

    async def _note(self, context: ConversationContext, request: ApprovalRequest, answer: Answer) -> None:
        """What the answer does to the conversation."""
        hands_over = answer.wants_person and context.channel.sender is not None
        await self.conversations.note(
            QueueKey(request.instance_id, request.session_id),
            request.inbox_id,
            answer,
            context.form_update,
            HANDLER_MINUTES if hands_over else None,
        )

    async def _send(
        self,
        request: ApprovalRequest,
        instance: Instance,
        answer: Answer,
        context: ConversationContext | None,
    ) -> None:
        """Stores the answer, and tries for a while if the database is away: the resource is not asked twice. Raises
        `Unavailable`."""
        key = f"approval {request.id}"  # with a blank, as no caller's key has any
        for tries in range(MOST_TRIES, 0, -1):
            try:
                if context:
                    await self._note(context, request, answer)
                    context = None  # noted once
                await self.results.send(instance, request.session_id, answer, key)
                return
            except Unavailable as away:
                if tries == 1:
                    raise
                log.warning("the answer after an approval waits: %s", away.message)
                await asyncio.sleep(away.retry_after)
            except Exception as failure:  # it would fail again; the resource was told
                if not isinstance(failure, Refusal):
                    log.exception("an answer cannot be sent", extra={"instance": instance.id})
                reason = f"sending the answer after an approval: {reason_of(failure)}"
                await self.health.failed(instance.id, Activity.SENDING, reason)
                return
