"""Questions about tools in PostgreSQL. A session is known by the key of its lane.

The question of a session is the one row of its lane whose `closed_at` is null; a question that is over stays for a
while, to be found by the nonce of its buttons.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson

from adapters.outbound.storage.codec import dump, key_of, storable
from adapters.outbound.storage.pool import Database
from domain.confirmations.model import FoundQuestion, Pending, SessionState
from domain.routing.model import APPROVED_FOR_SESSION

ATTENDED = """
EXISTS (SELECT FROM tool_confirmation c
    WHERE c.instance_id = t.instance_id AND c.lane_key = t.lane_key AND c.closed_at IS NULL)
OR EXISTS (SELECT FROM tool_approval a WHERE a.instance_id = t.instance_id AND a.lane_key = t.lane_key)
"""
"""Whether the lane `t` has anything on record here; part of the statement that leases it."""

COLUMNS = """
    c.id, c.detail, c.nonce, c.asked_of, c.asked_by, c.expires_at, c.decision, c.decided_by, c.decider
"""

LOAD = f"""
WITH heard AS (
    UPDATE tool_approval SET heard_at = %(now)s
    WHERE instance_id = %(instance)s AND lane_key = %(lane)s AND heard_at > %(silent)s RETURNING tool
)
SELECT (SELECT array_agg(tool ORDER BY tool) FROM heard), {COLUMNS}
FROM (VALUES (1)) one LEFT JOIN tool_confirmation c
ON c.instance_id = %(instance)s AND c.lane_key = %(lane)s AND c.closed_at IS NULL
"""

FIND = f"""
SELECT c.instance_id = %(instance)s, c.lane_key = %(lane)s, c.closed_at IS NOT NULL, {COLUMNS}
FROM tool_confirmation c WHERE c.nonce = %(nonce)s
"""

REPLACE = f"""
UPDATE tool_confirmation c SET closed_at = %(now)s
WHERE c.instance_id = %(instance)s AND c.lane_key = %(lane)s AND c.closed_at IS NULL RETURNING {COLUMNS}
"""

PUT = """
INSERT INTO tool_confirmation
    (instance_id, lane_key, id, detail, nonce, asked_of, asked_by, expires_at)
SELECT i.id, %s, %s, %s, %s, %s, %s, %s FROM channel_instance i WHERE i.id = %s
"""

DECIDE = """
WITH decided AS (
    UPDATE tool_confirmation SET decision = %(decision)s, decided_by = %(event)s, decider = %(decider)s
    WHERE instance_id = %(instance)s AND lane_key = %(lane)s AND id = %(id)s
        AND decision IS NULL AND closed_at IS NULL AND expires_at > %(now)s
    RETURNING instance_id, lane_key
), approved AS (
    INSERT INTO tool_approval (instance_id, lane_key, tool_key, tool, heard_at)
    SELECT instance_id, lane_key, %(tool_key)s, %(tool)s, %(now)s FROM decided WHERE %(for_session)s
    ON CONFLICT (instance_id, lane_key, tool_key) DO UPDATE SET heard_at = excluded.heard_at
)
SELECT count(*) FROM decided
"""

EXPIRE = """
WITH questions AS (
    UPDATE tool_confirmation SET closed_at = %(now)s
    WHERE closed_at IS NULL AND (expires_at <= %(silent)s OR (expires_at <= %(now)s AND decision IS NULL))
    RETURNING 1
), forgotten AS (
    DELETE FROM tool_confirmation WHERE closed_at <= %(kept)s RETURNING 1
), approvals AS (
    DELETE FROM tool_approval WHERE heard_at <= %(silent)s RETURNING 1
)
SELECT (SELECT count(*) FROM questions) + (SELECT count(*) FROM forgotten) + (SELECT count(*) FROM approvals)
"""


class PostgresConfirmations:
    """`ports.confirmations.ConfirmationStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(
        self, instance_id: int, session_id: str, now: datetime, silent_since: datetime
    ) -> SessionState:
        place = _place(instance_id, session_id)
        row = await self._database.fetch_one(LOAD, {**place, "now": now, "silent": silent_since})
        assert row is not None
        tools = tuple(orjson.loads(tool) for tool in row[0] or ())
        return SessionState(_pending(row[1:]) if row[1] is not None else None, tools)

    async def find(self, instance_id: int, session_id: str, nonce: str) -> FoundQuestion | None:
        place = _place(instance_id, session_id)
        row = await self._database.fetch_one(FIND, {**place, "nonce": storable(nonce)})
        if row is None:
            return None
        in_instance, same_key, closed, *columns = row
        return FoundQuestion(_pending(tuple(columns)), in_instance, in_instance and same_key, closed)

    async def put(self, instance_id: int, session_id: str, pending: Pending, now: datetime) -> Pending | None:
        detail = {"tool": pending.tool, "parameters": pending.parameters, "original": pending.original}
        asked_of = dump(pending.asked_of)
        values = (key_of(session_id), pending.id, dump(detail), pending.nonce, asked_of, pending.asked_by)
        async with self._database.transaction() as connection:
            cursor = await connection.execute(REPLACE, {**_place(instance_id, session_id), "now": now})
            replaced = [_pending(row) for row in await cursor.fetchall()]
            await connection.execute(PUT, (*values, pending.expires_at, instance_id))
        return next((each for each in replaced if each.decision is None), None)

    async def decide(self, instance_id: int, session_id: str, decided: Pending, now: datetime) -> bool:
        tool = dump(decided.tool)
        values: dict[str, Any] = {
            **_place(instance_id, session_id),
            "id": decided.id,
            "tool": tool,
            "tool_key": key_of(tool),
            "decision": decided.decision,
            "event": decided.decided_by,
            "decider": storable(decided.decider),
            "now": now,
            "for_session": decided.decision == APPROVED_FOR_SESSION,
        }
        row = await self._database.fetch_one(DECIDE, values)
        return bool(row and row[0])

    async def begin(self, instance_id: int, session_id: str, confirmation_id: str) -> bool:
        begun = await self._database.execute(
            "UPDATE tool_confirmation SET begun = true"
            " WHERE instance_id = %s AND lane_key = %s AND id = %s AND NOT begun",
            (instance_id, key_of(session_id), confirmation_id),
        )
        return begun == 1

    async def close(self, instance_id: int, confirmation_id: str, now: datetime) -> None:
        await self._database.execute(
            "UPDATE tool_confirmation SET closed_at = %s WHERE instance_id = %s AND id = %s AND closed_at IS NULL",
            (now, instance_id, confirmation_id),
        )

    async def expire(self, now: datetime, silent_since: datetime, kept_since: datetime) -> int:
        values = {"now": now, "silent": silent_since, "kept": kept_since}
        row = await self._database.fetch_one(EXPIRE, values)
        return int(row[0]) if row else 0


def _place(instance_id: int, session_id: str) -> dict[str, Any]:
    return {"instance": instance_id, "lane": key_of(session_id)}


def _pending(row: tuple[Any, ...]) -> Pending:
    id, detail, nonce, asked_of, asked_by, expires_at, decision, decided_by, decider = row
    read = orjson.loads(detail)
    return Pending(
        id=id,
        tool=read["tool"],
        parameters=read["parameters"],
        nonce=nonce,
        asked_of=orjson.loads(asked_of),
        asked_by=asked_by,
        original=read["original"],
        expires_at=expires_at,
        decision=decision,
        decided_by=decided_by,
        decider=decider,
    )
