"""What a platform says of a message beside its words, such as its language or the payload of a button: the `context`
of an event, a JSON object that is handed on to the resource. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

KEYS = (
    "language",
    "subject",
    "date",
    "group",
    "command",
    "payload",
    "forwarded",
    "location",
    "contact",
    "order",
    "referral",
    "to",
    "cc",
    "platform",
)
"""The keys in the order in which they get the space; `platform` holds what has no key of its own."""

MAX_BYTES = 16_384
"""Bytes of the JSON text of one context."""
LONGEST_TEXT = 2000
"""Characters of one text in it."""
MOST_ITEMS = 100
"""Entries of a list or object in it."""
MAX_DEPTH = 8
_EXACT = 2**53
"""Whole numbers from here on are not exact in JavaScript, nor in a protobuf Struct: they become texts."""


def bounded(context: Mapping[str, object]) -> dict[str, object]:
    """The context without empty values, with long texts cut, and without what does not fit into MAX_BYTES."""
    ordered = {key: context[key] for key in KEYS if key in context}
    return _Space().members({**ordered, **context}, 1)


@dataclass(slots=True)
class _Space:
    """The rest of MAX_BYTES, which values use up."""

    left: int = MAX_BYTES

    def value(self, value: object, depth: int) -> object:
        """The value as far as it fits, empty if nothing of it does."""
        if isinstance(value, Mapping):
            return self.members(value, depth + 1)
        if isinstance(value, (list, tuple)):
            return self.entries(value, depth + 1)
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            value = f"{value[: LONGEST_TEXT - 1]}…"
        if isinstance(value, int) and abs(value) >= _EXACT:
            value = str(value)
        return None if _is_empty(value) or not self._takes(value) else value

    def entries(self, values: Sequence[object], depth: int) -> list[object]:
        if depth > MAX_DEPTH or not self._takes([]):
            return []
        entries = (self.value(value, depth) for value in values[:MOST_ITEMS])
        return [entry for entry in entries if not _is_empty(entry)]

    def members(self, mapping: Mapping[str, object], depth: int) -> dict[str, object]:
        if depth > MAX_DEPTH or not self._takes({}):
            return {}
        members = {
            name: self.value(value, depth)
            for name, value in islice(mapping.items(), MOST_ITEMS)
            if len(name) <= LONGEST_TEXT and not _is_empty(value) and self._takes(name)
        }
        return {name: value for name, value in members.items() if not _is_empty(value)}

    def _takes(self, value: object) -> bool:
        """Takes the JSON text of the value and a separator out of the space, False if they do not fit."""
        size = len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")) + 1
        if size <= self.left:
            self.left -= size
            return True
        return False


def merged(contexts: Iterable[Mapping[str, object]]) -> dict[str, object]:
    """The context of messages that are handed on as one: of each key the first value that is not empty."""
    first: dict[str, object] = {}
    for context in contexts:
        for key, value in context.items():
            if not _is_empty(value):
                first.setdefault(key, value)
    return bounded(first)


def _is_empty(value: object) -> bool:
    return value is None or value == "" or value == [] or value == () or value == {}
