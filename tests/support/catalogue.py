"""What the catalogue of a database says of its tables, and what processes of an older version miss in a newer one."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import psycopg

OWN = (
    "n.nspname = 'public' AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')"
)
TABLES = f"""
SELECT c.relname, c.relfilenode FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'S', 'v') AND {OWN}
"""
COLUMNS = f"""
SELECT c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> ''
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v') AND a.attnum > 0 AND NOT a.attisdropped AND {OWN}
"""
CONSTRAINTS = f"""
SELECT c.relname || '.' || k.conname, pg_get_constraintdef(k.oid)
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype <> 'n' AND {OWN}
"""
UNIQUE = f"""
SELECT c.relname || '.' || i.relname, pg_get_indexdef(x.indexrelid)
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE x.indisunique AND {OWN}
"""


class Column(NamedTuple):
    type: str
    required: bool
    filled: bool
    """Whether a row that does not name it gets a value."""


class Catalogue(NamedTuple):
    """By names; of a table where its rows are stored, which a rewrite changes."""

    tables: Mapping[str, int]
    columns: Mapping[str, Column]
    constraints: Mapping[str, str]
    unique: Mapping[str, str]


def catalogue(connection: psycopg.Connection) -> Catalogue:
    columns = {name: Column(*rest) for name, *rest in connection.execute(COLUMNS)}
    tables, constraints, unique = (
        dict(connection.execute(query).fetchall()) for query in (TABLES, CONSTRAINTS, UNIQUE)
    )
    return Catalogue(tables, columns, constraints, unique)


def faults(old: Catalogue, new: Catalogue) -> Iterator[str]:
    """Names of what a process that knows `old` misses or would be refused in `new`, each with the reason."""
    for name in old.tables:
        if name not in new.tables:
            yield f"{name} is gone"
        elif old.tables[name] != new.tables[name]:
            yield f"{name} was written anew"
    kept = set(old.tables) & set(new.tables)
    for name, column in old.columns.items():
        if _table(name) in kept:
            yield from _of_column(name, column, new.columns.get(name))
    for name, column in new.columns.items():
        if _table(name) in kept and name not in old.columns and column.required and not column.filled:
            yield f"{name} is required, and older versions do not fill it"
    yield from _demands("constraint", old.constraints, new.constraints, kept)
    yield from _demands("unique index", old.unique, new.unique, kept)


def _table(name: str) -> str:
    return name.partition(".")[0]


def _of_column(name: str, old: Column, new: Column | None) -> Iterator[str]:
    if new is None:
        yield f"{name} is gone"
    elif new.type != old.type:
        yield f"{name} was {old.type}, is {new.type}"
    elif new.required and not old.required:
        yield f"{name} became required"
    elif old.filled and not new.filled:
        yield f"{name} lost its default"


def _demands(kind: str, old: Mapping[str, str], new: Mapping[str, str], kept: set[str]) -> Iterator[str]:
    """What rows of older versions may be refused for, and what ON CONFLICT of their statements needs."""
    for name in old.keys() | new.keys():
        if _table(name) in kept and old.get(name) != new.get(name):
            yield f"{name}: the {kind} was {old.get(name)}, is {new.get(name)}"
