"""Forms that a person fills in: which form is open in a session, the questions that are asked field by field, and how
what a person writes becomes a value. Pure."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from domain import limits
from domain.channels.answers import Choice
from domain.channels.messages import Event
from domain.channels.rich import FieldType, Form, FormField, FormOption
from domain.conversations.choices import literal
from domain.conversations.model import MessageId

PREFIX = "form:"
"""What the value of every button of a form begins with; at most 64 bytes in all."""
FORM_COLONS = 2
LIFETIME = timedelta(hours=24)
"""How long a form can be answered, since its latest question."""
MOST_TRIES = 3
"""Answers to one question that do not fit; then the form is given up."""

CANCEL = frozenset({"cancel", "/cancel"})
SKIP = frozenset({"skip", "/skip", "-"})
CANCELLED = "The form was cancelled. Nothing was sent."
GIVEN_UP = "The form was cancelled, as three answers in a row did not fit. Nothing was sent."
GONE = "This form is closed, or it was meant for somebody else."
OPEN_FORM = "Open form"
_YES = frozenset({"1", "yes", "y", "true", "ok", "ja", "oui", "sí", "si", "sim", "tak", "да"})
_NO = frozenset({"2", "no", "n", "false", "nein", "non", "não", "nie", "нет"})
BOOLEANS = (FormOption("Yes", "yes"), FormOption("No", "no"))


@dataclass(frozen=True, slots=True)
class OpenForm:
    """The form that is open in a session. `asked_of` is the sender who may fill it in, `asked_by` the event whose
    answer was the latest question. `reference` begins the value of each of its buttons.

    `values` are those of the fields before `position`, the field that is asked now; `tries` counts the answers to it
    that did not fit. `is_native`: the platform shows all fields at once, and sends their values together. `resource`
    asks, and gets the values.
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


class Unfit(ValueError):
    """An answer that is no value of its field; the message tells the person why."""


def is_form(pressed: str) -> bool:
    return pressed.startswith(PREFIX)


def pressed_button(event: Event) -> str:
    """The value of the button of a form that was pressed, '' for other events."""
    return event.choice if event.choice and is_form(event.choice) else ""


def is_written(event: Event) -> bool:
    """Return True if a person wrote something: the event is no reaction, and no press of a button."""
    return not event.reaction and (event.choice is None or event.claims_choice)


def opens_dialog(pressed: str) -> bool:
    """Return True for the reference of a form itself; buttons of options have a number behind it."""
    return is_form(pressed) and pressed.count(":") == FORM_COLONS


def form_reference(message: MessageId, secret: str) -> str:
    """What the buttons of a form carry; the same when the message is made again. No sender knows `secret`."""
    proof = hashlib.sha256(f"{secret} {message}".encode()).hexdigest()[:16]
    return f"{PREFIX}{message}:{proof}"


def options_of(asked: FormField) -> tuple[FormOption, ...]:
    """What a person picks from, none where the answer is written."""
    return BOOLEANS if asked.type is FieldType.BOOLEAN else asked.options


def button_choices(opened: OpenForm) -> tuple[Choice, ...]:
    """The options of the question as buttons, none where several may be picked."""
    asked = opened.asked
    if asked.type is FieldType.CHOICES:
        return ()
    return tuple(
        Choice(option.label, option.value, f"{opened.reference}:{number}")
        for number, option in enumerate(options_of(asked), start=1)
    )


def pressed_text(opened: OpenForm, pressed: str) -> str:
    """The label of the pressed option, '' for none."""
    choices = button_choices(opened)
    return next((choice.label for choice in choices if choice.reference == pressed), "")


def introduction(form: Form) -> str:
    """What stands before the first question, in Markdown."""
    how_to = "Please answer the following questions. Write **cancel** to give up."
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


def written_value(asked: FormField, text: str) -> object:
    """The value of what a person wrote as the answer to a question. Raises `Unfit`."""
    written = text.strip()
    if not asked.required and (not written or written.casefold() in SKIP):
        return asked.default
    if not written:
        raise Unfit("An answer is needed here.")
    if len(written) > limits.FORM_VALUE:
        raise Unfit(f"The answer may have at most {limits.FORM_VALUE} characters.")
    return _READERS[asked.type](asked, written)


def native_values(form: Form, entered: Mapping[str, object]) -> Mapping[str, object]:
    """The values of a form that the platform shows itself. `entered` are texts, lists of values of options, and truth
    values, by the names of the fields; what is missing was left empty.

    Raises `Unfit` with a line for each field whose value does not fit.
    """
    values: dict[str, object] = {}
    faults: list[str] = []
    for asked in form.fields:
        try:
            values[asked.name] = _native_value(asked, entered.get(asked.name))
        except Unfit as unfit:
            faults.append(f"- {literal(asked.label)}: {unfit}")
    if faults:
        raise Unfit("\n".join(faults))
    return values


def _native_value(asked: FormField, entered: object) -> object:
    if isinstance(entered, bool):
        return entered if asked.type is FieldType.BOOLEAN else written_value(asked, "")
    if isinstance(entered, list) and asked.type is FieldType.CHOICES:
        return _picked_values(asked, entered)
    if isinstance(entered, list):
        entered = entered[0] if entered else ""
    text = entered if isinstance(entered, str) else ""
    # Where it is shown, a default that was deleted is no answer, and a text such as "skip" is one.
    return written_value(replace(asked, required=True), text) if text.strip() or asked.required else None


def _picked_values(asked: FormField, entered: Sequence[object]) -> list[str]:
    picked = [option.value for option in asked.options if option.value in entered]
    if asked.required and not picked:
        raise Unfit("An answer is needed here.")
    return picked


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


_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:[.,][0-9]{1,10})?")
_EMAIL = re.compile(r"[^\s@<>,;:\"()]{1,64}@[^\s@<>,;:\"()]{1,180}\.[^\s@<>,;:\"().]{2,63}")
_PHONE = re.compile(r"\+?[0-9][0-9 ()/.\-]{3,40}")
_DAY_FIRST = re.compile(r"([0-9]{1,2})\. ?([0-9]{1,2})\. ?([0-9]{4})")


def _text(asked: FormField, text: str) -> str:
    if asked.type is FieldType.TEXT and not text.isprintable():
        raise Unfit("Please answer in one line.")
    if asked.min is not None and len(text) < asked.min:
        raise Unfit(f"The answer needs at least {asked.min:g} characters.")
    if asked.max is not None and len(text) > asked.max:
        raise Unfit(f"The answer may have at most {asked.max:g} characters.")
    return text


def _number(asked: FormField, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise Unfit("This is not a number. Please write digits, such as 12 or 12.5.")
    number = float(text.replace(",", ".")) if "." in text or "," in text else int(text)
    if asked.min is not None and number < asked.min:
        raise Unfit(f"The number must be at least {asked.min:g}.")
    if asked.max is not None and number > asked.max:
        raise Unfit(f"The number must be at most {asked.max:g}.")
    return number


def _email(asked: FormField, text: str) -> str:
    if not _EMAIL.fullmatch(text):
        raise Unfit("This is not a mail address. It looks like ada@example.org.")
    return text


def _phone(asked: FormField, text: str) -> str:
    digits = re.sub(r"[^0-9]", "", text)
    if not _PHONE.fullmatch(text) or not 5 <= len(digits) <= 15:
        raise Unfit("This is not a phone number. Please write digits, such as +43 1 234567.")
    return f"+{digits}" if text.startswith("+") else digits


def _date(asked: FormField, text: str) -> str:
    day_first = _DAY_FIRST.fullmatch(text)
    iso = f"{day_first[3]}-{day_first[2]:0>2}-{day_first[1]:0>2}" if day_first else text
    try:
        return date.fromisoformat(iso).isoformat()
    except ValueError:
        raise Unfit("This is not a date. Please write it as 2026-12-31 or 31.12.2026.") from None


def _boolean(asked: FormField, text: str) -> bool:
    word = text.casefold()
    if word in _YES or word in _NO:
        return word in _YES
    raise Unfit("Please answer with yes or no.")


def _choice(asked: FormField, text: str) -> str:
    if option := _picked(asked.options, text):
        return option.value
    raise Unfit(f"This is none of the options. Please write a number from 1 to {len(asked.options)}.")


def _choices(asked: FormField, text: str) -> list[str]:
    single = _picked(asked.options, text)
    options = [single] if single else [_picked(asked.options, item) for item in re.split(r"[,;\n]", text)]
    if None in options:
        raise Unfit(
            f"This is none of the options. Please write numbers from 1 to {len(asked.options)}, separated by commas."
        )
    return [option.value for option in asked.options if option in options]


def _picked(options: Sequence[FormOption], text: str) -> FormOption | None:
    """The option of which a text has the label, the value or the number."""
    written = text.strip()
    label, number = written.casefold(), written.rstrip(".)")
    for option in options:
        if option.label.casefold() == label or option.value == written:
            return option
    if number.isascii() and number.isdecimal() and len(number) <= 2 and 1 <= int(number) <= len(options):
        return options[int(number) - 1]
    return None


_READERS: Mapping[FieldType, Callable[[FormField, str], object]] = {
    FieldType.TEXT: _text,
    FieldType.MULTILINE: _text,
    FieldType.NUMBER: _number,
    FieldType.EMAIL: _email,
    FieldType.PHONE: _phone,
    FieldType.DATE: _date,
    FieldType.BOOLEAN: _boolean,
    FieldType.CHOICE: _choice,
    FieldType.CHOICES: _choices,
}
