"""Checks an instance's configuration against its channel's definition. Pure."""

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from domain import limits
from domain.addresses import address_fault
from domain.channels.model import ChannelDefinition, ConfigField, Format
from domain.refusals import Fault, Invalid
from domain.routing.resource import parse_resource

LONGEST_VALUE = 20_000
LONGEST_ID = 300
EVENTS = ("create", "write", "unlink")

_LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?"
_HOST = rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*|(?=[^:]*:)\[?[0-9A-Fa-f:.]{{2,45}}\]?"
_EMAIL = r"[^@\s<>,;]{1,64}@[^@\s<>,;]{1,253}"
_ID = rf"(?!\.\.?$)[^\s\x00-\x1f\x7f/\\?#%]{{1,{LONGEST_ID}}}"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


MASK = "********"
"""In the place of a secret."""


def faults_of(
    definition: ChannelDefinition, name: str | None, config: object, resource_id: str | None
) -> list[Fault]:
    """Returns the faults of an instance before it is saved. `name` None: the name is not changed."""
    faults: list[Fault] = []
    if name is not None:
        fault = limits.text_fault(name, limits.CHANNEL_NAME) if name.strip() else "must not be empty"
        faults += [Fault("channelName", fault)] if fault else []
    if resource_id is not None:
        try:
            parse_resource(resource_id)
        except Invalid as invalid:
            faults += invalid.faults
    if not isinstance(config, dict):
        return [*faults, Fault("config", "must be an object")]
    if fault := limits.json_fault(config):
        return [*faults, Fault("config", fault)]
    return [*faults, *(fault for field in definition.fields for fault in _check(field, config))]


def with_stored_secrets(
    definition: ChannelDefinition, config: Mapping[str, object], stored: Mapping[str, object]
) -> dict[str, object]:
    """A configuration in which stored secrets stand for those that it leaves out or empty; None takes one away."""
    left_out = {
        field.name for field in definition.fields if field.secret and config.get(field.name, "") == ""
    }
    return {**config, **{name: stored[name] for name in stored if name in left_out}}


def masked(definition: ChannelDefinition, config: Mapping[str, object]) -> dict[str, object]:
    """A configuration for people who may not see its secrets, nor fields that the definition does not know."""
    shown = {field.name for field in definition.fields if not field.secret}
    return {name: value if name in shown or value in ("", None) else MASK for name, value in config.items()}


def advice(definition: ChannelDefinition, config: Mapping[str, object]) -> list[str]:
    """What the definition says should be given and is not; the instance works without it, in part."""
    return [
        "config: at least one should be given: "
        + ", or ".join(" together with ".join(names) for names in alternatives)
        for alternatives in definition.advice
        if not any(all(_given(config.get(name)) for name in names) for names in alternatives)
    ]


def _given(value: Any) -> bool:
    return value is not None and value != ""


def _check(field: ConfigField, config: Mapping[str, object]) -> list[Fault]:
    name = f"config.{field.name}"
    value = config.get(field.name)
    if not _given(value):
        return [Fault(name, "is required")] if field.required else []
    if fault := _wrong_type(field, value):
        return [Fault(name, fault)]
    if isinstance(value, str) and not value.strip() and field.required:
        return [Fault(name, "must not be blank")]
    if field.choices and value not in field.choices:
        return [Fault(name, "must be one of " + "'" + "', '".join(field.choices) + "'")]
    fault = (field.check or _RULES[field.format])(value)
    return [Fault(name, fault)] if fault else []


def _wrong_type(field: ConfigField, value: Any) -> str | None:
    match field.type:
        case "string":
            if field.accepts_number and isinstance(value, (int, float)) and not isinstance(value, bool):
                return _number_fault(value)
            if not isinstance(value, str):
                return "must be a string"
            return f"must be at most {LONGEST_VALUE} characters" if len(value) > LONGEST_VALUE else None
        case "boolean":
            return None if isinstance(value, bool) else "must be true or false"
        case "number":
            return _number_fault(value)


def _number_fault(value: Any) -> str | None:
    """JSON integers are unbounded; a number that no float holds is refused."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return None if is_number and abs(value) <= sys.float_info.max else "must be a number"


def text_fault(value: Any) -> str | None:
    if isinstance(value, str) and _CONTROL.search(value):
        return "must be one line, without NUL or other control characters"
    return None


def _matches(pattern: str, fault: str) -> Callable[[str], str | None]:
    """A rule for texts that match a pattern as a whole."""
    compiled = re.compile(pattern, re.DOTALL)
    return lambda value: None if compiled.fullmatch(value) else fault


def _base_url(value: str) -> str | None:
    if fault := address_fault(value):
        return fault
    parts = urlsplit(value)
    if parts.query or parts.fragment or "?" in value or "#" in value:
        return "must be an address without a query (?) and fragment (#): paths are put behind it"
    return None


def _port(value: float) -> str | None:
    return None if value == int(value) and 1 <= value <= 65535 else "must be a whole number from 1 to 65535"


def _interval(value: float) -> str | None:
    return (
        None
        if 0.01 <= value <= 44_640
        else "must be minutes from 0.01 to 44640 (31 days); fractions are allowed"
    )


def _events(value: str) -> str | None:
    items = [item.strip() for item in value.split(",") if item.strip()]
    if not items or any(item not in EVENTS for item in items):
        return "must be a comma-separated list of create, write, unlink"
    return None


_RULES: Mapping[Format, Callable[[Any], str | None]] = {
    Format.TEXT: text_fault,
    Format.LINES: _matches(r"[^\0]*", "must not contain a NUL character"),
    Format.ID: _matches(_ID, f"must be an id: 1 to {LONGEST_ID} characters without blanks and / \\ ? # %"),
    Format.URL: address_fault,
    Format.BASE_URL: _base_url,
    Format.HOST: _matches(_HOST, "must be a host name or an IP address, without a scheme, port or path"),
    Format.PORT: _port,
    Format.EMAIL: _matches(_EMAIL, "must be an e-mail address"),
    Format.ED25519_HEX: _matches(r"[0-9A-Fa-f]{64}", "must be an Ed25519 public key: 64 hexadecimal digits"),
    Format.INTERVAL_MINUTES: _interval,
    Format.CSV: _matches(r".*[^,\s].*", "must hold at least one entry; separate entries by commas"),
    Format.EVENTS_CSV: _events,
}
