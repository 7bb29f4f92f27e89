"""Answers of an agent, and their JSON."""

import base64
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

FieldType = Literal["text", "multiline", "number", "email", "phone", "date", "boolean", "choice", "choices"]


@dataclass(frozen=True, slots=True)
class File:
    """A file for the sender: its bytes as `data`, or an address as `url`, which must stay readable."""

    name: str
    data: bytes | None = field(default=None, repr=False)
    mime_type: str = ""
    url: str | None = None

    def __post_init__(self) -> None:
        if (self.data is None) == (self.url is None):
            raise ValueError(f"the file {self.name} needs either data or url")

    def as_json(self) -> dict[str, Any]:
        kind = self.mime_type or mimetypes.guess_type(self.name)[0] or "application/octet-stream"
        if self.data is None:
            return {"name": self.name, "mimeType": kind, "url": self.url}
        return {"name": self.name, "mimeType": kind, "dataBase64": base64.b64encode(self.data).decode()}


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Asks a person whether a tool may be used. The agent is called again with the decision: `Message.allows`.

    `by`: who decides, "sender", "user:ID" or "team:ID"; `minutes`: how long a user or a team has, None for a day.
    """

    tool: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    by: str = "sender"
    minutes: int | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """A reply to pick from. `value` comes back as the text of the next message; the label, where it is empty."""

    label: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Button:
    """A link, shown as a button where the platform has those."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class CardField:
    """A line of a card, such as "Price: 20 EUR"."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Card:
    """`text` is Markdown, `picture` a web address."""

    title: str
    text: str = ""
    picture: str = ""
    fields: Sequence[CardField] = ()
    buttons: Sequence[Button] = ()


@dataclass(frozen=True, slots=True)
class Location:
    """A place, in degrees."""

    latitude: float
    longitude: float
    name: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Contact:
    """A person or company, with at least one phone number or mail address."""

    name: str
    phones: Sequence[str] = ()
    emails: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """A question of a form. `min` and `max` bound a number, or the characters of a text."""

    name: str
    label: str
    type: FieldType = "text"
    required: bool = False
    options: Sequence[Choice] = ()
    default: object = None
    min: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """Questions to the sender, whose values come back as `Message.form`. `submit`: the label of the last button."""

    title: str
    fields: Sequence[Field]
    name: str = ""
    text: str = ""
    submit: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that models took for the answer."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent answers.

    `text` is Markdown. `handover`: a person takes the conversation over. `silent`: no answer at all. `assign`:
    "user:ID", "team:ID", "" for nobody, None for no change. `labels`, `remove_labels` and `close` change the
    conversation.
    """

    text: str = ""
    files: Sequence[File] = ()
    confirmation: Confirmation | None = None
    choices: Sequence[Choice] = ()
    buttons: Sequence[Button] = ()
    cards: Sequence[Card] = ()
    location: Location | None = None
    contact: Contact | None = None
    form: Form | None = None
    handover: bool = False
    silent: bool = False
    assign: str | None = None
    labels: Sequence[str] = ()
    remove_labels: Sequence[str] = ()
    close: bool = False
    usage: Usage | None = None

    def __add__(self, later: "Answer") -> "Answer":
        """Both in one answer: texts and lists are joined, of all else the later value counts where there is one."""
        joined = {
            part.name: _joined(getattr(self, part.name), getattr(later, part.name)) for part in fields(Answer)
        }
        joined["text"] = self.text + later.text
        return Answer(**joined)

    def as_json(self) -> dict[str, Any]:
        """The JSON object that Switchboard reads, without what is empty."""
        value: dict[str, Any] = _json(self)
        return {name: member for name, member in value.items() if member is not False}


Part = str | Answer | File | Confirmation | Choice | Button | Card | Location | Contact | Form | Usage
"""What a handler yields or returns. A handler may return a list of parts, too."""

_NAMES = {
    "files": "artifacts",
    "remove_labels": "removeLabels",
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
}
"""Names of fields whose JSON name is another one."""
_LISTS: Mapping[type, str] = {File: "files", Choice: "choices", Button: "buttons", Card: "cards"}


def answer_of(part: object) -> Answer:
    """The answer that has this part alone. Raises `TypeError`."""
    match part:
        case None:
            return Answer()
        case str():
            return Answer(part)
        case Answer():
            return part
        case list() | tuple():
            return sum((answer_of(item) for item in part), Answer())
        case File() | Choice() | Button() | Card():
            lists: dict[str, Any] = {_LISTS[type(part)]: [part]}
            return Answer(**lists)
        case Confirmation() | Location() | Contact() | Form() | Usage():
            members: dict[str, Any] = {type(part).__name__.lower(): part}
            return Answer(**members)
    raise TypeError(f"an agent answers with text, an Answer or parts of one, not with {type(part).__name__}")


def _joined(first: Any, later: Any) -> Any:
    if isinstance(first, list | tuple):
        return [*first, *later]
    return first if later in (None, False) else later


def _json(value: Any) -> Any:
    """The value without members that are None or an empty list."""
    if isinstance(value, File):
        return value.as_json()
    if is_dataclass(value):
        members = {
            _NAMES.get(part.name, part.name): _json(getattr(value, part.name)) for part in fields(value)
        }
        return {name: member for name, member in members.items() if member is not None and member != []}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return value
