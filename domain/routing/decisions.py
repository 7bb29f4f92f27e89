"""Reads what an event answers: a vote, a choice, a field of a form, or a decision about a tool."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from domain.channels.answers import Answer
from domain.channels.messages import Event
from domain.confirmations.approvers import ApproverService, Press
from domain.confirmations.model import ApprovalResult, ApprovalScope, ReceivedText
from domain.confirmations.requests import NOT_COUNTED, pressed
from domain.confirmations.service import ConfirmationService
from domain.conversations.choices import GONE, is_reference
from domain.feedback.model import GONE as VOTE_GONE
from domain.feedback.model import THANKS, Voter, is_thumb, rating_of, read_press
from domain.routing.conversation import ConversationContext
from domain.routing.forms import FormService
from domain.routing.prompts import ChoiceService, PromptFeedback, presses_prompt, written_text
from ports.conversations import FeedbackStore
from ports.queue import QueuedEvent


@dataclass(frozen=True, slots=True)
class Decided:
    """An event as it is handed on, what it decides about a tool, and the form that it fills in."""

    queued: QueuedEvent
    approval: ApprovalResult = field(default_factory=ApprovalResult)
    form: Mapping[str, object] | None = None


@dataclass(eq=False)
class DecisionService:
    approvals: ConfirmationService
    approvers: ApproverService
    feedback: PromptFeedback
    choices: ChoiceService
    votes: FeedbackStore
    forms: FormService

    async def is_vote(self, context: ConversationContext, event: Event) -> bool:
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

    async def approve(
        self, context: ConversationContext, queued: QueuedEvent, user_id: str | None
    ) -> Answer | None:
        """The answer to an approver who decides by a button or a written reply; None for any other event."""
        event, instance = queued.event, context.instance
        picked = None
        if event.choice is not None and is_reference(event.choice):
            picked = await self.choices.pressed(instance, event.choice)
        elif context.offered and event.choice is None:
            picked = await self.choices.typed(context, event)
        if picked is None or pressed(picked.choice.value) is None:
            return None
        press = Press(picked.choice.value, instance.id, user_id, event.is_direct)
        outcome = await self.approvers.press(press)
        if event.choice is None:
            return Answer(outcome)
        if outcome in NOT_COUNTED:
            notice = ApprovalResult(notice=outcome)
            return self.feedback.decided_nothing(context, event, notice) or Answer("", silent=True)
        self.feedback.chosen(context, event, picked)
        return Answer(outcome)

    async def decide(
        self, context: ConversationContext, queued: QueuedEvent, user_id: str | None
    ) -> "Decided | Answer | None":
        """The event with the choice that the sender picked or the form that is filled in, and what it decides about a
        tool, which may be a prompt to be shown once more; or the answer to an event that is not handed on. None: it
        gets no answer."""
        taken = await self._taken(context, queued)
        if not isinstance(taken, Decided):
            return taken
        picked, event, approval_result = taken.queued, taken.queued.event, ApprovalResult()
        # A press may concern a question of another session, such as that of the person who was asked.
        if context.has_open_approval or presses_prompt(event):
            scope = scope_of(context, picked, user_id)
            approval_result = await self.approvals.decide(scope, received_text(context, picked))
        if approval_result.prompt:
            return replace(taken, approval=approval_result)
        if approval_result.decision is None and presses_prompt(event):
            return self.feedback.decided_nothing(context, event, approval_result)
        if approval_result.decision is None and event.only_decides and event.choice is None:
            return None
        self.feedback.decided(context, event, approval_result.closed)
        if approval_result.decision is not None:
            context.asked_by = approval_result.decision.resource
        return replace(taken, approval=approval_result)

    async def _taken(self, context: ConversationContext, queued: QueuedEvent) -> "Decided | Answer | None":
        """The event with the form that it fills in or the choice that it picks, else as in `decide`."""
        event = queued.event
        is_open = context.has_open_approval or context.offered or context.form
        if not is_open and event.choice is None and not event.only_decides:
            return Decided(queued)
        step = await self.forms.step(context, queued)
        if step is None:
            picked = await self._pick(context, queued)
            return Decided(picked) if isinstance(picked, QueuedEvent) else picked
        if step.event is None:
            return step.answer
        return Decided(replace(queued, event=step.event), form=step.submission)

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

    async def skip(self, context: ConversationContext, queued: QueuedEvent, user_id: str | None) -> None:
        """A message that the channel answers itself clears the sender's question, like any other."""
        if context.has_open_approval:
            scope = scope_of(context, queued, user_id)
            approval_result = await self.approvals.decide(scope, received_text(context, queued))
            self.feedback.close(context, approval_result.closed)


def scope_of(context: ConversationContext, queued: QueuedEvent, user_id: str | None) -> ApprovalScope:
    event = queued.event
    return ApprovalScope(context.instance.id, event.session_id, event.sender.external_id, user_id)


def received_text(context: ConversationContext, queued: QueuedEvent) -> ReceivedText:
    event, sender = queued.event, queued.event.sender
    return ReceivedText(
        queued.id, written_text(context, event), event.choice, sender.display_name or sender.external_id
    )
