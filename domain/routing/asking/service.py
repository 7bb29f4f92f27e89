"""A message is put to its resource, and what comes back made into an answer, a question about a tool included."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from domain.channels.messages import Answer, Event
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.confirmations.choices import is_approval
from domain.confirmations.rules import unclear
from domain.instances.model import Instance
from domain.refusals import Invalid
from domain.routing.asking.model import ConversationContext, ProcessingFailed
from domain.routing.drafting.service import Drafting
from domain.routing.model import (
    APPROVED_FOR_SESSION,
    Approval,
    InputFile,
    Progress,
    Resource,
    RunRequest,
    RunResult,
    RunSender,
)
from domain.routing.resource import parse_resource
from domain.routing.typing_indicator.service import RepeatedTyping
from domain.routing.words import APOLOGY, NO_RESOURCE
from ports.capabilities import PromptCloser
from ports.clock import Clock, Ids
from ports.downstream import Downstream, DownstreamFailed
from ports.files import MessageFiles
from ports.identities import ApprovalResult, Approvals, ApprovalScope, Decision, OverPrompt, ReceivedText
from ports.metrics import Meter
from ports.storage import DraftStore, Prompts, QueuedEvent

log = logging.getLogger(__name__)

COURTESY_SECONDS = 5.0
"""What a platform gets for showing that a button was pressed."""

MAX_TOOLS = 8
"""How many tools that are approved for the session one message may use one after the other."""


class InvocationService:
    """Asks the resource of an instance."""

    def __init__(
        self,
        downstream: Downstream,
        approvals: Approvals,
        files: MessageFiles,
        clock: Clock,
        ids: Ids,
        meter: Meter,
        drafts: DraftStore,
        prompts: Prompts,
    ) -> None:
        self._downstream = downstream
        self._approvals = approvals
        self._files = files
        self._clock = clock
        self._ids = ids
        self._meter = meter
        self._drafts = drafts
        self._prompts = prompts
        self._courtesies: set[asyncio.Task[None]] = set()

    async def answer(
        self, context: ConversationContext, waiting: QueuedEvent, user_id: str | None
    ) -> Answer | None:
        """The answer to a message, None where it gets none. Raises `ProcessingFailed`."""
        event = waiting.event
        if context.instance.resource_id is None:
            return Answer(NO_RESOURCE)
        asker = ApprovalScope(context.instance.id, event.session_id, event.sender.external_id)
        said = _said(waiting)
        ruling = await self._ruling(context, event, asker, said)
        if ruling.prompt is not None:
            return Answer(ruling.prompt.text, (), ruling.prompt.choices, question=ruling.prompt.text)
        decision = ruling.decision
        if decision is None and event.only_decides:
            return None
        if decision is None and _presses_prompt(event):
            return self._in_vain(context, event, ruling)
        self._seen(context, event, ruling)
        if typing := context.channel.typing:
            context.typing = RepeatedTyping(typing, context.config, context.target(event))
        taken = await self._files.taken_in(context.instance, event)
        request = _request(context.instance, event, user_id, ruling, taken.files)
        if decision is not None and not await self._approvals.begin(asker, decision):
            return Answer(unclear(decision.tool))
        answer = await self._asked(context, event, asker, said, request)
        context.answered = taken.complete
        return answer

    async def passed_over(self, context: ConversationContext, waiting: QueuedEvent) -> None:
        """A message that gets its answer from the channel: like any other it clears the sender's question."""
        event = waiting.event
        if context.has_open_approval:
            asker = ApprovalScope(context.instance.id, event.session_id, event.sender.external_id)
            ruling = await self._approvals.decide(asker, _said(waiting))
            self._close(context, ruling.over)

    async def _ruling(
        self, context: ConversationContext, event: Event, asker: ApprovalScope, said: ReceivedText
    ) -> ApprovalResult:
        """A press may concern a question of another session, such as that of the person who was asked."""
        if context.has_open_approval or _presses_prompt(event):
            return await self._approvals.decide(asker, said)
        return ApprovalResult()

    async def _asked(
        self,
        context: ConversationContext,
        event: Event,
        asker: ApprovalScope,
        said: ReceivedText,
        request: RunRequest,
    ) -> Answer:
        result = await self._shown(context, event, said, request)
        artifacts = tuple(await self._files.given_out(result.artifacts))
        wanted = result.confirmation
        if wanted is None:
            return Answer(result.text, artifacts)
        prompt = await self._approvals.ask(asker, said, request.text, wanted.tool, wanted.parameters)
        context.has_open_approval = True
        self._close(context, prompt.replaced)
        text = f"{result.text}\n\n{prompt.text}" if result.text else prompt.text
        return Answer(text, artifacts, prompt.choices, question=prompt.text)

    async def _shown(
        self, context: ConversationContext, event: Event, said: ReceivedText, request: RunRequest
    ) -> RunResult:
        """The result, shown while it is being made where the channel can do that."""
        streaming = context.channel.streaming
        if streaming is None:
            return await self._settled(request)
        async with Drafting(streaming, self._drafts, context, event, said.event_id) as drafting:
            return await self._settled(replace(request, progress=drafting.told))

    async def _settled(self, request: RunRequest) -> RunResult:
        """Runs the resource, and again where it asks for a tool that is approved for the session."""
        result = await self._run(request)
        for turn in range(MAX_TOOLS + 1):
            wanted = result.confirmation
            if wanted is None or wanted.tool not in request.approved_tools:
                return result
            # Another request id, as resources recognise a repeated request by it; the same one after a crash.
            request_id = f"{request.request_id}-{turn + 2}"
            approval = Approval(request_id, wanted.tool, APPROVED_FOR_SESSION)
            progress = _after(result.text, request.progress)
            again = replace(request, request_id=request_id, approval=approval, progress=progress)
            before, result = result, await self._run(again)
            text = "\n\n".join(each for each in (before.text, result.text) if each)
            result = RunResult(text, before.artifacts + result.artifacts, result.confirmation)
        raise ProcessingFailed(
            APOLOGY, f"the downstream resource asked for approved tools over {MAX_TOOLS} times"
        )

    async def _run(self, request: RunRequest) -> RunResult:
        started = self._clock.now()
        outcome = "answered"
        try:
            return await self._downstream.run(request)
        except DownstreamFailed as failed:
            outcome = "failed"
            approval = request.approval
            lease_uncertain = approval is not None and approval.permits and failed.begun
            words = unclear(approval.tool) if approval and lease_uncertain else APOLOGY
            raise ProcessingFailed(words, f"the downstream resource failed: {failed}") from failed
        finally:
            seconds = (self._clock.now() - started).total_seconds()
            self._meter.downstream(request.resource.kind, outcome, seconds)

    def _in_vain(self, context: ConversationContext, event: Event, ruling: ApprovalResult) -> Answer | None:
        """A press that decides nothing: the prompt shows what it came to, or who pressed is told why. Where the
        channel can do neither, that is the answer."""
        if ruling.repeated is None:
            self._notice(context, event, ruling.notice)
        else:
            self._show(context, event, ruling.repeated)
        if context.channel.prompt_closer or context.channel.button_ack:
            return None
        return Answer(ruling.repeated.closed.outcome if ruling.repeated else ruling.notice)

    def _seen(self, context: ConversationContext, event: Event, ruling: ApprovalResult) -> None:
        """The platform shows that a button was pressed, and a prompt that is over loses its buttons."""
        if ruling.over is not None and _presses_prompt(event):
            self._show(context, event, ruling.over)
            return
        if event.choice is not None:
            self._notice(context, event)
        self._close(context, ruling.over)

    def _close(self, context: ConversationContext, over: OverPrompt | None) -> None:
        """A typed message names no prompt: the one that was asked is on record."""
        if over is not None and (closer := context.channel.prompt_closer):
            self._aside(partial(self._replace, closer, context, over, None))

    async def _replace(
        self,
        closer: PromptCloser[ChannelConfig, ChannelTarget],
        context: ConversationContext,
        over: OverPrompt,
        press: ChannelTarget | None,
    ) -> None:
        """Replaces the prompt on record, as a press may name any message. Without a record, as where the platform
        never told the prompt's id, it is the message of the press. `press` is None for a typed message."""
        config, load = context.config, context.channel.target.load
        asked = await self._prompts.asked(context.instance.id, over.asked_by)
        recorded = (
            closer.as_pressed(config, load(sent.target), sent.part, sent.ref, press) for sent in asked
        )
        if target := next(filter(None, recorded), press):
            await closer.decided(config, target, over.closed)

    def ended(self, context: ConversationContext, event: Event) -> None:
        """The work on an event is over, however it ended: no button goes on waiting for it."""
        if event.choice is not None and not context.noticed:
            self._notice(context, event)

    def _notice(self, context: ConversationContext, event: Event, words: str = "") -> None:
        context.noticed = True
        if ack := context.channel.button_ack:
            self._aside(partial(ack.noticed, context.config, context.target(event), words))

    def _show(self, context: ConversationContext, event: Event, over: OverPrompt) -> None:
        context.noticed = True
        if closer := context.channel.prompt_closer:
            self._aside(partial(self._replace, closer, context, over, context.target(event)))

    def _aside(self, courtesy: Callable[[], Awaitable[None]]) -> None:
        """Does beside the work what a slow platform must not hold it up with."""
        task = asyncio.create_task(_briefly(courtesy))
        self._courtesies.add(task)
        task.add_done_callback(self._courtesies.discard)


async def _briefly(courtesy: Callable[[], Awaitable[None]]) -> None:
    try:
        async with asyncio.timeout(COURTESY_SECONDS):
            await courtesy()
    except TimeoutError:
        log.warning("a platform was too slow to show what goes on")
    except Exception:
        log.exception("a platform could not be told what goes on")


def _request(
    instance: Instance, event: Event, user_id: str | None, ruling: ApprovalResult, files: Sequence[InputFile]
) -> RunRequest:
    decision = ruling.decision
    return RunRequest(
        resource=_resource(instance.resource_id or ""),
        request_id=event.request_id,
        instance_id=instance.id,
        channel_id=instance.channel_id,
        session_id=event.session_id,
        sender=RunSender(event.sender.external_id, event.sender.display_name, user_id),
        text=event.text if decision is None else decision.original,
        files=tuple(files),
        approval=_approval(decision),
        approved_tools=ruling.approved_tools,
        owner=instance.user_id,
    )


def _said(waiting: QueuedEvent) -> ReceivedText:
    event = waiting.event
    return ReceivedText(
        waiting.id, event.text, event.choice, event.sender.display_name or event.sender.external_id
    )


def _presses_prompt(event: Event) -> bool:
    return event.choice is not None and is_approval(event.choice)


def _after(text: str, progress: Progress | None) -> Progress | None:
    """Tells of what follows a text together with that text."""
    if progress is None or not text:
        return progress
    return lambda more: progress(f"{text}\n\n{more}")


def _approval(decision: Decision | None) -> Approval | None:
    return Approval(decision.confirmation_id, decision.tool, decision.decision) if decision else None


def _resource(text: str) -> Resource:
    try:
        return parse_resource(text)
    except Invalid as error:
        raise ProcessingFailed(NO_RESOURCE, error.message) from error
