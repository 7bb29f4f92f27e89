"""Columns and indexes in the form that the tables share.

Defaults, check constraints and storage parameters stand in the migrations alone.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, DateTime, ForeignKey, Identity, Index, MetaData, Table, text
from sqlalchemy.schema import SchemaItem
from sqlalchemy.sql.elements import ColumnElement, TextClause
from sqlalchemy.types import TypeEngine

Timestamp = DateTime(timezone=True)
ColumnType = type[TypeEngine[Any]] | TypeEngine[Any]

metadata = MetaData()


def table(name: str, *items: SchemaItem) -> Table:
    return Table(name, metadata, *items)


def required(kind: ColumnType, names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name in names.split()]


def optional(kind: ColumnType, names: str) -> list[Column[Any]]:
    return [Column(name, kind) for name in names.split()]


def key(name: str, kind: ColumnType) -> Column[Any]:
    """A primary key that comes from outside the table."""
    return Column(name, kind, primary_key=True, autoincrement=False)


def identity(kind: ColumnType = BigInteger, *, primary_key: bool = True) -> Column[Any]:
    return Column("id", kind, Identity(always=True), primary_key=primary_key, nullable=False)


def reference(name: str, target: str, *, primary_key: bool = False) -> Column[Any]:
    """A foreign key; the row is deleted with its target."""
    return Column(name, ForeignKey(target, ondelete="CASCADE"), nullable=False, primary_key=primary_key)


def index(
    name: str, columns: str, *expressions: ColumnElement[Any] | TextClause, where: str | None = None
) -> Index:
    return Index(
        name, *columns.split(), *expressions, postgresql_where=None if where is None else text(where)
    )


def unique_index(name: str, columns: str, where: str | None = None) -> Index:
    return Index(name, *columns.split(), unique=True, postgresql_where=text(where) if where else None)


def columns_of(table: Table, names: str) -> tuple[Column[Any], ...]:
    return tuple(table.c[name] for name in names.split())
