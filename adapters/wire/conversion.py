"""Dataclasses of the domain to protobuf messages and back, field by field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from google.protobuf.message import Message

from adapters.wire.json_text import json_object, json_text
from adapters.wire.timestamps import from_us, to_us

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

V = TypeVar("V", bound="DataclassInstance")
M = TypeVar("M", bound=Message)


class Conversion(Generic[V, M]):
    """Between a dataclass and a message.

    Fields of the message correspond to attributes of the same name, or of the one in `names`. Times cross as
    microseconds in fields that end in `_us`, objects as JSON in fields that end in `_json`, None as a field that is
    not set. What does not correspond is handed to `to_pb` and `from_pb`.
    """

    def __init__(self, value: type[V], message: type[M], **names: str) -> None:
        self._value = value
        self._message = message
        hints = get_type_hints(value)
        attributes = {field.name for field in fields(value)}
        self._fields: list[tuple[str, str, bool, Callable[[Any], Any]]] = []
        for field in message.DESCRIPTOR.fields:
            attribute = names.get(field.name) or field.name.removesuffix("_us").removesuffix("_json")
            if attribute in attributes:
                read = _reader(field.name, hints[attribute])
                self._fields.append((field.name, attribute, field.has_presence, read))

    def to_pb(self, value: V, **more: Any) -> M:
        message = self._message(**more)
        for name, attribute, _, _ in self._fields:
            content = getattr(value, attribute)
            if content is None or name in more:
                continue
            if isinstance(content, datetime):
                setattr(message, name, to_us(content))
            elif name.endswith("_json"):
                setattr(message, name, json_text(content))
            elif isinstance(content, Mapping):
                getattr(message, name).update(content)
            elif isinstance(content, (tuple, list)):
                getattr(message, name).extend(content)
            else:
                setattr(message, name, content)
        return message

    def from_pb(self, message: M, **more: Any) -> V:
        """Raises `Invalid` for a field of JSON that is none."""
        values = {
            attribute: None if optional and not message.HasField(name) else read(getattr(message, name))
            for name, attribute, optional, read in self._fields
            if attribute not in more
        }
        return self._value(**values, **more)


def _reader(name: str, hint: Any) -> Callable[[Any], Any]:
    """What makes an attribute of the content of a field."""
    if name.endswith("_us"):
        return from_us
    if name.endswith("_json"):
        return lambda text: json_object(text, name)
    kind = get_origin(hint)
    if kind is Mapping:
        return dict
    if kind is tuple:
        return tuple
    enums = [kind for kind in (hint, *get_args(hint)) if isinstance(kind, type) and issubclass(kind, Enum)]
    return enums[0] if enums else _same


def _same(content: Any) -> Any:
    return content
