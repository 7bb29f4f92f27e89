"""Forms that a person fills in: which form is open in a session, the questions that are asked field by field, and the
values of all fields. Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from domain.channels.answers import Choice
from domain.channels.form_values import Unfit, entered_value, options_of, picked_value
from domain.channels.messages import Event
from domain.channels.rich import FieldType, Form, FormField
from domain.conversations.choices import literal
from domain.conversations.model import MessageId

PREFIX = "form:"
"""What the value of every button of a form begins with; at most 64 bytes in all."""
FORM_COLONS = 2
LIFETIME = timedelta(hours=24)
"""How long a form can be answered, since its latest question."""
LONGEST_LABEL = 72
"""Characters that all platforms with buttons show of a label."""
MOST_TRIES = 3
"""Answers to one question that do not fit; then the form is given up."""

CANCEL = frozenset({"exit", "/exit", "cancel", "/cancel", "abbrechen", "annuler", "cancelar", "annulla"})
CANCELLED = "The form was cancelled. Nothing was sent."
WAY_OUT = "Write **exit** to give up."
"""Not `cancel`: who writes that to a number of Twilio gets no more messages from it."""
GIVEN_UP = "The form was cancelled, as three answers in a row did not fit. Nothing was sent."
GONE = "This form is closed, or it was meant for somebody else."
OPEN_FORM = "Open form"


@dataclass(frozen=True, slots=True)
class OpenForm:
    """The form that is open in a session. `asked_of` is the sender who may fill it in, `asked_by` the event whose
    answer was the latest question. `reference` begins the value of each of its buttons.

    `values` are those of the fields before `position`, the field that is asked now; `tries` counts the answers to it
    that did not fit. `is_native`: the platform shows all fields at once, and sends their values together;
    `values` are those that did fit where others did not. `resource` asks, and gets the values.
    """

    form: Form
    reference: str
    asked_of: str
    asked_by: int
    expires_at: datetime
    values: Mapping[str, object] = field(default_factory=dict)
    position: int = 0
    tries: int = 0
    is_native: bool = False
    resource: str = ""

    @property
    def asked(self) -> FormField:
        return self.form.fields[self.position]

    def owns(self, pressed: str) -> bool:
        """Return True for the value of a button of the latest question."""
        return pressed == self.reference or pressed.startswith(f"{self.reference}:")

    def answered(self, value: object) -> "OpenForm":
        """The form with the value of the field that was asked, at the next one."""
        values = {**self.values, self.asked.name: value}
        return replace(self, values=values, position=self.position + 1, tries=0)

    @property
    def is_complete(self) -> bool:
        return self.position >= len(self.form.fields)


@dataclass(frozen=True, slots=True)
class FormUpdate:
    """What becomes of the open form of a session with the outcome of an event. None: it is closed."""

    form: OpenForm | None


def is_form(pressed: str) -> bool:
    return pressed.startswith(PREFIX)


def pressed_button(event: Event) -> str:
    """The value of the button of a form that was pressed, '' for other events."""
    return event.choice if event.choice and is_form(event.choice) else ""


def is_written(event: Event) -> bool:
    """Return True if a person wrote something: the event is no reaction, no press of a button, and no edit of a
    message that was answered already."""
    if event.reaction or event.new_if_answered:
        return False
    return event.choice is None or event.claims_choice


def opens_dialog(pressed: str) -> bool:
    """Return True for the reference of a form itself; buttons of options have a number behind it."""
    return is_form(pressed) and pressed.count(":") == FORM_COLONS


def form_reference(message: MessageId, secret: str) -> str:
    """What the buttons of a form carry; the same when the message is made again. No sender knows `secret`."""
    proof = hashlib.sha256(f"{secret} {message}".encode()).hexdigest()[:16]
    return f"{PREFIX}{message}:{proof}"


def button_choices(opened: OpenForm) -> tuple[Choice, ...]:
    """The options of the question as buttons, none where several may be picked."""
    asked = opened.asked
    if asked.type is FieldType.CHOICES:
        return ()
    return tuple(
        Choice(option.label, option.value, f"{opened.reference}:{number}")
        for number, option in enumerate(options_of(asked), start=1)
    )


def pressed_value(opened: OpenForm, pressed: str) -> object:
    """The value of the option whose button was pressed. Raises `Unfit`."""
    number = pressed.removeprefix(f"{opened.reference}:")
    is_number = number.isascii() and number.isdecimal() and len(number) <= 2
    return picked_value(opened.asked, int(number) if is_number else 0)


def introduction(form: Form) -> str:
    """What stands before the first question, in Markdown."""
    how_to = f"Please answer the following questions. {WAY_OUT}"
    return "\n\n".join(filter(None, (f"**{literal(form.title)}**", form.text.strip(), how_to)))


_HINTS = {
    FieldType.NUMBER: "Please write a number.",
    FieldType.EMAIL: "Please write a mail address.",
    FieldType.PHONE: "Please write a phone number.",
    FieldType.DATE: "Please write a date such as 2026-12-31 or 31.12.2026.",
    FieldType.CHOICES: "Please write the numbers, separated by commas.",
}


def question(opened: OpenForm, *, lists_options: bool) -> str:
    """The question about the field that is asked, in Markdown."""
    asked, count = opened.asked, len(opened.form.fields)
    number = f" ({opened.position + 1} of {count})" if count > 1 else ""
    listed = ""
    if lists_options:
        options = enumerate(options_of(asked), start=1)
        listed = "\n".join(f"{at}. {literal(option.label)}" for at, option in options)
    skip = "" if asked.required else "Write **skip** to leave it out."
    hints = " ".join(filter(None, (_HINTS.get(asked.type, ""), skip)))
    return "\n\n".join(filter(None, (f"**{literal(asked.label)}**{number}", listed, hints)))


def entered_values(form: Form, entered: Mapping[str, object]) -> tuple[Mapping[str, object], str]:
    """The values of a form that was sent as a whole, and a line for each field whose value does not fit.

    `entered` are texts, numbers, truth values, and lists of values of options, by the names of the fields; what is
    missing was left empty.
    """
    values: dict[str, object] = {}
    faults: list[str] = []
    for asked in form.fields:
        try:
            values[asked.name] = entered_value(asked, entered.get(asked.name))
        except Unfit as unfit:
            faults.append(f"- {literal(asked.label)}: {unfit}")
    return values, "\n".join(faults)


def filled_in(opened: OpenForm) -> Form:
    """The form with the values that did fit as what it shows at first."""
    fields = (
        replace(asked, default=opened.values.get(asked.name, asked.default)) for asked in opened.form.fields
    )
    return replace(opened.form, fields=tuple(fields))


def written_form(entered: Mapping[str, object]) -> str:
    """What was entered into a form, as the text of the event: one line for each field that is not empty."""
    shown_values = (
        (name, ", ".join(value) if isinstance(value, list) else value) for name, value in entered.items()
    )
    return "\n".join(f"{name}: {value}" for name, value in shown_values if value)


def summary(form: Form, values: Mapping[str, object]) -> str:
    """The values as a text for people, one line for each field that has one."""
    lines = [
        f"{asked.label}: {shown(asked, value)}"
        for asked in form.fields
        if (value := values.get(asked.name)) is not None and value != []
    ]
    return "\n".join(lines) or form.title


def shown(asked: FormField, value: object) -> str:
    labels = {option.value: option.label for option in asked.options}
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, list | tuple):
        return ", ".join(labels.get(item, str(item)) for item in value)
    return labels.get(str(value), str(value))


def submission(form: Form, values: Mapping[str, object]) -> dict[str, object]:
    """The `form` of the request to the resource."""
    return {**({"name": form.name} if form.name else {}), "values": dict(values)}
