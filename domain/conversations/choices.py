"""Replies that an answer offers: what their buttons carry, and what a press or a typed number picks. Pure."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from domain import limits
from domain.channels.answers import Answer, Choice, ClosedPrompt
from domain.conversations.model import MessageId, parse_message_id
from domain.refusals import Fault

PREFIX = "choice:"
"""What every reference begins with; at most 64 bytes in all."""
GONE = "This choice is no longer known. Please write your answer."

_MARKUP = re.compile(r"(https?://[^\s<>()\[\]*`\\|]+)|([\\`*_\[\]<>&~#|+.-])", re.IGNORECASE)
"""Web addresses, and signs that are markup elsewhere: Markdown reads no markup within an address."""
_NUMBER = re.compile(r"([1-9][0-9]?)[.)]?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Offer:
    """The text and the choices of a message, and the id of the resource that made it; empty if none did."""

    text: str
    choices: Sequence[Choice]
    resource: str = ""


def choice_faults(choices: Sequence[Choice]) -> Iterator[Fault]:
    if len(choices) > limits.CHOICES:
        yield Fault("choices", f"must be at most {limits.CHOICES}")
        return
    labels = [choice.label for choice in choices]
    for number, choice in enumerate(choices):
        field = f"choices[{number}].label"
        if fault := limits.text_fault(choice.label, limits.CHOICE_LABEL):
            yield Fault(field, fault)
        elif not choice.label.strip() or not choice.label.isprintable():
            yield Fault(field, "must be one line of text, without control characters")
        elif choice.label in labels[:number]:
            yield Fault(field, "must not be the label of another choice")
        if fault := limits.text_fault(choice.value, limits.CHOICE_VALUE):
            yield Fault(f"choices[{number}].value", fault)


def offered(answer: Answer, message: MessageId, secret: str, callback_url: str) -> Answer:
    """The answer with references to its choices, unless they are those of a question of ours; a label stands for an
    empty value.

    `secret`, known to no sender, makes the references hard to guess. It is the same when the message is made again.
    """
    if not answer.choices or answer.question:
        return replace(answer, callback_url=callback_url)
    proof = hashlib.sha256(f"{secret} {message}".encode()).hexdigest()[:16]
    choices = (
        Choice(choice.label, choice.value or choice.label, f"{PREFIX}{message}:{number}:{proof}")
        for number, choice in enumerate(answer.choices)
    )
    return replace(answer, choices=tuple(choices), callback_url=callback_url)


def is_reference(pressed: str) -> bool:
    return pressed.startswith(PREFIX)


def message_of(reference: str) -> MessageId | None:
    """The message that offered the choice, None for what cannot be a reference."""
    return parse_message_id(reference.removeprefix(PREFIX).partition(":")[0])


def pressed_choice(choices: Sequence[Choice], reference: str) -> Choice | None:
    return next((choice for choice in choices if reference and choice.reference == reference), None)


def typed_choice(choices: Sequence[Choice], text: str) -> Choice | None:
    """The choice of which a message has the number or the label; case and white space around it do not matter."""
    written = text.strip()
    label = written.casefold()
    if labelled := next((choice for choice in choices if choice.label.casefold() == label), None):
        return labelled
    number = _NUMBER.fullmatch(written)
    return choices[int(number[1]) - 1] if number and int(number[1]) <= len(choices) else None


def numbered(answer: Answer) -> Answer:
    """The answer with its choices as a numbered list below the text, for where there are no buttons.

    A question of ours lists in its text what can be replied.
    """
    if not answer.choices or answer.question:
        return replace(answer, choices=())
    listed = "\n".join(
        f"{number}. {literal(choice.label)}" for number, choice in enumerate(answer.choices, start=1)
    )
    text = "\n\n".join(filter(None, (answer.text.rstrip(), listed)))
    return replace(answer, text=text, choices=())


def chosen(offer: Offer, choice: Choice) -> ClosedPrompt:
    """What the message reads once one of its choices was pressed."""
    return ClosedPrompt(f"{offer.text.rstrip()}\n\n**{literal(choice.label)}**".lstrip(), choice.label, "")


def literal(label: str) -> str:
    """The label in Markdown."""
    return _MARKUP.sub(lambda match: match[1] or f"\\{match[2]}", label)
