"""Passes a message to its resource and makes the result an answer, or a question about a tool."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from domain.channels.answers import Answer, Artifact, Author
from domain.channels.provenance import Provenance
from domain.confirmations.model import NO_LONGER_OPEN, ApprovalScope, Decision, Prompt, unclear
from domain.confirmations.policy import SENDER
from domain.confirmations.questions import ApproverQuestions
from domain.confirmations.requests import ApprovalRequest, waits
from domain.confirmations.service import ConfirmationService
from domain.conversations.choices import offered
from domain.conversations.forms import FormUpdate
from domain.conversations.model import answer_to
from domain.feedback.model import vote_reference
from domain.files import MessageFilesService
from domain.refusals import Invalid
from domain.rendering import off_loop
from domain.routing.context import ContextService
from domain.routing.conversation import NO_RESOURCE, ConversationContext, ProcessingFailed, not_read
from domain.routing.decisions import Decided, DecisionService, received_text, scope_of
from domain.routing.drafting import DraftService
from domain.routing.forms import FormService
from domain.routing.model import REJECTED, Approval, RunRequest, RunResult, RunSender
from domain.routing.prompts import PromptFeedback
from domain.routing.resource import parse_resource
from domain.routing.routes import Chosen, Situation, choose
from domain.routing.running import RunService, after, listed
from ports.files import FetchedFiles, FilePlace
from ports.queue import QueuedEvent
from ports.system import Clock

MOST_TOLD = 10
"""Files over a limit that the sender is told of."""
OWN_QUESTION = "the answer to its question"
"""The route of what goes to the resource that asked."""


@dataclass(eq=False)
class InvocationService:
    """Invokes the resource of an instance. `callback_address` is what the platforms call, without a final slash."""

    runs: RunService
    decisions: DecisionService
    approvals: ConfirmationService
    approvers: ApproverQuestions
    files: MessageFilesService
    drafts: DraftService
    feedback: PromptFeedback
    contexts: ContextService
    forms: FormService
    wall_clock: Clock
    callback_address: str

    async def answer(
        self, context: ConversationContext, queued: QueuedEvent, user_id: str | None
    ) -> Answer | None:
        """The answer to a message, None where it gets none. Raises `ProcessingFailed`."""
        instance = context.instance
        if await self.decisions.is_vote(context, queued.event):
            return None
        if outcome := await self.decisions.approve(context, queued, user_id):
            return outcome
        if not instance.resource_ids:
            return Answer(NO_RESOURCE)
        decided = await self.decisions.decide(context, queued, user_id)
        if not isinstance(decided, Decided):
            return decided
        if prompt := decided.approval.prompt:
            return self._ask(context, decided.queued, prompt)
        return await self._answer(context, decided, user_id)

    async def _answer(self, context: ConversationContext, decided: Decided, user_id: str | None) -> Answer:
        instance = context.instance
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
        else:
            scope = scope_of(context, queued, user_id)
            with_decision = await self._with_decision(scope, request, decision)
            if isinstance(with_decision, Answer):
                return with_decision
            request = with_decision
        over = [(file.name, file.reason) for file in fetched.left_out if file.by_limit][:MOST_TOLD]
        notice = not_read(over) if over else ""
        answer = await self._invoke(context, decided, request, chosen.route, notice)
        context.answered = fetched.complete
        return replace(answer, text=f"{notice}\n\n{answer.text}".strip()) if notice else answer

    async def _with_decision(
        self, scope: ApprovalScope, request: RunRequest, decision: Decision
    ) -> RunRequest | Answer:
        """The request with what was decided about a tool, or the answer where the resource must not hear of it.

        Raises `BudgetUsedUp`.
        """
        if decision.resource not in ("", str(request.resource)):
            return Answer(NO_LONGER_OPEN)  # the instance is bound to other resources since
        # Before the approval is used up: the message can be run again once there is a larger budget.
        self.runs.check_budgets(request, request.resource)
        if not await self.approvals.begin(scope, decision):
            return Answer(unclear(decision.tool))
        return replace(
            request,
            text=decision.original,
            form=decision.form,
            approval=Approval(decision.confirmation_id, decision.tool, decision.decision),
            choice=False,
            context={},
        )

    async def _choose(self, context: ConversationContext, queued: QueuedEvent, user_id: str | None) -> Chosen:
        """The resource that an event goes to: the answer to a question to the one that asked, as long as the instance
        names it. Raises `ProcessingFailed` (no route fits, and the instance has no resource of its own)."""
        instance, event = context.instance, queued.event
        named = map(str, map(parse_resource, instance.resource_ids))
        if context.asked_by and context.asked_by in named:
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

    async def _invoke(
        self, context: ConversationContext, decided: Decided, request: RunRequest, route: str, notice: str
    ) -> Answer:
        """The answer, to which the caller adds the `notice`: it is shown before what the resource has made so far."""
        queued, approved = decided.queued, decided.approval.approved_tools
        async with self.drafts.begin(context, queued) as drafting:
            request = replace(request, progress=after(notice, drafting.update)) if drafting else request
            result, provenance = await self.runs.run(request, context.instance.fallback, route, approved)
        if provenance.failures:
            context.fell_back = f"answered by fallback {provenance.resource}: {listed(provenance.failures)}"
        return await self._result(context, queued, request, result, provenance)

    async def after_approval(
        self,
        context: ConversationContext,
        queued: QueuedEvent,
        user_id: str | None,
        approval: ApprovalRequest,
        begin: Callable[[], Awaitable[None]],
    ) -> Answer:
        """The answer of a resource to what others decided about its tool; `begin` is called before.
        `queued` is the message that led to the question. Raises `ProcessingFailed`."""
        instance = context.instance
        if approval.resource not in map(str, map(parse_resource, instance.resource_ids)):
            return Answer(NO_LONGER_OPEN)  # the instance is bound to other resources since
        request = _request(context, queued, user_id, Decided(queued), FetchedFiles(), approval.resource)
        decision = Approval(
            str(approval.id), approval.tool, approval.decision or REJECTED, approval.parameters
        )
        request = replace(
            request, text=approval.original, form=approval.form, approval=decision, choice=False, context={}
        )
        self.runs.check_budgets(request, request.resource)
        await begin()
        result, provenance = await self.runs.run(request, (), "", ())
        answer = await self._result(context, queued, request, result, provenance)
        return replace(answer, thumbs="")  # votes belong to the answers to messages

    async def _result(
        self,
        context: ConversationContext,
        queued: QueuedEvent,
        request: RunRequest,
        result: RunResult,
        provenance: Provenance,
    ) -> Answer:
        """The answer that a result comes to: files, a question about a tool, or what it says."""
        # With a decision the form comes once more: by then another one may be open.
        context.form_update = FormUpdate(None) if request.form and request.approval is None else None
        artifacts: tuple[Artifact, ...] = ()
        if result.artifacts:
            place = FilePlace(context.instance.id, queued.event.session_id, queued.id, inbound=False)
            artifacts = tuple(await self.files.publish(result.artifacts, place))
        confirmation = result.confirmation
        if confirmation is None:
            return self._answer_of(context, queued, result, artifacts, provenance)
        if confirmation.by != SENDER:
            await self.approvers.ask(queued, request, confirmation, provenance.resource)
            can_write = bool(context.channel.sender or context.channel.forwarding)
            text = "\n\n".join(filter(None, (result.text, waits(confirmation.tool, can_write))))
            return Answer(text, artifacts, author=Author.RESOURCE, provenance=provenance, usage=result.usage)
        scope = scope_of(context, queued, request.sender.user_id)
        prompt = await self.approvals.ask(
            scope,
            received_text(context, queued),
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
            # nobody hears anything, but for what is done to the conversation
            return Answer(
                "",
                author=Author.RESOURCE,
                wants_person=result.wants_person,
                silent=True,
                change=result.change,
                provenance=provenance,
            )
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


def _request(
    context: ConversationContext,
    queued: QueuedEvent,
    user_id: str | None,
    decided: Decided,
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
        choice=event.choice is not None,
        reaction=event.reaction,
        context=event.context,
        form=decided.form or {},
        owner=instance.user_id,
        approval_policy=instance.approval_policy,
        inbox_id=queued.id,
        usage_meter=context.usage_meter,
    )
