"""Recognises events that are about something that an instance sent itself."""

from collections.abc import Iterable

from adapters.outbound.storage.arrays import Bigints, Texts, unnest_sql
from adapters.outbound.storage.codec import storable
from domain.channels.messages import Event

ECHOES = f"""
echoes AS MATERIALIZED (
    SELECT e.n
    FROM {unnest_sql("echo_rows", "echo_instances", "echo_sessions", "echo_ids")} e(n, instance, session, id)
    WHERE (
        SELECT o.id FROM outbox o
        WHERE o.instance_id = e.instance AND hashtextextended(o.ref, 0) = hashtextextended(e.id, 0)
            AND o.ref IS NOT NULL AND o.ref = e.id AND (e.session IS NULL OR o.session_key = e.session)
        LIMIT 1
    ) IS NOT NULL
)
"""
"""The numbers of the rows whose event bears an id that a sent message got from the platform. A look at the index
`outbox_by_ref` for each id; rows whose channel gives no ids cost nothing."""

NO_IDS: dict[str, object] = {
    "echo_rows": Bigints([]),
    "echo_instances": Bigints([]),
    "echo_sessions": Texts([]),
    "echo_ids": Texts([]),
}


def echo_columns(rows: Iterable[tuple[int, int, str, Event]]) -> dict[str, object]:
    """The parameters of `ECHOES` for rows of number, instance, session and event."""
    ids = [
        (number, instance_id, session_key if event.ids_of_session else None, storable(id))
        for number, instance_id, session_key, event in rows
        for id in event.ids
        if id
    ]
    if not ids:
        return NO_IDS
    return {
        "echo_rows": Bigints(number for number, *_ in ids),
        "echo_instances": Bigints(instance_id for _, instance_id, *_ in ids),
        "echo_sessions": Texts(session_key for _, _, session_key, _ in ids),
        "echo_ids": Texts(id for *_, id in ids),
    }
