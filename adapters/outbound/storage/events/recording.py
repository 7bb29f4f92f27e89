"""How events are recorded: in the statement or transaction of what they tell, and only while somebody listens."""

from sqlalchemy import ColumnElement, Insert, Subquery, func, insert, literal, select
from sqlalchemy.sql.selectable import CTE

from adapters.outbound.storage.tables import event_listener, event_log
from domain.events import EventKind

LISTENED = "EXISTS (SELECT FROM event_listener WHERE until > now())"

NO_REF = "NULL::bigint"
"""The `ref` of an event that is about no row."""


def log_event_sql(kind: str, rows: str, *, ref: str = "id", data: str = "NULL", condition: str = "") -> str:
    """Records an event for each of `rows`: a CTE, or a list of tables, with the columns `instance_id` and
    `session_key`. In a statement it is a CTE of its own, which nothing has to read.

    `kind`: an `EventKind`, or an SQL expression for one. `ref`: the row that the event is about. `data`: an
    expression of type text for what cannot be read from that row later, a small JSON object.
    """
    told = f"'{kind}'" if kind in set(EventKind) else kind
    return (
        "INSERT INTO event_log (kind, instance_id, session_key, ref, data)"
        f" SELECT {told}, instance_id, session_key, {ref}, {data} FROM {rows}"
        f" WHERE {LISTENED}{condition and f' AND {condition}'} ORDER BY {ref}"
    )


def detail_sql(name: str, expression: str) -> str:
    """`data` of one text, none where that is null."""
    return f"CASE WHEN {expression}::text IS NOT NULL THEN json_build_object('{name}', {expression}::text)::text END"


def listened() -> ColumnElement[bool]:
    """`LISTENED` for Core statements."""
    return select(event_listener.c.id).where(event_listener.c.until > func.now()).exists()


def log_event(kind: EventKind, rows: CTE | Subquery, **columns: ColumnElement[object] | object) -> Insert:
    """Records an event for each row of a CTE; `columns` are those of `event_log`, as expressions or constants."""
    values = {
        name: value if isinstance(value, ColumnElement) else literal(value, event_log.c[name].type)
        for name, value in columns.items()
    }
    told = select(literal(kind.value), *values.values()).select_from(rows).where(listened())
    return insert(event_log).from_select(["kind", *values], told)


def log_one(kind: EventKind, **columns: object) -> Insert:
    """Records one event; `columns` are those of `event_log`."""
    return log_event(kind, select(literal(1)).subquery(), **columns)
