"""Passes a message to its resource and makes the result an answer, or a question about a tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from domain.channels.answers import Answer, Artifact, Author
from domain.channels.context import merged
from domain.channels.messages import Event
from domain.confirmations.model import ApprovalResult, ApprovalScope, Prompt, ReceivedText, unclear
from domain.confirmations.service import ConfirmationService
from domain.conversations.choices import GONE, is_reference
from domain.conversations.model import answer_to
from domain.files import MessageFilesService
from domain.instances.model import Instance
from domain.refusals import Invalid
from domain.routing.context import ContextService, VoiceService
from domain.routing.conversation import NO_RESOURCE, ConversationContext, ProcessingFailed, not_read, place_of
from domain.routing.drafting import DraftService
from domain.routing.model import Approval, RunRequest, RunSender
from domain.routing.prompts import ChoiceService, PromptFeedback, presses_prompt
from domain.routing.resource import parse_resource
from domain.routing.runner import ResourceRunner
from ports.files import FetchedFiles, LeftOut
from ports.queue import QueuedEvent

MOST_TOLD = 10
"""Files over a limit that the sender is told of."""


@dataclass(eq=False)
class InvocationService:
    """Invokes the resource of an instance."""

    runner: ResourceRunner
    approvals: ConfirmationService
    files: MessageFilesService
    drafts: DraftService
    feedback: PromptFeedback
    voice: VoiceService
    contexts: ContextService
    choices: ChoiceService

    async def answer(
        self, context: ConversationContext, queued: QueuedEvent, user_id: str | None
    ) -> Answer | None:
        """The answer to a message, None where it gets none. Raises `ProcessingFailed`."""
        if context.instance.resource_id is None:
            return Answer(NO_RESOURCE)
        picked = await self._pick(context, queued)
        if not isinstance(picked, QueuedEvent):
            return picked
        queued, event = picked, picked.event
        approval_result = await self._decide(context, queued, user_id)
        if prompt := approval_result.prompt:
            return self._ask(context, queued, prompt)
        decision = approval_result.decision
        if decision is None and event.only_decides and event.choice is None:
            return None
        if decision is None and presses_prompt(event):
            return self.feedback.decided_nothing(context, event, approval_result)
        self.feedback.decided(context, event, approval_result.closed)
        context.start_typing(event)
        fetched = await self.files.fetch(context.instance, event, place_of(context, queued, inbound=True))
        request = _request(context.instance, queued, user_id, approval_result, fetched)
        if decision is None:
            request = await self._in_context(context, queued, request, fetched)
        elif not await self.approvals.begin(_scope(context, event, user_id), decision):
            return Answer(unclear(decision.tool))
        answer = await self._invoke(context, queued, request)
        context.answered = fetched.complete
        return _with_left_out(answer, fetched)

    async def _in_context(
        self, context: ConversationContext, queued: QueuedEvent, request: RunRequest, fetched: FetchedFiles
    ) -> RunRequest:
        """The request with what was said before it, and with the words of recordings."""
        text = await self.voice.text(context, queued.event.text, fetched.recordings)
        quoted = await self.contexts.quoted(context, queued)
        thread = await self.contexts.thread(context, queued)
        if text == request.text and quoted is None and not thread:
            return request
        return replace(request, text=text, quoted=quoted, thread=thread)

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
        return replace(queued, event=picked.event(event))

    async def skip(self, context: ConversationContext, queued: QueuedEvent, user_id: str | None) -> None:
        """A message that the channel answers itself clears the sender's question, like any other."""
        if context.has_open_approval:
            scope = _scope(context, queued.event, user_id)
            approval_result = await self.approvals.decide(scope, _received(queued))
            self.feedback.close(context, approval_result.closed)

    async def _decide(
        self, context: ConversationContext, queued: QueuedEvent, user_id: str | None
    ) -> ApprovalResult:
        """A press may concern a question of another session, such as that of the person who was asked."""
        if context.has_open_approval or presses_prompt(queued.event):
            return await self.approvals.decide(_scope(context, queued.event, user_id), _received(queued))
        return ApprovalResult()

    async def _invoke(self, context: ConversationContext, queued: QueuedEvent, request: RunRequest) -> Answer:
        drafting = self.drafts.begin(context, queued)
        if drafting is None:
            result = await self.runner.run(request)
        else:
            async with drafting:
                result = await self.runner.run(replace(request, progress=drafting.update))
        artifacts = tuple(await self.files.publish(result.artifacts, place_of(context, queued)))
        confirmation = result.confirmation
        if confirmation is None:
            answer = Answer(
                result.text,
                artifacts,
                result.choices,
                author=Author.RESOURCE,
                wants_person=result.wants_person,
            )
            return self._offer(context, queued, answer)
        scope = _scope(context, queued.event, request.sender.user_id)
        prompt = await self.approvals.ask(
            scope, _received(queued), request.text, confirmation.tool, confirmation.parameters
        )
        context.has_open_approval = True
        self.feedback.close(context, prompt.replaced)
        return self._ask(context, queued, prompt, result.text, artifacts)

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
        """The answer with what the buttons of its choices need."""
        message, secret = answer_to(queued.id), queued.event.request_id
        return self.choices.offer(context.instance, answer, message, secret)


def _scope(context: ConversationContext, event: Event, user_id: str | None) -> ApprovalScope:
    return ApprovalScope(context.instance.id, event.session_id, event.sender.external_id, user_id)


def _received(queued: QueuedEvent) -> ReceivedText:
    event, sender = queued.event, queued.event.sender
    return ReceivedText(queued.id, event.text, event.choice, sender.display_name or sender.external_id)


def _request(
    instance: Instance,
    queued: QueuedEvent,
    user_id: str | None,
    approval_result: ApprovalResult,
    fetched: FetchedFiles,
) -> RunRequest:
    event, decision = queued.event, approval_result.decision
    sender = event.sender
    try:
        resource = parse_resource(instance.resource_id or "")
    except Invalid as error:
        raise ProcessingFailed(NO_RESOURCE, error.message) from error
    return RunRequest(
        resource=resource,
        request_id=event.request_id,
        instance_id=instance.id,
        channel_id=instance.channel_id,
        session_id=event.session_id,
        sender=RunSender(sender.external_id, sender.display_name, user_id, sender.verified_by),
        text=event.text if decision is None else decision.original,
        files=tuple(fetched.files),
        approval=Approval(decision.confirmation_id, decision.tool, decision.decision) if decision else None,
        approved_tools=approval_result.approved_tools,
        choice=decision is None and event.choice is not None,
        reaction=event.reaction,
        context=_context(event, fetched.left_out) if decision is None else {},
        owner=instance.user_id,
        inbox_id=queued.id,
    )


def _with_left_out(answer: Answer, fetched: FetchedFiles) -> Answer:
    """The answer, below a notice that names the files over a limit."""
    over = [(file.name, file.reason) for file in fetched.left_out if file.by_limit][:MOST_TOLD]
    return replace(answer, text=f"{not_read(over)}\n\n{answer.text}".strip()) if over else answer


def _context(event: Event, left_out: Sequence[LeftOut]) -> Mapping[str, object]:
    """What the platform says of the message, with the value of a pressed button that is not one of ours, and the
    files that are not handed on."""
    more: dict[str, object] = {}
    if event.choice is not None and not is_reference(event.choice):
        more["payload"] = event.choice
    if left_out:
        more["filesLeftOut"] = [
            {"name": file.name, "size": file.size, "reason": file.reason} for file in left_out
        ]
    return merged((event.context, more)) if more else event.context
