"""Recognises events that are about something that an instance sent itself."""

from collections.abc import Iterable

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.codec import storable
from domain.channels.messages import Event

ECHOES = """
echoes AS MATERIALIZED (
    SELECT DISTINCT e.n
    FROM unnest(
        (SELECT %(echo_rows)s), (SELECT %(echo_instances)s), (SELECT %(echo_sessions)s), (SELECT %(echo_ids)s)
    ) e(n, instance, session, id)
    WHERE (
        SELECT o.id FROM outbox o
        WHERE o.instance_id = e.instance AND hashtextextended(o.ref, 0) = hashtextextended(e.id, 0)
            AND o.ref IS NOT NULL AND o.ref = e.id AND (e.session IS NULL OR o.session_key = e.session)
        LIMIT 1
    ) IS NOT NULL
)
"""
"""The numbers `n` of the rows whose event bears an id that a sent message got from the platform. A look at the index
`outbox_by_ref` for each id; rows whose channel gives no ids cost nothing.

The arrays stand in subqueries so that the planner guesses their length alike with and without their values: else it
finds plans for few ids cheaper than the general one, and plans the statement anew for each message."""


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
