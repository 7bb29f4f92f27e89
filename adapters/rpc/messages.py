"""Values of the domain to protobuf messages and back, by the type hints of dataclasses and the fields of messages.

A field of a message corresponds to the attribute of the same name, or to the one that `RENAMED` has for it. Times are
microseconds since the epoch in fields that end in `_us`, JSON objects are text in fields that end in `_json`, None is
a field that is not set. The attributes of a dataclass that has no field of its own are fields of its owner's message.
A pair of numbers is a message of two fields, an optional list a message of one repeated field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from domain import limits
from domain.access.model import Role, parse_role
from domain.access.sharing import Permission
from domain.channels.model import ChannelDefinition
from domain.conversations.model import Direction, Handler
from domain.feedback.model import Rating, parse_rating
from domain.instances.model import ConfigDraft, Instance, InstanceChange, InstanceView, NewInstance, Pairing
from domain.json_text import TOO_DEEP, TOO_LONG, TooDeep, TooLong, loads
from domain.knowledge import model as knowledge
from domain.knowledge.ranking import ExplainedHit
from domain.knowledge.rules import Mode, mode_of
from domain.knowledge.sources.model import Source, SourcePage
from domain.monitoring.model import Period, parse_direction, parse_period
from domain.paging import Page, Slice
from domain.refusals import Fault, Invalid
from domain.verification.model import BotLink


def json_text(value: Mapping[str, Any]) -> str:
    """A JSON object as the text of a field, as short as it can be: its length has a limit."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_object(text: str, field: str) -> dict[str, Any]:
    """The object that a field holds as text. Raises `Invalid`, naming the field, for anything else, for a text that
    is too long, and for what could not be written out again: NaN, infinities, lone surrogates, too many levels.
    """
    if len(text) > limits.JSON_BYTES:
        raise Invalid.of([Fault(field, f"must be at most {limits.JSON_BYTES // 1024} KB of JSON")])
    try:
        value = loads(text)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (TooDeep, TooLong) as error:
        raise Invalid.of([Fault(field, TOO_DEEP if isinstance(error, TooDeep) else TOO_LONG)]) from None
    except ValueError:  # the errors of decoding and encoding are ValueErrors
        value = None
    if not isinstance(value, dict):
        raise Invalid.of([Fault(field, "must be the JSON text of an object")])
    return value


_RESOURCE = {"downstream_resource_id": "resource_id"}
_HASH = {"file_id": "file_hash"}

RENAMED: Mapping[type, Mapping[str, str]] = {
    knowledge.Base: {"permission_level": "level"},
    BotLink: {"deep_link": "address"},
    ChannelDefinition: {"setup_instructions": "setup"},
    knowledge.Chunk: {"chunk_id": "id", "chunk": "text", **_HASH},
    ConfigDraft: _RESOURCE,
    ExplainedHit: {"chunk": "text", **_HASH},
    knowledge.FileRecord: {
        "knowledge_base_id": "base_id",
        "file_name": "name",
        "file_path": "blob_key",
        "file_hash": "hash",
    },
    knowledge.FileState: {"knowledge_base_id": "base_id", "file_id": "hash", "file_name": "name"},
    Instance: _RESOURCE,
    InstanceView: {"permission_level": "level"},
    InstanceChange: _RESOURCE,
    NewInstance: _RESOURCE,
    Pairing: {"pairing_code": "code"},
    Permission: {"permission_level": "level"},
    knowledge.SearchResult: {"chunk": "text", **_HASH},
    Source: {"knowledge_base_id": "base_id"},
    SourcePage: _HASH,
    knowledge.TextWindow: _HASH,
    knowledge.UploadedFile: {"file_id": "hash", "file_name": "name", "file_size": "size"},
}
"""Attributes of dataclasses by the fields of their messages."""


def _handler(word: str) -> Handler:
    if word not in tuple(Handler):
        raise Invalid.of([Fault("handler", "must be 'person' or 'resource'")])
    return Handler(word)


PARSED: Mapping[type[Enum], Callable[[Any], Any]] = {
    Direction: parse_direction,
    Rating: parse_rating,
    Handler: _handler,
    Mode: mode_of,
    Period: parse_period,
    Role: parse_role,
}
"""Enumerations whose unknown words have an error of their own."""


Descriptor: TypeAlias = Any
Field: TypeAlias = Any
"""Descriptors of messages and fields; protobuf's stubs have two unrelated classes for each."""

V = TypeVar("V")
M = TypeVar("M", bound=Message)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

OMITTED = object()
REQUIRED = object()

LISTS = (Page, Slice)

WHOLE_NUMBERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
"""The least and the greatest number that a field of that type holds."""


def to_us(time: datetime) -> int:
    """Microseconds since the epoch."""
    return (time - EPOCH) // MICROSECOND


def from_us(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def to_message(value: Any, kind: type[M]) -> M:
    message = kind()
    fill(message, value)
    return message


def fill(message: Message, value: Any) -> None:
    """Sets the fields of the message for which the dataclass has attributes."""
    for field, path in _attributes(cast(Any, type(value)), message.DESCRIPTOR):
        content = value
        for name in path:
            content = getattr(content, name)
        write(message, field, content)


def write(message: Message, field: Field, content: Any) -> None:
    """Sets one field; None leaves it unset."""
    if content is None:
        return
    kind = field.message_type
    if field.is_repeated and not _is_map(field):
        getattr(message, field.name).extend(_single(field, entry) for entry in content)
    elif field.is_repeated:
        getattr(message, field.name).update(content)
    elif kind is None:
        setattr(message, field.name, _single(field, content))
    else:
        getattr(message, field.name).SetInParent()
        _fill_any(getattr(message, field.name), content)


def _single(field: Field, content: Any) -> Any:
    if field.message_type is not None:
        message = GetMessageClass(field.message_type)()
        _fill_any(message, content)
        return message
    if isinstance(content, datetime):
        return to_us(content)
    if isinstance(content, Mapping):
        return json_text(content)
    if field.cpp_type in WHOLE_NUMBERS:  # the core refuses the nearest number as it would refuse this one
        least, greatest = WHOLE_NUMBERS[field.cpp_type]
        return min(max(content, least), greatest)
    return content


def _fill_any(message: Message, content: Any) -> None:
    if is_dataclass(content):
        fill(message, content)
    elif _is_list(message.DESCRIPTOR):
        write(message, message.DESCRIPTOR.fields[0], content)
    else:
        for field, entry in zip(message.DESCRIPTOR.fields, content, strict=True):
            write(message, field, entry)


def to_value(message: Message, kind: type[V]) -> V:
    """The dataclass that lies in a message; what is not set gets its default. Raises `Invalid`, naming the field, for
    JSON that is no object and for an unknown word of an enumeration."""
    values = {
        name: take(message, parameter) for name, parameter in _parameters(cast(Any, kind), message.DESCRIPTOR)
    }
    make = get_origin(kind) or kind
    return cast(V, make(**{name: value for name, value in values.items() if value is not OMITTED}))


class Parameter(NamedTuple):
    """How an attribute or an argument is read from a message. `field`: None if the message has none.

    `unset`: what stands for a field that is not set; `OMITTED`: the default of the attribute, `REQUIRED`: the empty
    value of the field.
    """

    field: Field | None
    hint: Any
    unset: Any

    @classmethod
    def of(cls, field: Field | None, hint: Any, *, has_default: bool) -> Parameter:
        is_optional = _plain(hint) is not hint
        return cls(field, hint, OMITTED if has_default else None if is_optional else REQUIRED)


def put(message: Message, parameter: Parameter, content: Any) -> None:
    """Sets what `take` reads."""
    if parameter.field is None:
        fill(message, content)
    else:
        write(message, parameter.field, content)


def take(message: Message, parameter: Parameter) -> Any:
    """The value of a parameter in a message. Raises `Invalid`."""
    field, hint, unset = parameter
    kind = _plain(hint)
    if field is None:
        return to_value(message, kind) if unset is REQUIRED else unset
    if not _is_set(message, field, hint) and unset is not REQUIRED:
        return unset
    content = getattr(message, field.name)
    if field.is_repeated and not _is_map(field):
        entries = [_entry(field, entry, get_args(kind)[0]) for entry in content]
        return tuple(entries) if get_origin(kind) is tuple else entries
    return _entry(field, content, kind)


def _is_set(message: Message, field: Field, hint: Any) -> bool:
    """Lists and optional texts that are empty count as not set."""
    if field.has_presence:
        return message.HasField(field.name)
    if field.is_repeated:
        return bool(getattr(message, field.name))
    may_be_empty = _plain(hint) is hint and not _is_enum(hint) and not field.name.endswith("_json")
    return may_be_empty or getattr(message, field.name) != ""


def _entry(field: Field, content: Any, kind: Any) -> Any:
    """One content of a field, which may be repeated."""
    if isinstance(content, Message):
        if is_dataclass(kind):
            return to_value(content, kind)  # type: ignore[arg-type]
        if _is_list(content.DESCRIPTOR):
            return take(content, Parameter(content.DESCRIPTOR.fields[0], kind, REQUIRED))
        return tuple(getattr(content, field.name) for field in content.DESCRIPTOR.fields)
    if field.name.endswith("_us"):
        return from_us(content)
    if field.name.endswith("_json"):
        return json_object(content, field.name)
    if get_origin(kind) in (Mapping, dict):
        return dict(content)
    return _word(field.name, content, kind) if _is_enum(kind) else content


def _word(name: str, content: Any, kind: Any) -> Any:
    if parse := PARSED.get(kind):
        return parse(content)
    try:
        return kind(content)
    except ValueError:
        raise Invalid.of(
            [Fault(name, f"must be one of {', '.join(str(word.value) for word in kind)}")]
        ) from None


@cache
def _attributes(kind: Any, descriptor: Descriptor) -> list[tuple[Field, tuple[str, ...]]]:
    """Each field of a message that is filled by a dataclass, and the way to its content."""
    hints, attributes = get_type_hints(kind), attributes_of(descriptor, renamed_in(kind, descriptor))
    filled = [
        (field, (name,))
        for name, field in attributes.items()
        if name in hints or isinstance(getattr(kind, name, None), property)
    ]
    flat = [name for name, hint in hints.items() if name not in attributes and is_dataclass(hint)]
    return [
        *filled,
        *((field, (name, *path)) for name in flat for field, path in _attributes(hints[name], descriptor)),
    ]


@cache
def _parameters(kind: Any, descriptor: Descriptor) -> Sequence[tuple[str, Parameter]]:
    """What makes a dataclass of a message."""
    origin = get_origin(kind) or kind
    hints, attributes = hints_of(kind), attributes_of(descriptor, renamed_in(origin, descriptor))
    return [
        (
            field.name,
            Parameter.of(
                attributes.get(field.name),
                hints[field.name],
                has_default=field.default is not MISSING or field.default_factory is not MISSING,
            ),
        )
        for field in fields(origin)
    ]


def hints_of(kind: Any) -> dict[str, Any]:
    """The type hints of a dataclass, which may be generic, as `Page[Message, str]`."""
    origin = get_origin(kind) or kind
    types = dict(zip(getattr(origin, "__parameters__", ()), get_args(kind), strict=True))
    return {
        name: hint[tuple(types[variable] for variable in hint.__parameters__)]
        if getattr(hint, "__parameters__", ())
        else hint
        for name, hint in get_type_hints(origin).items()
    }


def renamed_in(kind: Any, descriptor: Descriptor) -> Mapping[str, str]:
    """The attributes of a dataclass by the fields that have another name. Each message names the items of a page
    after what they are."""
    if kind in LISTS:
        return {next(field.name for field in descriptor.fields if field.is_repeated): "items"}
    return RENAMED.get(kind, {})


def attributes_of(descriptor: Descriptor, renamed: Mapping[str, str]) -> Mapping[str, Field]:
    """The fields of a message by the names that the domain has for them."""
    return {
        renamed.get(field.name, field.name.removesuffix("_us").removesuffix("_json")): field
        for field in descriptor.fields
    }


def _plain(hint: Any) -> Any:
    """The hint without `| None`."""
    if get_origin(hint) in (Union, UnionType):
        return next(option for option in get_args(hint) if option is not NoneType)
    return hint


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _is_map(field: Field) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _is_list(descriptor: Descriptor) -> bool:
    """Return True for a message that only wraps a list."""
    return len(descriptor.fields) == 1 and descriptor.fields[0].is_repeated
