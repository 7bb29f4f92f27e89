"""Answers and other messages that go out, in words that no platform owns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from domain.channels.provenance import Provenance, Usage
from domain.channels.rich import ConversationChange, RichContent
from domain.values import value


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file in an answer. `url` can always be fetched; `blob` names our own copy when we hold one."""

    name: str
    mime_type: str
    url: str
    blob: str | None = None
    size: int | None = None

    @property
    def is_image(self) -> bool:
        """Return True if platforms show it as a picture."""
        return self.mime_type.startswith("image/")


@dataclass(frozen=True, slots=True)
class Choice:
    """A reply that is offered to the sender: what is shown, and what it stands for.

    `reference` names the choice in at most 64 bytes, empty where `value` itself is as short (as that of approvals).
    """

    label: str
    value: str
    reference: str = ""

    @property
    def button_value(self) -> str:
        """What a button carries, and what comes back in `Event.choice`."""
        return self.reference or self.value


@dataclass(frozen=True, slots=True)
class ClosedPrompt:
    """A prompt whose choices cannot be used any more, as it reads from now on.

    `text` is Markdown: the outcome, then what was asked. `brief` is the same with all values cut, for where the text
    takes more than one message. `outcome` says in a few plain words what came of it.
    """

    text: str
    outcome: str
    brief: str


@dataclass(frozen=True, slots=True)
class Template:
    """A message that the platform has approved beforehand; `parameters` fill its placeholders in order."""

    name: str
    language: str
    parameters: tuple[str, ...] = ()


class Author(StrEnum):
    """Who wrote a message. `SYSTEM`: the service itself, as with apologies, notices, greetings and questions about
    tools."""

    SENDER = "sender"
    RESOURCE = "resource"
    PERSON = "person"
    SYSTEM = "system"


@value
class Answer:
    """What goes to the sender: Markdown text, files, and choices where something is asked.

    `question` is the end of the text that the choices answer: a channel that can replace it when it is decided
    sends it as a message of its own.
    `draft` is the channel's name for the message that shows the unfinished answer: the answer takes its place.
    `template` is sent in place of text and files, by a channel that has `TemplateRules`.
    `wants_person`: a person is to take the conversation over.
    `callback_url` is the instance's callback address, for buttons that carry the address of their press.
    `rich` is what the answer holds beside: links, cards, a location, a contact, a form. `form_reference`
    is what the platform has to send back with the values of that form. `silent`: nothing is sent.
    `change` is what the answer does to its conversation.
    `provenance`: which resource made it, None for what none was asked for. `thumbs` names the
    answer in the buttons that ask whether it helped; empty where nobody is asked. `usage`: the tokens that models
    took for it, None where that is not known.
    """

    text: str
    artifacts: tuple[Artifact, ...] = ()
    choices: tuple[Choice, ...] = ()
    request_id: str = ""
    session_id: str = ""
    draft: str = ""
    question: str = ""
    template: Template | None = None
    author: Author = Author.SYSTEM
    wants_person: bool = False
    callback_url: str = ""
    rich: RichContent | None = None
    form_reference: str = ""
    silent: bool = False
    change: ConversationChange | None = None
    provenance: Provenance | None = None
    thumbs: str = ""
    usage: Usage | None = None

    @property
    def asks(self) -> bool:
        """Return True if the sender's next message answers it."""
        return bool(self.choices or self.question or self.form_reference)

    @property
    def has_buttons(self) -> bool:
        """Return True if it asks something that is over one day: its buttons are taken away then."""
        return bool(self.choices or self.form_reference)


@value
class OutboundMessage:
    """One message to the platform: a JSON object that only the channel itself reads."""

    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Preview:
    """How one unfinished answer is shown: edits of its draft are at least `seconds` apart.

    `render` makes the draft of the first `size` characters of the text, None for nothing to show. It keeps what it
    rendered before, so that it costs what was added.
    """

    seconds: float
    size: int
    render: Callable[[str], OutboundMessage | None]
