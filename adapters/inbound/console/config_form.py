"""The form of a channel's configuration: made from its declaration, and read back into a configuration. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from domain.channels.model import ChannelDefinition, ConfigField, Format
from domain.instances.validation import with_stored_secrets

NAME, RESOURCE = "channelName", "downStreamResourceId"
LABELS = {NAME: "Name", RESOURCE: "Answered by"}
PREFIX = "config-"
REMOVE = "remove-"
"""Begins the name of the box that takes a stored secret away."""
_NUMBER = re.compile(r"-?[0-9]{1,15}")
_FRACTION = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,15}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_ACRONYMS = {"id", "url", "smtp", "imap", "api", "sid", "erp", "http", "https", "ip"}
YES_OR_NO = (("true", "Yes"), ("false", "No"))


@dataclass(frozen=True, slots=True)
class FormField:
    """A field as the page shows it. `value` is never that of a secret; `stored`: there is a secret to keep,
    `removable`: which may be taken away."""

    name: str
    key: str
    label: str
    kind: str
    help: str
    value: str
    required: bool
    basic: bool
    stored: bool
    removable: bool
    options: tuple[tuple[str, str], ...]


def label_of(key: str) -> str:
    """The name of a field in words: `botToken` is Bot token, `SERVER_URL` is Server URL."""
    found: list[str] = _WORD.findall(key) or [key]
    words = [word.lower() for word in found]
    words = [word.upper() if word in _ACRONYMS else word for word in words]
    return words[0][:1].upper() + words[0][1:] + "".join(f" {word}" for word in words[1:])


def in_words(definition: ChannelDefinition | None, text: str) -> str:
    """A text that names fields as the API does, with the labels of the form instead. Names that are ordinary words
    stay."""
    fields = definition.fields if definition else ()
    labels = {field.name: label_of(field.name) for field in fields if not field.name.islower()}
    labels.update(LABELS)
    names = "|".join(re.escape(name) for name in labels)
    return re.sub(
        rf"\b(?:config\.)?({names})\b(?!=)", lambda match: f"“{labels[match[1]]}”", text
    ).removeprefix("config: ")


def input_name(fault_field: str) -> str:
    """The name of an input for the field that a fault names: no dots, so that it can stand in selectors."""
    return fault_field.replace("config.", PREFIX, 1)


def fields_of(
    definition: ChannelDefinition, values: Mapping[str, object], stored: Mapping[str, object]
) -> list[FormField]:
    """`values` are to be shown; `stored` is the configuration that is changed, empty for a new one."""
    return [_field(definition, field, values, stored) for field in definition.fields]


def _field(
    definition: ChannelDefinition,
    field: ConfigField,
    values: Mapping[str, object],
    stored: Mapping[str, object],
) -> FormField:
    has_stored = field.secret and stored.get(field.name, "") != ""
    return FormField(
        name=PREFIX + field.name,
        key=field.name,
        label=label_of(field.name),
        kind=_kind(field),
        help=in_words(definition, field.description),
        value="" if field.secret else _text(values.get(field.name)),
        required=field.required and not has_stored,
        basic=definition.is_basic(field),
        stored=has_stored,
        removable=has_stored and not field.required,
        options=_options(field),
    )


def _kind(field: ConfigField) -> str:
    if field.secret:
        return "password"
    if field.choices or field.type == "boolean":
        return "select"
    return "area" if field.format is Format.LINES else "text"


def _options(field: ConfigField) -> tuple[tuple[str, str], ...]:
    choices = YES_OR_NO if field.type == "boolean" else tuple((choice, choice) for choice in field.choices)
    return (("", "Choose one" if field.required else "Default"), *choices) if choices else ()


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def posted_config(
    definition: ChannelDefinition, posted: Mapping[str, str], stored: Mapping[str, object]
) -> dict[str, object]:
    """The configuration that a form asks for. What was stored under names that the declaration does not have stays;
    None stands for a secret that is taken away."""
    known = {field.name for field in definition.fields}
    config = {name: value for name, value in stored.items() if name not in known}
    for field in definition.fields:
        if field.secret and REMOVE + field.name in posted:
            config[field.name] = None
        elif text := _trimmed(field, posted.get(PREFIX + field.name, "")):
            config[field.name] = _value(field, text)
    return config


def config_to_save(
    definition: ChannelDefinition, posted: Mapping[str, str], stored: Mapping[str, object]
) -> dict[str, object]:
    """The same with the stored secrets in their places."""
    asked = posted_config(definition, posted, stored)
    removed = {field.name for field in definition.fields if field.name in asked and asked[field.name] is None}
    config = with_stored_secrets(definition, asked, stored)
    return {name: value for name, value in config.items() if name not in removed}


def _trimmed(field: ConfigField, text: str) -> str:
    """Blanks and line ends around a value come from copying; a text of several lines has LF."""
    return text.replace("\r\n", "\n") if field.format is Format.LINES else text.strip()


def _value(field: ConfigField, text: str) -> object:
    """A text that is no value of the field's type stays a text: the check says what is wrong with it."""
    if field.type == "boolean" and text in ("true", "false"):
        return text == "true"
    if field.type == "number" and _NUMBER.fullmatch(text):
        return int(text)
    if field.type == "number" and _FRACTION.fullmatch(text):
        return float(text)
    return text
