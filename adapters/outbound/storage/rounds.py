"""Rounds of conversations in PostgreSQL: on the row of the lane, which only who holds its lease counts on."""

from __future__ import annotations

from adapters.outbound.storage.echoes import ECHOES, echo_columns
from adapters.outbound.storage.pool import Database
from ports.storage import Lane, Round, Waiting

COUNT = f"""
WITH {ECHOES}, event AS (
    SELECT i.received_at AS at, coalesce(l.replied_at < i.received_at, false) AS begins, array(
        SELECT r FROM unnest(l.rounds) r WHERE r > i.received_at - make_interval(secs => %(window)s)
    ) AS recent
    FROM inbox i JOIN lane l ON l.kind = 0 AND l.instance_id = i.instance_id AND l.lane_key = i.lane_key
    WHERE i.id = %(id)s
), counted AS (
    SELECT at, begins, CASE WHEN begins THEN recent || at ELSE recent END AS rounds FROM event
)
UPDATE lane l SET replied_at = CASE WHEN c.begins THEN NULL ELSE l.replied_at END,
    rounds = CASE WHEN cardinality(c.rounds) > %(most)s THEN array_fill(c.at, ARRAY[%(most)s + 1]) ELSE c.rounds END
FROM counted c WHERE l.kind = 0 AND l.instance_id = %(instance)s AND l.lane_key = %(lane)s
RETURNING cardinality(l.rounds), EXISTS (SELECT FROM echoes)
"""
"""Over `most` rounds each further event counts as all of them, so that the window must pass without an event."""


class PostgresRounds:
    """`ports.storage.Rounds`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self, lane: Lane, waiting: Waiting, most: int, window: float) -> Round:
        parameters = {
            **echo_columns([(waiting.id, lane.instance_id, lane.key, waiting.event)]),
            "id": waiting.id,
            "instance": lane.instance_id,
            "lane": lane.key,
            "most": most,
            "window": window,
        }
        row = await self._database.fetch_one(COUNT, parameters)
        return Round(*row) if row else Round(0, echo=False)
