"""Rich content of an answer: links, cards, a location, a contact and a form, in words that no platform owns."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class LinkButton:
    """A link that is shown as a button where the platform has those."""

    label: str
    url: str

    @property
    def is_web(self) -> bool:
        """Return True for an address of the web, which all platforms with buttons take; not for tel: and mailto:."""
        return self.url.lower().startswith(("http://", "https://"))


@dataclass(frozen=True, slots=True)
class CardField:
    """A line of a card, such as "Price: 20 EUR"."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Card:
    """`text` is Markdown, `picture` a web address, empty for none."""

    title: str
    text: str = ""
    picture: str = ""
    fields: tuple[CardField, ...] = ()
    buttons: tuple[LinkButton, ...] = ()


@dataclass(frozen=True, slots=True)
class Location:
    """A place, in degrees."""

    latitude: float
    longitude: float
    name: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Contact:
    """A person or company with at least one phone number or mail address."""

    name: str
    phones: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()


class FieldType(StrEnum):
    """What a field of a form takes. `CHOICES`: any number of the options."""

    TEXT = "text"
    MULTILINE = "multiline"
    NUMBER = "number"
    EMAIL = "email"
    PHONE = "phone"
    DATE = "date"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    CHOICES = "choices"

    @property
    def has_options(self) -> bool:
        """Return True if the value is one of the field's options, or several of them."""
        return self in (FieldType.CHOICE, FieldType.CHOICES)

    @property
    def is_text(self) -> bool:
        """Return True if `min` and `max` bound the number of characters."""
        return self in (FieldType.TEXT, FieldType.MULTILINE)


@dataclass(frozen=True, slots=True)
class FormOption:
    """The `label` is shown, the `value` comes back."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class FormField:
    """A question of a form. `min` and `max` bound a number, or the characters of a text; None for no bound. `default`
    is the value of a field that is skipped or left as it is."""

    name: str
    label: str
    type: FieldType = FieldType.TEXT
    required: bool = False
    options: tuple[FormOption, ...] = ()
    default: object = None
    min: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """Questions to one person. `name` comes back with the values, for a resource that has several forms. `submit` is
    the label of the button that sends the values."""

    title: str
    fields: tuple[FormField, ...]
    name: str = ""
    text: str = ""
    submit: str = ""


class RichKind(StrEnum):
    """The kinds of rich content; a channel names those that its platform shows natively."""

    BUTTONS = "buttons"
    CARDS = "cards"
    LOCATION = "location"
    CONTACT = "contact"
    FORM = "form"


@dataclass(frozen=True, slots=True)
class RichContent:
    """What an answer holds beside its text, files and choices. The names of the fields are those of `RichKind`."""

    buttons: tuple[LinkButton, ...] = ()
    cards: tuple[Card, ...] = ()
    location: Location | None = None
    contact: Contact | None = None
    form: Form | None = None

    @property
    def is_empty(self) -> bool:
        return not any(getattr(self, kind) for kind in RichKind)

    def only(self, kinds: frozenset[RichKind]) -> "RichContent":
        """The content without the other kinds."""
        empty = RichContent()
        return replace(self, **{kind: getattr(empty, kind) for kind in RichKind if kind not in kinds})


def joined_content(first: RichContent | None, later: RichContent | None) -> RichContent | None:
    """The content of two pieces of one answer: of each kind that of the later piece, where it has any."""
    if first is None or later is None:
        return first or later
    return replace(first, **{kind: value for kind in RichKind if (value := getattr(later, kind))})


@dataclass(frozen=True, slots=True)
class ConversationChange:
    """What an answer does to its conversation. `assign`: "user:ID", "team:ID", "" for nobody, None for no change."""

    assign: str | None = None
    add_labels: tuple[str, ...] = ()
    remove_labels: tuple[str, ...] = ()
    close: bool = False

    @property
    def is_empty(self) -> bool:
        return self == ConversationChange()

    @property
    def in_words(self) -> str:
        """Return what is done, such as "assigned to team:support, labelled sale, closed"."""
        assigned = "" if self.assign is None else f"assigned to {self.assign or 'nobody'}"
        added = f"labelled {', '.join(dict.fromkeys(self.add_labels))}" if self.add_labels else ""
        removed = f"without the label {', '.join(self.remove_labels)}" if self.remove_labels else ""
        return ", ".join(filter(None, (assigned, added, removed, "closed" if self.close else "")))


def rich_json(content: RichContent) -> dict[str, object]:
    """The content as the documented JSON object, without what is empty."""
    return _compact(asdict(content))


def form_json(form: Form) -> dict[str, object]:
    return _compact(asdict(form))


def _compact(value: Mapping[str, object]) -> dict[str, object]:
    compact = {name: _compacted(member) for name, member in value.items()}
    return {name: member for name, member in compact.items() if member not in (None, "", [], {})}


def _compacted(member: object) -> object:
    if isinstance(member, Mapping):
        return _compact(member)
    if isinstance(member, list | tuple):
        return [_compacted(item) for item in member]
    return member
