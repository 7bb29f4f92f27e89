"""Passes a message to its resource and makes the result an answer, or a question about a tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from domain.channels.answers import Answer, Artifact, Author
from domain.channels.messages import Event
from domain.channels.provenance import FailedResource, Provenance
from domain.channels.rich import joined_content
from domain.confirmations.model import ApprovalResult, ApprovalScope, Prompt, ReceivedText, unclear
from domain.confirmations.service import ConfirmationService
from domain.conversations.choices import GONE, is_reference, offered
from domain.conversations.forms import FormUpdate
from domain.conversations.model import answer_to
from domain.feedback.model import GONE as VOTE_GONE
from domain.feedback.model import THANKS, Voter, is_thumb, rating_of, read_press, vote_reference
from domain.files import MessageFilesService
from domain.refusals import Invalid
from domain.rendering import off_loop
from domain.routing.context import ContextService
from domain.routing.conversation import (
    APOLOGY,
    NO_RESOURCE,
    ConversationContext,
    ProcessingFailed,
    ResourceFailed,
    not_read,
)
from domain.routing.drafting import DraftService
from domain.routing.forms import FormService
from domain.routing.model import (
    APPROVED_FOR_SESSION,
    Approval,
    Progress,
    RunRequest,
    RunResult,
    RunSender,
    summed,
)
from domain.routing.prompts import ChoiceService, PromptFeedback, presses_prompt
from domain.routing.resource import parse_resource
from domain.routing.routes import Chosen, Situation, choose
from ports.conversations import FeedbackStore
from ports.files import FetchedFiles, FilePlace
from ports.queue import QueuedEvent
from ports.resources import Downstream, DownstreamFailed
from ports.system import Clock, Meter

MOST_TOLD = 10
"""Files over a limit that the sender is told of."""
FALLBACK_SECONDS = 300.0
"""So long after the first resource was asked no further one is asked."""
OWN_QUESTION = "the answer to its question"
"""The route of what goes to the resource that asked."""
MAX_TOOLS = 8
"""How many tools that are approved for the session one message may use one after the other."""


@dataclass(eq=False)
class InvocationService:
    """Invokes the resource of an instance. `callback_address` is what the platforms call, without a final slash."""

    downstream: Downstream
    approvals: ConfirmationService
    files: MessageFilesService
    drafts: DraftService
    feedback: PromptFeedback
    contexts: ContextService
    choices: ChoiceService
    votes: FeedbackStore
    forms: FormService
    clock: Clock
    wall_clock: Clock
    meter: Meter
    callback_address: str

    async def answer(
        self, context: ConversationContext, queued: QueuedEvent, user_id: str | None
    ) -> Answer | None:
        """The answer to a message, None where it gets none. Raises `ProcessingFailed`."""
        return (
            None if await self._votes(context, queued.event) else await self._answer(context, queued, user_id)
        )

    async def _answer(
        self, context: ConversationContext, queued: QueuedEvent, user_id: str | None
    ) -> Answer | None:
        event, instance = queued.event, context.instance
        if not instance.resource_ids:
            return Answer(NO_RESOURCE)
        decided = _Decided(queued)
        if _may_decide(context, event):
            outcome = await self._decide(context, queued, user_id)
            if not isinstance(outcome, _Decided):
                return outcome
            decided = outcome
        queued, approval_result, event = decided.queued, decided.approval, decided.queued.event
        context.start_typing(event)
        fetched = FetchedFiles()
        if event.attachments:
            place = FilePlace(instance.id, event.session_id, queued.id, inbound=True)
            fetched = await self.files.fetch(instance, event, place)
        chosen = await self._choose(context, queued, user_id)
        request = _request(context, queued, user_id, decided, fetched, chosen.resource_id)
        if (decision := approval_result.decision) is None:
            request = await self.contexts.completed(context, queued, request, fetched)
        elif await self.approvals.begin(_scope(context, queued, user_id), decision):
            approval = Approval(decision.confirmation_id, decision.tool, decision.decision)
            request = replace(
                request,
                text=decision.original,
                form=decision.form,
                approval=approval,
                choice=False,
                context={},
            )
        else:
            return Answer(unclear(decision.tool))
        over = [(file.name, file.reason) for file in fetched.left_out if file.by_limit][:MOST_TOLD]
        notice = not_read(over) if over else ""
        answer = await self._invoke(context, queued, request, chosen.route, notice)
        context.answered = fetched.complete
        return replace(answer, text=f"{notice}\n\n{answer.text}".strip()) if notice else answer

    async def _votes(self, context: ConversationContext, event: Event) -> bool:
        """Return True if the event is a vote on an answer, and nothing beside."""
        instance = context.instance
        voter = Voter(event.sender.external_id, event.sender.display_name)
        if event.choice is not None and is_thumb(event.choice):
            press = read_press(event.choice)
            is_known = press is not None and await self.votes.vote(instance.id, press, voter)
            self.feedback.acknowledge(context, event, THANKS if is_known else VOTE_GONE)
            return True
        if not event.reaction:
            return False
        if instance.feedback and event.reacted_ref and (rating := rating_of(event.reaction)):
            await self.votes.vote_on(instance.id, event.reacted_ref, rating, voter)
        return not context.channel.definition.hands_on_reactions(instance.config)

    async def _decide(
        self, context: ConversationContext, queued: QueuedEvent, user_id: str | None
    ) -> "_Decided | Answer | None":
        """The event with the choice that the sender picked or the form that is filled in, and what it decides about a
        tool; or the answer to an event that is not handed on. None: it gets no answer."""
        taken = await self._taken(context, queued)
        if not isinstance(taken, _Decided):
            return taken
        picked, event, approval_result = taken.queued, taken.queued.event, ApprovalResult()
        # A press may concern a question of another session, such as that of the person who was asked.
        if context.has_open_approval or presses_prompt(event):
            approval_result = await self.approvals.decide(_scope(context, picked, user_id), _received(picked))
        if prompt := approval_result.prompt:
            return self._ask(context, picked, prompt)
        if approval_result.decision is None and presses_prompt(event):
            return self.feedback.decided_nothing(context, event, approval_result)
        if approval_result.decision is None and event.only_decides and event.choice is None:
            return None
        self.feedback.decided(context, event, approval_result.closed)
        if approval_result.decision is not None:
            context.asked_by = approval_result.decision.resource
        return replace(taken, approval=approval_result)

    async def _taken(self, context: ConversationContext, queued: QueuedEvent) -> "_Decided | Answer | None":
        """The event with the form that it fills in or the choice that it picks, else as in `_decide`."""
        step = await self.forms.step(context, queued)
        if step is None:
            picked = await self._pick(context, queued)
            return _Decided(picked) if isinstance(picked, QueuedEvent) else picked
        if step.event is None:
            return step.answer
        return _Decided(replace(queued, event=step.event), form=step.submission)

    async def _pick(self, context: ConversationContext, queued: QueuedEvent) -> QueuedEvent | Answer | None:
        """The event, with the value of the choice that the sender picked; or the answer to a press that is not handed
        on, as its choice is not known or was picked before. None: it gets no answer."""
        event = queued.event
        pressed = event.choice or ""
        is_press = is_reference(pressed)
        if is_press:
            picked = await self.choices.pressed(context.instance, pressed)
        elif event.claims_choice and not presses_prompt(event):
            picked = await self.choices.claimed(context.instance, event)
            event = replace(event, choice=event.choice if picked else None)
        else:
            picked = await self.choices.typed(context, event)
        if picked is None:
            gone = ApprovalResult(notice=GONE)
            if is_press:
                return self.feedback.decided_nothing(context, event, gone)
            return replace(queued, event=event)
        if await self.choices.is_repeated(context.instance, queued, picked):
            return self.feedback.chosen_before(context, event, picked)
        if is_press:
            self.feedback.chosen(context, event, picked)
        context.asked_by = picked.offer.resource
        return replace(queued, event=picked.event(event))

    async def _choose(self, context: ConversationContext, queued: QueuedEvent, user_id: str | None) -> Chosen:
        """The resource that an event goes to: the answer to a question to the one that asked, as long as the instance
        names it. Raises `ProcessingFailed` (no route fits, and the instance has no resource of its own)."""
        instance, event = context.instance, queued.event
        if context.asked_by and context.asked_by in map(_canonical, instance.resource_ids):
            return Chosen(context.asked_by, OWN_QUESTION if instance.routes else "")
        chosen = None
        if instance.routes:
            situation = Situation(
                instance.id,
                event.session_id,
                self.wall_clock.now(),
                event.text,
                event.context,
                not event.is_direct,
                user_id is not None,
                context.labels,
            )
            chosen = await off_loop(len(event.text), choose, instance.routes, situation)
        if chosen is None and instance.resource_id is None:
            raise ProcessingFailed(NO_RESOURCE, "no route fits, and the instance has no resource of its own")
        return chosen or Chosen(instance.resource_id or "")

    async def skip(self, context: ConversationContext, queued: QueuedEvent, user_id: str | None) -> None:
        """A message that the channel answers itself clears the sender's question, like any other."""
        if context.has_open_approval:
            scope = _scope(context, queued, user_id)
            approval_result = await self.approvals.decide(scope, _received(queued))
            self.feedback.close(context, approval_result.closed)

    async def _invoke(
        self, context: ConversationContext, queued: QueuedEvent, request: RunRequest, route: str, notice: str
    ) -> Answer:
        """The answer, to which the caller adds the `notice`: it is shown before what the resource has made so far."""
        async with self.drafts.begin(context, queued) as drafting:
            request = replace(request, progress=_after(notice, drafting.update)) if drafting else request
            result, provenance = await self._run_in_turn(request, context.instance.fallback, route)
        if provenance.failures:
            context.fell_back = _fell_back(provenance)
        # With a decision the form comes once more: by then another one may be open.
        context.form_update = FormUpdate(None) if request.form and request.approval is None else None
        artifacts: tuple[Artifact, ...] = ()
        if result.artifacts:
            place = FilePlace(context.instance.id, queued.event.session_id, queued.id, inbound=False)
            artifacts = tuple(await self.files.publish(result.artifacts, place))
        confirmation = result.confirmation
        if confirmation is None:
            return self._answer_of(context, queued, result, artifacts, provenance)
        scope = _scope(context, queued, request.sender.user_id)
        prompt = await self.approvals.ask(
            scope,
            _received(queued),
            request.text,
            confirmation.tool,
            confirmation.parameters,
            provenance.resource,
            request.form,
        )
        context.has_open_approval = True
        self.feedback.close(context, prompt.replaced)
        question = self._ask(context, queued, prompt, result.text, artifacts)
        return replace(question, provenance=provenance, usage=result.usage)

    def _answer_of(
        self,
        context: ConversationContext,
        queued: QueuedEvent,
        result: RunResult,
        artifacts: tuple[Artifact, ...],
        provenance: Provenance,
    ) -> Answer:
        """The answer of a resource that asks for no tool."""
        if result.silent:
            return replace(_silent(result), provenance=provenance)
        answer = Answer(
            result.text,
            artifacts,
            result.choices,
            author=Author.RESOURCE,
            wants_person=result.wants_person,
            rich=result.rich,
            change=result.change,
            provenance=provenance,
            usage=result.usage,
        )
        answer = self.forms.begin(context, queued, answer)
        if context.instance.feedback and not answer.question:
            reference = vote_reference(answer_to(queued.id), queued.event.request_id)
            answer = replace(answer, thumbs=reference)
        return self._offer(context, queued, answer) if answer.choices or answer.thumbs else answer

    async def _run_in_turn(
        self, request: RunRequest, fallback: Sequence[str], route: str
    ) -> tuple[RunResult, Provenance]:
        """Runs the resource, and those of the fallback in turn as long as each one fails. All get the same request
        id, as each of them sees the request once. Raises `ProcessingFailed`."""
        started = self.clock.now()
        failures: list[FailedResource] = []
        for resource in dict.fromkeys([request.resource, *map(parse_resource, fallback)]):
            try:
                result = await self._run(replace(request, resource=resource))
                return result, Provenance(str(resource), route, tuple(failures), result.citations)
            except ResourceFailed as failed:
                failures.append(FailedResource(str(resource), failed.detail))
                error: ProcessingFailed = failed
                if failed.is_final or (self.clock.now() - started).total_seconds() > FALLBACK_SECONDS:
                    break
        if len(failures) > 1:
            error = ProcessingFailed(error.user_message, f"all resources failed: {_listed(failures)}")
        error.provenance = Provenance("", route, tuple(failures))
        raise error

    async def _run(self, request: RunRequest) -> RunResult:
        """Runs the resource, and again while it asks for tools that are approved for the session.

        Raises `ProcessingFailed`.
        """
        result = await self._run_once(request)
        for attempt in range(2, MAX_TOOLS + 3):
            confirmation = result.confirmation
            if confirmation is None or confirmation.tool not in request.approved_tools:
                return result
            # Another request id, as resources recognise a repeated request by it; the same one after a crash.
            request_id = f"{request.request_id}-{attempt}"
            approval = Approval(request_id, confirmation.tool, APPROVED_FOR_SESSION)
            progress = _after(result.text, request.progress)
            again = replace(request, request_id=request_id, approval=approval, progress=progress)
            before, result = result, await self._run_once(again)
            text = "\n\n".join(text for text in (before.text, result.text) if text)
            wants_person = before.wants_person or result.wants_person
            artifacts = before.artifacts + result.artifacts
            rich, usage = joined_content(before.rich, result.rich), summed(before.usage, result.usage)
            result = replace(
                result, text=text, artifacts=artifacts, wants_person=wants_person, rich=rich, usage=usage
            )
        raise ProcessingFailed(
            APOLOGY, f"the downstream resource asked for approved tools over {MAX_TOOLS} times"
        )

    async def _run_once(self, request: RunRequest) -> RunResult:
        started = self.clock.now()
        outcome = "answered"
        try:
            return await self.downstream.run(request)
        except DownstreamFailed as failed:
            outcome, approval = "failed", request.approval
            tool_may_have_run = approval is not None and approval.permits and failed.begun
            user_message = unclear(approval.tool) if approval and tool_may_have_run else APOLOGY
            raise ResourceFailed(user_message, str(failed), is_final=approval is not None) from failed
        finally:
            seconds = (self.clock.now() - started).total_seconds()
            self.meter.downstream(request.resource.kind, outcome, seconds)

    def _ask(
        self,
        context: ConversationContext,
        queued: QueuedEvent,
        prompt: Prompt,
        before: str = "",
        artifacts: tuple[Artifact, ...] = (),
    ) -> Answer:
        """The question about a tool, after what the resource said `before` it."""
        text = f"{before}\n\n{prompt.text}" if before else prompt.text
        return self._offer(context, queued, Answer(text, artifacts, prompt.choices, question=prompt.text))

    def _offer(self, context: ConversationContext, queued: QueuedEvent, answer: Answer) -> Answer:
        """The answer with what the buttons of its choices need. No sender knows the request id."""
        url = self.callback_address + context.instance.webhook_path
        return offered(answer, answer_to(queued.id), queued.event.request_id, url)


@dataclass(frozen=True, slots=True)
class _Decided:
    """An event as it is handed on, what it decides about a tool, and the form that it fills in."""

    queued: QueuedEvent
    approval: ApprovalResult = field(default_factory=ApprovalResult)
    form: Mapping[str, object] | None = None


def _may_decide(context: ConversationContext, event: Event) -> bool:
    """Return True if the event may answer something that the sender was asked."""
    is_open = context.has_open_approval or context.offered or context.form
    return bool(event.choice is not None or event.only_decides or is_open)


def _silent(result: RunResult) -> Answer:
    """The answer of a resource that sends none: nobody hears anything, but for what is done to the conversation."""
    return Answer(
        "", author=Author.RESOURCE, wants_person=result.wants_person, silent=True, change=result.change
    )


def _scope(context: ConversationContext, queued: QueuedEvent, user_id: str | None) -> ApprovalScope:
    event = queued.event
    return ApprovalScope(context.instance.id, event.session_id, event.sender.external_id, user_id)


def _received(queued: QueuedEvent) -> ReceivedText:
    event, sender = queued.event, queued.event.sender
    return ReceivedText(queued.id, event.text, event.choice, sender.display_name or sender.external_id)


def _request(
    context: ConversationContext,
    queued: QueuedEvent,
    user_id: str | None,
    decided: _Decided,
    fetched: FetchedFiles,
    resource_id: str,
) -> RunRequest:
    event, sender, instance = queued.event, queued.event.sender, context.instance
    try:
        resource = parse_resource(resource_id)
    except Invalid as error:
        raise ProcessingFailed(NO_RESOURCE, error.message) from error
    return RunRequest(
        resource=resource,
        request_id=event.request_id,
        instance_id=instance.id,
        channel_id=instance.channel_id,
        session_id=event.session_id,
        sender=RunSender(sender.external_id, sender.display_name, user_id, sender.verified_by),
        text=event.text,
        files=tuple(fetched.files),
        approved_tools=decided.approval.approved_tools,
        choice=event.choice is not None,
        reaction=event.reaction,
        context=event.context,
        form=decided.form or {},
        owner=instance.user_id,
        inbox_id=queued.id,
    )


def _canonical(resource_id: str) -> str:
    return str(parse_resource(resource_id))


def _listed(failures: Sequence[FailedResource]) -> str:
    return "; ".join(f"{failed.resource}: {failed.reason}" for failed in failures)


def _fell_back(provenance: Provenance) -> str:
    return f"answered by fallback {provenance.resource}: {_listed(provenance.failures)}"


def _after(text: str, progress: Progress | None) -> Progress | None:
    """Reports a text together with what follows it."""
    if progress is None or not text:
        return progress
    return lambda more: progress(lambda: f"{text}\n\n{more()}")
