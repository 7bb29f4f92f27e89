"""Typed values of stored JSON objects: the config of an instance and the target of a reply.

A channel declares both as dataclasses. The declaration of a config gives its fields in the catalogue, their
validation, the list of secrets and the documentation.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from domain.channels import model

V = TypeVar("V")

MOST_CACHED = 10_000
"""Parsed configs that are kept, a value for each config in the cache of instances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelConfig:
    """Base of all config types. Their field names give the keys of the JSON object in camelCase."""


class ChannelTarget:
    """Base of all target types, dataclasses that may be frozen or not. Their field names are the keys of the JSON
    object."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonConfig(ChannelConfig):
    """The optional fields of most channels."""

    identify_users: bool = field(default=False, metadata={"field": model.IDENTIFY_USERS})
    access_mode: str = field(default="", metadata={"field": model.ACCESS_MODE})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatConfig(CommonConfig):
    """The optional fields of channels where people chat."""

    merge_seconds: float | None = field(default=None, metadata={"field": model.MERGE_SECONDS})
    transcribe: bool = field(default=True, metadata={"field": model.TRANSCRIBE})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConfig(ChatConfig):
    """The optional fields of channels where the bot may be in groups."""

    require_mention: bool = field(default=True, metadata={"field": model.REQUIRE_MENTION})
    allowed_channels: str = field(default="", metadata={"field": model.ALLOWED_CHANNELS})

    def allows(self, *ids: str) -> bool:
        """Return True if the bot may answer in a group or channel that has one of these ids."""
        allowed = {id.strip() for id in self.allowed_channels.split(",")} - {""}
        return not allowed or not allowed.isdisjoint(ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadConfig(GroupConfig):
    """The optional fields of channels that have threads."""

    follow_threads: bool = field(default=True, metadata={"field": model.FOLLOW_THREADS})
    reply_in_thread: bool = field(default=False, metadata={"field": model.REPLY_IN_THREAD})


def setting(
    description: str,
    *,
    required: bool = False,
    secret: bool = False,
    basic: bool = False,
    format: model.Format = model.Format.TEXT,
    choices: tuple[str, ...] = (),
    check: Callable[[Any], str | None] | None = None,
    suggested: str = "",
    accepts_number: bool = False,
    name: str = "",
    default: object = None,
) -> Any:
    """Declares a field of a config. Where a stored config lacks it, or has another type there, it is `default`, and
    without one an empty text, False, or None for a number. `name` is the key in the JSON object where camelCase does
    not give it."""
    declared = partial(
        model.ConfigField,
        description=description,
        required=required,
        format=format,
        choices=choices,
        secret=secret,
        basic=basic,
        check=check,
        suggested=suggested,
        accepts_number=accepts_number,
    )
    return field(default=default, metadata={"declared": declared, "key": name})


def stored_as(key: str, default: object = "") -> Any:
    """Declares a field of a target whose key in the JSON object is not its name."""
    return field(default=default, metadata={"key": key})


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    key: str
    types: tuple[type, ...]
    default: object

    def accepted(self, value: object) -> object:
        """The value as the field holds it, the default for one of another type."""
        if type(value) in self.types:
            return value
        if type(value) is list and tuple in self.types:
            return tuple(value)
        return value if not isinstance(value, bool) and isinstance(value, self.types) else self.default


class JsonModel(Generic[V]):
    """Converts JSON objects to the dataclass `type_` and back.

    A value of another type than declared counts as missing, so that rows of older versions can be read.
    """

    def __init__(self, type_: type[V]) -> None:
        self.type = type_
        hints = get_type_hints(type_)
        self._columns = [
            _column(declared, hints[declared.name], self._key(declared))
            for declared in fields(cast(Any, type_))
        ]
        self._by_key = {column.key: column for column in self._columns}
        self._defaults = {column.name: column.default for column in self._columns}

    def _key(self, declared: Field[Any]) -> str:
        return declared.metadata.get("key") or declared.name

    def load(self, values: Mapping[str, object]) -> V:
        """Never raises for what stands in the JSON object."""
        members = self._defaults.copy()
        for key, stored in values.items():
            if column := self._by_key.get(key):
                members[column.name] = column.accepted(stored)
        return self.type(**members)

    def dump(self, typed: V) -> dict[str, Any]:
        """The JSON object, without the fields that have their default."""
        return {
            column.key: member
            for column in self._columns
            if (member := getattr(typed, column.name)) != column.default
        }


class ConfigModel(JsonModel[V]):
    """The config type of a channel. `fields` are as the catalogue shows them: the channel's own, then the common.

    A loaded config is kept as long as the same object of a cached instance is asked for.
    """

    def __init__(self, type_: type[V]) -> None:
        super().__init__(type_)
        hints = get_type_hints(type_)
        own = [declared for declared in fields(cast(Any, type_)) if "declared" in declared.metadata]
        common = [
            declared.metadata["field"]
            for declared in fields(cast(Any, type_))
            if "field" in declared.metadata
        ]
        self.fields: tuple[model.ConfigField, ...] = (
            *(
                declared.metadata["declared"](self._key(declared), _field_type(hints[declared.name]))
                for declared in own
            ),
            *common,
        )
        self._loaded: dict[int, tuple[Mapping[str, object], V]] = {}

    def _key(self, declared: Field[Any]) -> str:
        first, *others = declared.name.split("_")
        return declared.metadata.get("key") or first + "".join(word.capitalize() for word in others)

    def load(self, values: Mapping[str, object]) -> V:
        kept = self._loaded.get(id(values))
        if kept is not None and kept[0] is values:
            return kept[1]
        if len(self._loaded) >= MOST_CACHED:
            self._loaded.clear()
        loaded = super().load(values)
        self._loaded[id(values)] = (values, loaded)
        return loaded


def _column(declared: Field[Any], hint: Any, key: str) -> _Column:
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    types = tuple(get_origin(option) or option for option in options)
    accepted = (*types, int) if float in types else types
    default = None if declared.default is MISSING else declared.default
    if default is None and NoneType not in types:
        default = types[0]()
    return _Column(declared.name, key, accepted, default)


def _field_type(hint: Any) -> model.FieldType:
    if hint in (bool, bool | None):
        return "boolean"
    return "string" if hint in (str, str | float) else "number"
