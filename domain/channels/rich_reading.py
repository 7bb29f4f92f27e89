"""Reads the rich content of an answer from JSON: its limits, and what a form may not ask for. Pure."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from domain import limits
from domain.addresses import address_fault
from domain.channels.form_values import Unfit, entered_value
from domain.channels.rich import (
    Card,
    CardField,
    Contact,
    ConversationChange,
    FieldType,
    Form,
    FormField,
    FormOption,
    LinkButton,
    Location,
    RichContent,
)


class BadContent(ValueError):
    """Content that does not keep to the contract; the message names the field."""


class _Object:
    """A JSON object and where it stands in the answer."""

    def __init__(self, value: Any, at: str) -> None:
        if not isinstance(value, Mapping):
            raise BadContent(f"{at} is not an object")
        self.value = value
        self.at = at

    def path(self, name: str) -> str:
        return f"{self.at}.{name}" if self.at else name

    def fault(self, name: str, message: str) -> BadContent:
        return BadContent(f"{self.path(name)} {message}")

    def text(self, name: str, most: int, *, required: bool = False, lines: bool = False) -> str:
        """A text of at most `most` characters, on one line unless `lines`."""
        return self._checked(name, self.value.get(name), most, required, lines)

    def texts(self, name: str, count: int, most: int) -> tuple[str, ...]:
        items = self.array(name, count)
        return tuple(self._checked(f"{name}[{at}]", item, most, True, False) for at, item in enumerate(items))

    def _checked(self, name: str, text: Any, most: int, required: bool, lines: bool) -> str:
        if text is None and not required:
            return ""
        if not isinstance(text, str):
            raise self.fault(name, "is not a string")
        if fault := limits.text_fault(text, most):
            raise self.fault(name, fault)
        if required and not text.strip():
            raise self.fault(name, "must not be empty")
        if not lines and not text.isprintable():
            raise self.fault(name, "must be one line of text, without control characters")
        return text

    def array(self, name: str, most: int) -> Sequence[Any]:
        items = self.value.get(name)
        if items is None:
            return ()
        if not isinstance(items, list):
            raise self.fault(name, "is not an array")
        if len(items) > most:
            raise self.fault(name, f"has over {most} entries")
        return items

    def objects(self, name: str, most: int) -> "list[_Object]":
        return [_Object(item, self.path(f"{name}[{at}]")) for at, item in enumerate(self.array(name, most))]

    def object(self, name: str) -> "_Object | None":
        return None if self.value.get(name) is None else _Object(self.value[name], self.path(name))

    def number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float | None:
        number = self.value.get(name)
        if number is None:
            return None
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise self.fault(name, "is not a number")
        if not least <= number <= most:
            raise self.fault(name, f"is not between {least:g} and {most:g}")
        return number

    def flag(self, name: str) -> bool:
        flag = self.value.get(name)
        if flag is not None and not isinstance(flag, bool):
            raise self.fault(name, "is not true or false")
        return bool(flag)


def read_rich(value: Mapping[str, Any]) -> RichContent | None:
    """The rich content of an answer, None for none. Raises `BadContent`; other fields are ignored."""
    answer = _Object(value, "")
    location, contact, form = answer.object("location"), answer.object("contact"), answer.object("form")
    content = RichContent(
        buttons=_buttons(answer),
        cards=tuple(_card(card) for card in answer.objects("cards", limits.CARDS)),
        location=_location(location) if location else None,
        contact=_contact(contact) if contact else None,
        form=_form(form) if form else None,
    )
    return None if content.is_empty else content


def read_change(value: Mapping[str, Any]) -> ConversationChange | None:
    """What an answer does to its conversation, None for nothing. Raises `BadContent`."""
    answer = _Object(value, "")
    assign = None
    if "assign" in value:
        assign = answer.text("assign", limits.ASSIGNEE)
        if assign and not re.fullmatch(r"(?:user|team):\S.*", assign):
            raise answer.fault("assign", 'must be "user:ID", "team:ID", or null for nobody')
    change = ConversationChange(
        assign,
        answer.texts("labels", limits.LABELS, limits.LABEL),
        answer.texts("removeLabels", limits.LABELS, limits.LABEL),
        answer.flag("close"),
    )
    return None if change.is_empty else change


def read_silent(value: Mapping[str, Any]) -> bool:
    """Raises `BadContent`."""
    return _Object(value, "").flag("silent")


def _buttons(owner: _Object) -> tuple[LinkButton, ...]:
    buttons = owner.objects("buttons", limits.LINK_BUTTONS)
    return tuple(
        LinkButton(button.text("label", limits.LINK_LABEL, required=True), _address(button, "url"))
        for button in buttons
    )


_OTHER_SCHEMES = re.compile(r"(?:tel:\+?[0-9().\- ]{2,40}|mailto:[^\s@<>]{1,200}@[^\s@<>]{1,200})", re.I)


def _address(owner: _Object, name: str) -> str:
    address = owner.text(name, limits.ADDRESS, required=True)
    if not _OTHER_SCHEMES.fullmatch(address) and (fault := address_fault(address)):
        raise owner.fault(name, f"{fault}, or a tel: or mailto: address")
    return address


def _picture(card: _Object) -> str:
    picture = card.text("picture", limits.ADDRESS)
    if picture and (fault := address_fault(picture)):
        raise card.fault("picture", fault)
    return picture


def _card(card: _Object) -> Card:
    fields = card.objects("fields", limits.CARD_FIELDS)
    return Card(
        title=card.text("title", limits.CARD_TITLE, required=True),
        text=card.text("text", limits.CARD_TEXT, lines=True),
        picture=_picture(card),
        fields=tuple(
            CardField(
                field.text("name", limits.CARD_FIELD_NAME, required=True),
                field.text("value", limits.CARD_FIELD_VALUE, lines=True),
            )
            for field in fields
        ),
        buttons=_buttons(card),
    )


def _location(location: _Object) -> Location:
    latitude, longitude = location.number("latitude", -90, 90), location.number("longitude", -180, 180)
    if latitude is None or longitude is None:
        raise BadContent(f"{location.at} needs latitude and longitude")
    name, address = location.text("name", limits.PLACE), location.text("address", limits.PLACE)
    return Location(float(latitude), float(longitude), name, address)


def _contact(contact: _Object) -> Contact:
    read = Contact(
        contact.text("name", limits.CONTACT_NAME, required=True),
        contact.texts("phones", limits.CONTACT_ENTRIES, limits.PHONE),
        contact.texts("emails", limits.CONTACT_ENTRIES, limits.EMAIL),
    )
    if not read.phones and not read.emails:
        raise BadContent(f"{contact.at} needs at least one of phones and emails")
    return read


_FORBIDDEN_WORDS = frozenset({
    "pin", "pincode", "pwd", "passwd", "cvv", "cvc", "cvv2", "cvc2", "senha", "hasło", "haslo", "heslo", "jelszó",
    "şifre",
})  # fmt: skip
"""Too short to be looked for inside other words."""
_FORBIDDEN_INSIDE = (
    "password", "passphrase", "passcode", "passwort", "passwört", "kennwort", "kennwört", "geheimzahl",
    "wachtwoord", "adgangskode", "lösenord", "salasana", "contraseña", "contrasena", "пароль", "пароля",
    "motdepasse", "palavrapasse", "cardnumber", "creditcardno", "kartennummer", "kartennr", "kartenprüf",
    "numérodecarte", "numerodecarte", "númerodetarjeta", "numerodetarjeta", "numerodicarta", "numerodellacarta",
    "númerodocartão", "kaartnummer", "номеркарты", "密码", "密碼", "パスワード", "비밀번호", "暗証番号", "كلمةالمرور",
)  # fmt: skip
"""Looked for in the letters and digits alone, wherever words end: "Bankpasswort", "pass word"."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_LETTER = re.compile(r"[\W_]+")
_SPELLED = re.compile(r"(?<=\b\w) (?=\w\b)")
"""Between letters that stand alone: "P.I.N."."""


def asks_for_secret(text: str) -> bool:
    """Return True if the name or label of a field asks for a password, a PIN or the number of a payment card."""
    humps = _HUMP.sub(" ", unicodedata.normalize("NFKC", text)).casefold()
    words = _SPELLED.sub("", _NO_LETTER.sub(" ", humps)).split()
    letters = "".join(words)
    return not _FORBIDDEN_WORDS.isdisjoint(words) or any(word in letters for word in _FORBIDDEN_INSIDE)


_REFUSED = "must not ask for passwords, PINs or numbers of payment cards: chats are stored and read by others"


def _form(form: _Object) -> Form:
    fields = form.objects("fields", limits.FORM_FIELDS)
    if not fields:
        raise form.fault("fields", "must not be empty")
    read = Form(
        title=form.text("title", limits.FORM_TITLE, required=True),
        fields=tuple(_field(field) for field in fields),
        name=form.text("name", limits.FORM_NAME),
        text=form.text("text", limits.FORM_TEXT, lines=True),
        submit=form.text("submit", limits.FORM_SUBMIT),
    )
    names = [field.name for field in read.fields]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise form.fault(f"fields[{at}].name", "must not be the name of another field")
    return read


def _field_type(field: _Object) -> FieldType:
    kind = field.text("type", limits.FORM_NAME) or FieldType.TEXT
    if kind == "password":
        raise field.fault("type", _REFUSED)
    if kind not in list(FieldType):
        raise field.fault("type", f"must be one of {', '.join(FieldType)}")
    return FieldType(kind)


def _field(field: _Object) -> FormField:
    kind = _field_type(field)
    name = field.text("name", limits.FORM_NAME, required=True)
    label = field.text("label", limits.FORM_LABEL, required=True)
    for key, text in (("label", label), ("name", name)):
        if asks_for_secret(text):
            raise field.fault(key, _REFUSED)
    read = FormField(
        name=name,
        label=label,
        type=kind,
        options=_options(field, kind),
        min=field.number("min", most=limits.FORM_VALUE if kind.is_text else math.inf),
        max=field.number("max", least=1 if kind.is_text else -math.inf),
    )
    if read.min is not None and read.max is not None and read.min > read.max:
        raise field.fault("min", "must not be over max")
    default = field.value.get("default")
    try:
        default = None if default is None else entered_value(read, default)
    except Unfit as unfit:
        raise field.fault("default", f"is no value of a field of type {kind}: {unfit}") from None
    return replace(read, required=field.flag("required"), default=default)


def _options(field: _Object, kind: FieldType) -> tuple[FormOption, ...]:
    options: list[FormOption] = []
    for option in field.objects("options", limits.CHOICES):
        label = option.text("label", limits.CHOICE_LABEL, required=True)
        value = option.text("value", limits.CHOICE_VALUE) or label
        if any(label == other.label or value == other.value for other in options):
            raise BadContent(f"{option.at} has the label or value of another option")
        options.append(FormOption(label, value))
    if kind.has_options and not options:
        raise field.fault("options", f"must not be empty for a field of type {kind}")
    return tuple(options) if kind.has_options else ()
