"""The columns of a batch as arrays in PostgreSQL's binary form.

psycopg inspects each element of a list and escapes each quotation mark in it, in Python: for JSON that costs
more than all else on an event's way. An array in binary form is its elements behind a header
(https://www.postgresql.org/docs/current/protocol-overview.html#PROTOCOL-FORMAT-CODES; array_recv in
src/backend/utils/adt/arrayfuncs.c).
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, ClassVar

from psycopg.adapt import AdaptersMap, Dumper
from psycopg.pq import Format

_HEADER = struct.Struct(">iiiii").pack
_LENGTH = struct.Struct(">i").pack
_BIGINT = struct.Struct(">iq").pack
_DOUBLE = struct.Struct(">id").pack
_NULL = _LENGTH(-1)
_FALSE, _TRUE = _LENGTH(1) + b"\x00", _LENGTH(1) + b"\x01"


class _Array:
    """A parameter that is packed already. Its elements are packed behind their lengths."""

    __slots__ = ("packed",)
    element_oid: ClassVar[int]
    oid: ClassVar[int]

    def __init__(self, elements: Sequence[bytes]) -> None:
        header = _HEADER(1, _NULL in elements, self.element_oid, len(elements), 1)
        self.packed = b"".join((header, *elements))


class Texts(_Array):
    __slots__ = ()
    element_oid, oid = 25, 1009

    def __init__(self, elements: Iterable[str | bytes | None]) -> None:
        encoded = (item.encode() if isinstance(item, str) else item for item in elements)
        super().__init__([_NULL if item is None else _LENGTH(len(item)) + item for item in encoded])


class Bigints(_Array):
    __slots__ = ()
    element_oid, oid = 20, 1016

    def __init__(self, elements: Iterable[int | None]) -> None:
        super().__init__([_NULL if item is None else _BIGINT(8, item) for item in elements])


class Bools(_Array):
    __slots__ = ()
    element_oid, oid = 16, 1000

    def __init__(self, elements: Iterable[bool]) -> None:
        super().__init__([_TRUE if item else _FALSE for item in elements])


class Doubles(_Array):
    __slots__ = ()
    element_oid, oid = 701, 1022

    def __init__(self, elements: Iterable[float | None]) -> None:
        super().__init__([_NULL if item is None else _DOUBLE(8, item) for item in elements])


def columns(
    kinds: Mapping[str, type[Bigints | Texts | Bools]], rows: Sequence[Sequence[Any]]
) -> dict[str, object]:
    """Rows as the parameters of `unnest`: an array for each column."""
    values = zip(*rows, strict=True) if rows else repeat(())
    return {name: kind(column) for (name, kind), column in zip(kinds.items(), values, strict=False)}


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: _Array) -> bytes:
        return obj.packed


def _dumper(kind: type[_Array]) -> type[Dumper]:
    return type(f"{kind.__name__}Dumper", (_ArrayDumper,), {"oid": kind.oid})


_DUMPERS = {kind: _dumper(kind) for kind in (Texts, Bigints, Bools, Doubles)}


def register(adapters: AdaptersMap) -> None:
    """Lets the statements of a connection take these arrays."""
    for kind, dumper in _DUMPERS.items():
        adapters.register_dumper(kind, dumper)
