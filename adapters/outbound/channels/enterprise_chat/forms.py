"""Forms of resources as adaptive cards with inputs. Pure.

Source: https://adaptivecards.io/explorer/Input.Text.html
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from adapters.outbound.rendering import Markup, render
from domain.channels.form_values import BOOLEANS
from domain.channels.model import TextLimit
from domain.channels.rich import FieldType, Form, FormField, FormOption
from domain.conversations.choices import literal

from .cards import attachment, size_of

PREFIX = "field:"
"""What the id of an input begins with, before the name of its field."""
VERB = "decide"
_INVALID = "This does not fit."
_STYLES = {FieldType.EMAIL: "Email", FieldType.PHONE: "Tel"}

Json = dict[str, Any]


def form_payload(form: Form, reference: str, limit: TextLimit) -> Json:
    """The message of a form."""
    head = "\n\n".join(filter(None, (f"**{literal(form.title)}**", form.text.strip())))
    shown = render(Markup.CARD, head, limit)
    body: list[Json] = [element for piece in shown for element in json.loads(piece.text)]
    label = form.submit or "Send"
    action = {"title": label, "data": {"choice": reference, "label": label}}
    fallback = {"type": "Action.Submit", **action}
    actions = [{"type": "Action.Execute", "verb": VERB, **action, "fallback": fallback}]
    return {"content": {"attachments": [attachment([*body, *map(_input, form.fields)], actions)]}}


def entered(data: Mapping[str, Any]) -> dict[str, object]:
    """The values that were entered, by the names of the fields."""
    return {name.removeprefix(PREFIX): value for name, value in data.items() if name.startswith(PREFIX)}


def fits(form: Form, limit: TextLimit) -> bool:
    """Return True unless a value has the comma by which Teams joins several, or the card is too large."""
    if size_of(form_payload(form, "", limit)) > limit.size:
        return False
    several = (field for field in form.fields if field.type is FieldType.CHOICES)
    return not any("," in option.value for field in several for option in field.options)


def _input(field: FormField) -> Json:
    common = {
        "id": f"{PREFIX}{field.name}",
        "label": field.label,
        "isRequired": field.required,
        "errorMessage": _INVALID,
    }
    kind = _KINDS.get(field.type, _text)(field)
    return {**common, **{key: value for key, value in kind.items() if value is not None}}


def _text(field: FormField) -> Json:
    longest = int(field.max) if field.type.is_text and field.max and field.max >= 1 else None
    is_multiline = field.type is FieldType.MULTILINE or None
    style = _STYLES.get(field.type)
    return {
        "type": "Input.Text",
        "isMultiline": is_multiline,
        "style": style,
        "maxLength": longest,
        "value": field.default,
    }


def _number(field: FormField) -> Json:
    return {"type": "Input.Number", "min": field.min, "max": field.max, "value": field.default}


def _date(field: FormField) -> Json:
    return {"type": "Input.Date", "value": field.default}


def _boolean(field: FormField) -> Json:
    value = {True: "yes", False: "no"}.get(field.default) if isinstance(field.default, bool) else None
    return {"type": "Input.ChoiceSet", "style": "expanded", "choices": _choices(BOOLEANS), "value": value}


def _choice(field: FormField) -> Json:
    return {"type": "Input.ChoiceSet", "choices": _choices(field.options), "value": field.default}


def _several(field: FormField) -> Json:
    value = ",".join(map(str, field.default)) if isinstance(field.default, list) else None
    return {**_choice(field), "isMultiSelect": True, "value": value}


def _choices(options: tuple[FormOption, ...]) -> list[Json]:
    return [{"title": option.label, "value": option.value} for option in options]


_KINDS: Mapping[FieldType, Callable[[FormField], Json]] = {
    FieldType.NUMBER: _number,
    FieldType.DATE: _date,
    FieldType.BOOLEAN: _boolean,
    FieldType.CHOICE: _choice,
    FieldType.CHOICES: _several,
}
