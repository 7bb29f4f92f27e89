"""Forms of resources as modals of Slack. Pure.

Sources: https://docs.slack.dev/surfaces/modals, https://docs.slack.dev/reference/views/modal-views and
https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
"""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.channels.common.messages import cut_labels
from adapters.outbound.rendering import Markup, render
from domain.channels.form_values import BOOLEANS, Unfit, entered_value
from domain.channels.rich import FieldType, Form, FormField, FormOption

from .blocks import BLOCK_LIMIT, section
from .config import SlackConfig, SlackTarget

CALLBACK = "resource-form"
"""The callback id of our modals; others are those of other programs of the app."""
_TITLE, _SUBMIT, _OPTION, _OPTION_VALUE, _TEXT = 24, 24, 75, 150, 3000


def shows_form(config: SlackConfig, target: SlackTarget, form: Form) -> bool:
    """Return True if each option and each text is short enough for Slack."""
    return all(map(_fits, form.fields))


def _fits(field: FormField) -> bool:
    is_long = field.type.is_text and max(field.min or 0, len(str(field.default or ""))) > _TEXT
    return not is_long and all(
        len(option.label) <= _OPTION and len(option.value) <= _OPTION_VALUE for option in field.options
    )


def view(form: Form, reference: str, target: SlackTarget) -> dict[str, Any]:
    """The modal. What it sends names the conversation by `private_metadata`, which nobody can change."""
    place = {"form": reference, "channel": target.channel, "thread": target.thread_ts}
    introduction = [section(piece.text) for piece in render(Markup.MRKDWN, form.text, BLOCK_LIMIT)]
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "private_metadata": json.dumps(place),
        "title": _plain(form.title, _TITLE),
        "submit": _plain(form.submit or "Send", _SUBMIT),
        "close": _plain("Cancel", _SUBMIT),
        "blocks": [*introduction, *map(_input, form.fields)],
    }


def submitted(payload: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, object]] | None:
    """The place that our modal named, and what was entered; None for a modal of another program."""
    if text(payload, "view", "callback_id") != CALLBACK:
        return None
    try:
        place = json.loads(text(payload, "view", "private_metadata"))
    except ValueError:
        return None
    entered = {name: _entered(state) for name, _, state in _states(payload)}
    return {key: text(place, key) for key in ("form", "channel", "thread")}, entered


def faults(payload: Mapping[str, Any]) -> dict[str, str]:
    """What does not fit of what was entered into our modal, by the names of its fields, as far as Slack itself does
    not check it: Slack sees to what is required, to the bounds and to the options."""
    faults: dict[str, str] = {}
    for name, kind, state in _states(payload):
        if kind in list(FieldType) and not FieldType(kind).has_options:
            try:
                entered_value(FormField(name, name, FieldType(kind)), _entered(state))
            except Unfit as unfit:
                faults[name] = str(unfit)
    return faults


def _states(payload: Mapping[str, Any]) -> Iterator[tuple[str, str, object]]:
    """The name and type of each field, and its state."""
    states = at(payload, "view", "state", "values")
    for name, actions in states.items() if isinstance(states, dict) else ():
        for kind, state in actions.items() if isinstance(actions, dict) else ():
            yield name, kind, state


def _entered(state: object) -> object:
    if text(state, "type") == "multi_static_select":
        return [text(option, "value") for option in items(state, "selected_options")]
    return text(state, "value") or text(state, "selected_date") or text(state, "selected_option", "value")


def _input(field: FormField) -> dict[str, Any]:
    return {
        "type": "input",
        "block_id": field.name,
        "label": _plain(field.label, 2000),
        "optional": not field.required,
        "element": {"action_id": field.type, **_element(field)},
    }


def _element(field: FormField) -> dict[str, Any]:
    default = field.default
    match field.type:
        case FieldType.NUMBER:
            bounds = {"min_value": field.min, "max_value": field.max, "initial_value": default}
            shown = {key: _digits(bound) for key, bound in bounds.items() if isinstance(bound, int | float)}
            return {"type": "number_input", "is_decimal_allowed": True, **shown}
        case FieldType.EMAIL:
            return {"type": "email_text_input", **({"initial_value": default} if default else {})}
        case FieldType.DATE:
            return {"type": "datepicker", **({"initial_date": default} if default else {})}
        case FieldType.BOOLEAN:
            chosen = [
                option for option in BOOLEANS if default is not None and (option.value == "yes") == default
            ]
            return _select(
                "radio_buttons", _options(BOOLEANS), [option.value for option in chosen], single=True
            )
        case FieldType.CHOICE:
            return _select("static_select", _options(field.options), [default], single=True)
        case FieldType.CHOICES:
            values = default if isinstance(default, list) else []
            return _select("multi_static_select", _options(field.options), values, single=False)
    return {"type": "plain_text_input", "multiline": field.type is FieldType.MULTILINE, **_lengths(field)}


def _digits(number: float) -> str:
    """The number without an exponent."""
    return f"{Decimal(f'{number:.15g}'):f}"


def _lengths(field: FormField) -> dict[str, Any]:
    lengths = {"min_length": field.min, "max_length": field.max} if field.type.is_text else {}
    bounds = {key: min(int(length), _TEXT) for key, length in lengths.items() if length is not None}
    shown: dict[str, Any] = {key: length for key, length in bounds.items() if length >= 1}
    return shown | ({"initial_value": field.default} if field.default else {})


def _options(options: tuple[FormOption, ...]) -> list[dict[str, Any]]:
    labels = cut_labels([option.label for option in options], _OPTION)
    return [
        {"text": {"type": "plain_text", "text": label}, "value": option.value}
        for label, option in zip(labels, options, strict=True)
    ]


def _select(kind: str, options: list[dict[str, Any]], chosen: list[Any], *, single: bool) -> dict[str, Any]:
    initial = [option for option in options if option["value"] in chosen]
    element: dict[str, Any] = {"type": kind, "options": options}
    if initial:
        element |= {"initial_option": initial[0]} if single else {"initial_options": initial}
    return element


def _plain(shown: str, size: int) -> dict[str, str]:
    return {"type": "plain_text", "text": cut_labels([shown], size)[0]}
