"""Forms: opened by an answer, filled in field by field or in a dialog of the platform."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from domain.channels.answers import Answer, Choice, ClosedPrompt
from domain.channels.form_values import Unfit, written_value
from domain.channels.messages import Event
from domain.channels.rich import FormField, RichKind
from domain.confirmations.model import ApprovalResult, ClosedQuestion
from domain.conversations import forms
from domain.conversations.choices import literal
from domain.conversations.forms import FormUpdate, OpenForm
from domain.conversations.model import answer_to
from domain.routing.conversation import ConversationContext
from domain.routing.prompts import PromptFeedback
from ports.queue import QueuedEvent
from ports.system import Clock


@dataclass(frozen=True, slots=True)
class FormStep:
    """How an event continues the form of its session: by an answer, which may be none; or, if it completes the form,
    by the `event` with the summary as its text and the `submission` for the resource."""

    answer: Answer | None = None
    event: Event | None = None
    submission: dict[str, object] | None = None


@dataclass(eq=False)
class FormService:
    """One form is open in a session; another one takes its place. It is stored with the outcome of the event that
    changes it. `callback_address` is what the platforms call, without a final slash."""

    feedback: PromptFeedback
    clock: Clock
    callback_address: str

    def begin(self, context: ConversationContext, queued: QueuedEvent, answer: Answer) -> Answer:
        """The answer with its form as a question, or as it is where the platform shows it as a part of a message."""
        rich = answer.rich
        if rich is None or rich.form is None:
            return answer
        form, event = rich.form, queued.event
        rules = context.channel.forms
        opened = OpenForm(
            form,
            _reference(queued),
            event.sender.external_id,
            queued.id,
            self.clock.now() + forms.LIFETIME,
            resource=answer.provenance.resource if answer.provenance else "",
            is_native=rules is not None and rules.shows_form(context.config, context.target(event), form),
        )
        context.form_update = FormUpdate(opened)
        if opened.is_native and RichKind.FORM in context.channel.rich_kinds:
            return replace(answer, form_reference=opened.reference, choices=())
        rich = replace(rich, form=None)
        answer = replace(answer, rich=None if rich.is_empty else rich)
        if opened.is_native:
            heading = "\n\n".join(filter(None, (f"**{literal(form.title)}**", form.text.strip())))
            button = Choice(forms.OPEN_FORM, opened.reference, opened.reference)
            return self._with_question(context, answer, heading, (button,))
        text = "\n\n".join(filter(None, (answer.text, forms.introduction(form))))
        return self._asked(context, event, replace(answer, text=text), opened)

    async def step(self, context: ConversationContext, queued: QueuedEvent) -> FormStep | None:
        """Returns None for an event that has nothing to do with a form."""
        event, pressed = queued.event, forms.pressed_button(queued.event)
        opened = self._opened_for(context, event)
        if pressed:
            if opened is None or not opened.owns(pressed):
                gone = ApprovalResult(notice=forms.GONE)
                return FormStep(self.feedback.decided_nothing(context, event, gone))
            if opened.is_native:
                return await self._native_step(context, event, opened)
            return self._answered_step(context, queued, opened, lambda: forms.pressed_value(opened, pressed))
        if opened is None or opened.is_native or not forms.is_written(event):
            return None
        written = event.choice or event.text
        if written.strip().casefold() in forms.CANCEL:
            return self._closed(context, event, opened, forms.CANCELLED)
        return self._answered_step(context, queued, opened, lambda: _written(event, opened.asked, written))

    def _opened_for(self, context: ConversationContext, event: Event) -> OpenForm | None:
        """The open form, if the sender of the event is the one who was asked."""
        opened = context.form
        if opened and opened.asked_of == event.sender.external_id and opened.expires_at > self.clock.now():
            return opened
        return None

    async def _native_step(self, context: ConversationContext, event: Event, opened: OpenForm) -> FormStep:
        """A press opens the dialog; what is sent by it completes the form, unless a value does not fit: the others
        are kept for the next dialog."""
        if event.form_input is None:
            if dialog := context.channel.form_dialog:
                context.acknowledged = True
                await dialog.open_form(
                    context.config, context.target(event), forms.filled_in(opened), opened.reference
                )
            return FormStep()
        values, faults = forms.entered_values(opened.form, event.form_input)
        opened = replace(opened, values=values)
        if not faults:
            return self._completed(context, event, opened)
        context.form_update = FormUpdate(opened)
        return FormStep(
            Answer(f"The form was not accepted. Please correct it and send it again.\n\n{faults}")
        )

    def _answered_step(
        self,
        context: ConversationContext,
        queued: QueuedEvent,
        opened: OpenForm,
        read: Callable[[], object],
    ) -> FormStep:
        """Takes what is read as the answer to the field that is asked, and asks the next one."""
        event = queued.event
        try:
            value = read()
        except Unfit as unfit:
            if opened.tries + 1 >= forms.MOST_TRIES:
                return self._closed(context, event, opened, forms.GIVEN_UP)
            again = replace(opened, tries=opened.tries + 1)
            return FormStep(self._next(context, queued, again, f"{unfit} {forms.WAY_OUT}"))
        answered = opened.answered(value)
        self._close_question(context, event, opened, forms.shown(opened.asked, value))
        if answered.is_complete:
            return self._completed(context, event, answered)
        return FormStep(self._next(context, queued, answered, ""))

    def _next(
        self, context: ConversationContext, queued: QueuedEvent, opened: OpenForm, before: str
    ) -> Answer:
        opened = replace(
            opened,
            reference=_reference(queued),
            asked_by=queued.id,
            expires_at=self.clock.now() + forms.LIFETIME,
        )
        context.form_update = FormUpdate(opened)
        return self._asked(context, queued.event, Answer(before), opened)

    def _asked(self, context: ConversationContext, event: Event, answer: Answer, opened: OpenForm) -> Answer:
        """The answer with the question about the field that is asked: its options are buttons if all fit, and listed
        too where a button may not show the whole label."""
        buttons = forms.button_choices(opened)
        has_buttons = len(buttons) <= context.channel.buttons(context.config, context.target(event))
        is_whole = bool(buttons) and all(len(button.label) <= forms.LONGEST_LABEL for button in buttons)
        question = forms.question(opened, lists_options=not (has_buttons and is_whole))
        return self._with_question(context, answer, question, buttons if has_buttons else ())

    def _with_question(
        self, context: ConversationContext, answer: Answer, question: str, choices: tuple[Choice, ...]
    ) -> Answer:
        text = "\n\n".join(filter(None, (answer.text.rstrip(), question)))
        url = self.callback_address + context.instance.webhook_path
        return replace(answer, text=text, question=question, choices=choices, callback_url=url)

    def _completed(self, context: ConversationContext, event: Event, opened: OpenForm) -> FormStep:
        summary = forms.summary(opened.form, opened.values)
        if opened.is_native:
            self._close_question(context, event, opened, summary)
        context.asked_by = opened.resource
        filled = replace(
            event,
            text=summary,
            choice=None,
            claims_choice=False,
            only_decides=False,
            form_input=None,
            attachments=(),
        )
        return FormStep(event=filled, submission=forms.submission(opened.form, opened.values))

    def _closed(self, context: ConversationContext, event: Event, opened: OpenForm, outcome: str) -> FormStep:
        context.form_update = FormUpdate(None)
        self._close_question(context, event, opened, outcome)
        return FormStep(Answer(outcome))

    def _close_question(
        self, context: ConversationContext, event: Event, opened: OpenForm, outcome: str
    ) -> None:
        """The buttons of the question go, and it shows what came of it."""
        heading = literal(opened.form.title if opened.is_native else opened.asked.label)
        lines = "\n".join(f"{literal(line)}  " for line in outcome.splitlines())
        closed = ClosedPrompt(f"**{heading}**\n\n{lines}", outcome, f"**{heading}**")
        press = event if event.choice and event.form_input is None else None
        self.feedback.close(context, ClosedQuestion(opened.asked_by, closed), press)


def _written(event: Event, asked: FormField, written: str) -> object:
    """The value of the message. Raises `Unfit`."""
    if event.attachments and not written.strip():
        raise Unfit("A file is no answer here. Please write one.")
    return written_value(asked, written)


def _reference(queued: QueuedEvent) -> str:
    return forms.form_reference(answer_to(queued.id), queued.event.request_id)
