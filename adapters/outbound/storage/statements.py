"""The text of statements."""

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, Table, create_engine, literal, select
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.sql.expression import ClauseElement

from adapters.outbound.storage.tables import channel_instance

_DIALECT = create_engine("postgresql+psycopg://").dialect
_compiled: WeakKeyDictionary[ClauseElement, tuple[str, Mapping[str, Any]]] = WeakKeyDictionary()


def render(
    statement: ClauseElement, parameters: Mapping[str, Any] | None = None
) -> tuple[str, Mapping[str, Any]]:
    """The text of a Core statement in psycopg's form, and its values. A constant statement is compiled once."""
    rendered = _compiled.get(statement)
    if rendered is None:
        compiled = statement.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
        rendered = _compiled[statement] = compiled.string, compiled.params
    text, values = rendered
    return text, {**values, **parameters} if parameters else values


def upsert(table: Table, values: Mapping[str, Any]) -> Insert:
    """Inserts a row, or sets these values in the row with the same primary key."""
    return _or_update(insert(table).values(values), table, values)


def upsert_of_instance(
    table: Table, instance_id: int, values: Mapping[str, Any], where: ColumnElement[bool] | None = None
) -> Insert:
    """The same for a row that belongs to an instance: none where that is gone. A row that is there must fulfil
    `where`."""
    columns = [
        value if isinstance(value, ColumnElement) else literal(value, table.c[name].type)
        for name, value in values.items()
    ]
    instance = select(channel_instance.c.id, *columns).filter_by(id=instance_id)
    locked = instance.with_for_update(read=True, key_share=True)
    return _or_update(insert(table).from_select(["instance_id", *values], locked), table, values, where)


def _or_update(
    inserted: Insert, table: Table, values: Mapping[str, Any], where: ColumnElement[bool] | None = None
) -> Insert:
    keys = table.primary_key.columns.keys()
    updated = {name: inserted.excluded[name] for name in values if name not in keys}
    return inserted.on_conflict_do_update(index_elements=keys, set_=updated, where=where)
