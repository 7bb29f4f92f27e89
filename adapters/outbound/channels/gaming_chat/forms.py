"""Forms of resources as modals of Discord. Pure.

Sources: https://docs.discord.com/developers/components/reference#label and
https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-modal
"""

from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.channels.common.messages import cut_labels
from domain.channels.form_values import options_of
from domain.channels.rich import FieldType, Form, FormField
from domain.conversations.forms import is_form

from .config import DiscordConfig, DiscordTarget

MODAL = 9
"""The type of an answer to an interaction that opens a modal."""
_FIELDS = 5
_TITLE, _LABEL, _DESCRIPTION, _OPTION, _TEXT = 45, 45, 100, 100, 4000
_LABEL_TYPE, _SELECT, _TEXT_INPUT = 18, 3, 4
_SHORT, _PARAGRAPH = 1, 2


def shows_form(config: DiscordConfig, target: DiscordTarget, form: Form) -> bool:
    """Return True if the form fits into one modal: five fields, short labels and options."""
    return len(form.fields) <= _FIELDS and all(map(_fits, form.fields))


def _fits(field: FormField) -> bool:
    shown = (text for option in field.options for text in (option.label, option.value))
    return len(field.label) <= _DESCRIPTION and all(len(text) <= _OPTION for text in shown)


def modal(form: Form, reference: str) -> dict[str, Any]:
    """The answer to the press of its button."""
    data = {
        "custom_id": reference,
        "title": cut_labels([form.title], _TITLE)[0],
        "components": [_labelled(field) for field in form.fields],
    }
    return {"type": MODAL, "data": data}


def submitted(data: Any) -> dict[str, object] | None:
    """The values that were entered into a modal of ours, None for one of another program."""
    if not is_form(text(data, "custom_id")):
        return None
    fields = [at(label, "component") for label in items(data, "components")]
    return {text(field, "custom_id"): _entered(field) for field in fields}


def _entered(field: object) -> object:
    if at(field, "type") != _SELECT:
        return text(field, "value")
    return [value for value in items(field, "values") if isinstance(value, str)]


def _labelled(field: FormField) -> dict[str, Any]:
    label = cut_labels([field.label], _LABEL)[0]
    described = {"description": field.label} if label != field.label else {}
    return {"type": _LABEL_TYPE, "label": label, **described, "component": _component(field)}


def _component(field: FormField) -> dict[str, Any]:
    common = {"custom_id": field.name, "required": field.required}
    if options := options_of(field):
        chosen = _chosen(field)
        labels = cut_labels([option.label for option in options], _OPTION)
        listed = [
            {"label": label, "value": option.value, "default": option.value in chosen}
            for label, option in zip(labels, options, strict=True)
        ]
        most = len(options) if field.type is FieldType.CHOICES else 1
        least = 1 if field.required else 0
        return {"type": _SELECT, **common, "options": listed, "min_values": least, "max_values": most}
    style = _PARAGRAPH if field.type is FieldType.MULTILINE else _SHORT
    value = {"value": str(field.default)} if field.default is not None else {}
    return {
        "type": _TEXT_INPUT,
        **common,
        "style": style,
        **value,
        **_lengths(field),
        **({"placeholder": "2026-12-31"} if field.type is FieldType.DATE else {}),
    }


def _chosen(field: FormField) -> list[object]:
    """The values of the options that are picked at first."""
    if isinstance(field.default, bool):
        return ["yes" if field.default else "no"]
    return field.default if isinstance(field.default, list) else [field.default]


def _lengths(field: FormField) -> dict[str, int]:
    lengths = {"min_length": field.min, "max_length": field.max} if field.type.is_text else {}
    bounds = {key: min(int(length), _TEXT) for key, length in lengths.items() if length is not None}
    return {key: length for key, length in bounds.items() if length >= 1}
