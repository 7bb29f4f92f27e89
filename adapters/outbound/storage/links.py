"""Links of connected channels in PostgreSQL: leases, pairing codes, the state of connections."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.instances import PostgresInstances
from adapters.outbound.storage.pool import Database
from domain.instances.model import Activity, LiveSocket
from ports.links import CodeAnswer, Notifier

LEASE_SECONDS = 15
REQUESTS_PER_HOUR = 20
POLL_SECONDS = 0.5
"""Seconds between two queries for a code request."""

ADD_LINKS = """
INSERT INTO link (instance_id)
SELECT id FROM channel_instance WHERE channel_id = ANY(%s) AND status = 'active'
ON CONFLICT (instance_id) DO NOTHING
"""

ACQUIRE = f"""
UPDATE link l SET owner = %(owner)s, lease_until = now() + interval '{LEASE_SECONDS} seconds',
    up_since = CASE WHEN l.owner = %(owner)s THEN l.up_since END
FROM (
    SELECT k.instance_id FROM link k JOIN channel_instance i ON i.id = k.instance_id
    WHERE i.channel_id = ANY(%(channels)s) AND i.status = 'active'
      AND (k.owner = %(owner)s OR k.owner IS NULL OR k.lease_until < now())
    FOR UPDATE OF k SKIP LOCKED
) free
WHERE l.instance_id = free.instance_id RETURNING l.instance_id
"""

HELD_BY_OTHER_PROCESS = """
SELECT k.instance_id FROM link k JOIN channel_instance i ON i.id = k.instance_id
WHERE i.channel_id = ANY(%s) AND i.status = 'active' AND k.owner <> %s AND k.lease_until > now()
"""

REQUEST_CODE = f"""
UPDATE link SET wanted = wanted + 1,
    asked = CASE WHEN asked_since < now() - interval '1 hour' THEN 1 ELSE asked + 1 END,
    asked_since = CASE WHEN asked_since < now() - interval '1 hour' THEN now() ELSE asked_since END
WHERE instance_id = %s AND (asked < {REQUESTS_PER_HOUR} OR asked_since < now() - interval '1 hour')
RETURNING wanted
"""

REMOVED = """
SELECT n FROM unnest(%s::bigint[]) AS t(n)
WHERE n <= (SELECT last_value FROM channel_instance_id_seq)
    AND NOT EXISTS (SELECT FROM channel_instance i WHERE i.id = n) ORDER BY n
"""

LIVE = """
SELECT i.id, i.channel_id, i.channel_name, l.status, l.up_since
FROM link l JOIN channel_instance i ON i.id = l.instance_id
WHERE l.up_since IS NOT NULL AND l.lease_until > now() AND (%(user)s::text IS NULL OR i.user_id = %(user)s)
ORDER BY i.id
"""


class PairingStore:
    """`ports.links.ConnectionLeases`, `ports.links.PairingRequests` and `ports.instances.SocketStore`."""

    def __init__(
        self,
        database: Database,
        owner: int,
        instances: PostgresInstances,
        health: PostgresHealth,
        notifier: Notifier,
    ) -> None:
        self._database = database
        self._owner = owner
        self._instances = instances
        self._health = health
        self._notifier = notifier

    async def acquire(self, channel_ids: Sequence[str]) -> Sequence[int]:
        await self._database.execute(ADD_LINKS, (list(channel_ids),))
        parameters = {"owner": self._owner, "channels": list(channel_ids)}
        return [row[0] for row in await self._database.fetch(ACQUIRE, parameters)]

    async def held_by_other_process(self, channel_ids: Sequence[str]) -> Sequence[int]:
        rows = await self._database.fetch(HELD_BY_OTHER_PROCESS, (list(channel_ids), self._owner))
        return [row[0] for row in rows]

    async def release_all(self) -> None:
        await self.release_of([self._owner])

    async def release_of(self, owners: Sequence[int]) -> None:
        """Releases the leases of these processes."""
        await self._database.execute(
            "UPDATE link SET owner = NULL, lease_until = NULL, up_since = NULL WHERE owner = ANY(%s)",
            (list(owners),),
        )

    async def removed(self, instance_ids: Sequence[int]) -> Sequence[int]:
        return [row[0] for row in await self._database.fetch(REMOVED, (list(instance_ids),))]

    async def prepare(self, instance_id: int) -> None:
        await self._database.execute(
            "INSERT INTO link (instance_id) SELECT id FROM channel_instance WHERE id = %s ON CONFLICT DO NOTHING",
            (instance_id,),
        )
        row = await self._database.fetch_one("SELECT status FROM link WHERE instance_id = %s", (instance_id,))
        status = str(row[0]) if row and row[0] else "pairing"
        await self._instances.annotate(instance_id, "waStatus", status)

    async def request(self, instance_id: int) -> int | None:
        row = await self._database.fetch_one(REQUEST_CODE, (instance_id,))
        return int(row[0]) if row else None

    async def answer(self, instance_id: int, number: int) -> CodeAnswer | None:
        row = await self._database.fetch_one(
            "SELECT code, error FROM link WHERE instance_id = %s AND answered >= %s", (instance_id, number)
        )
        return CodeAnswer(row[0], row[1] or "") if row else None

    async def live(self, user_id: str | None) -> Sequence[LiveSocket]:
        rows = await self._database.fetch(LIVE, {"user": user_id})
        return [LiveSocket(row[0], row[1], row[2], row[3] or "connected", row[4]) for row in rows]

    def recorder(self, instance_id: int) -> PostgresLinkRecorder:
        return PostgresLinkRecorder(
            self._database, instance_id, self._instances, self._health, self._notifier
        )


class PostgresLinkRecorder:
    """`ports.links.LinkRecorder` of one instance."""

    def __init__(
        self,
        database: Database,
        instance_id: int,
        instances: PostgresInstances,
        health: PostgresHealth,
        notifier: Notifier,
    ) -> None:
        self._database = database
        self._id = instance_id
        self._instances = instances
        self._health = health
        self._notifier = notifier

    async def status(self) -> str | None:
        row = await self._database.fetch_one("SELECT status FROM link WHERE instance_id = %s", (self._id,))
        return str(row[0]) if row and row[0] else None

    async def set_status(self, status: str) -> None:
        await self._database.execute("UPDATE link SET status = %s WHERE instance_id = %s", (status, self._id))
        await self._instances.annotate(self._id, "waStatus", status)

    async def record_code(self, code: str | None) -> None:
        await self._health.pairing(self._id, code)
        if code is None:
            await self._database.execute("UPDATE link SET code = NULL WHERE instance_id = %s", (self._id,))
            await self._health.succeeded(self._id, Activity.RECEIVING)
            return
        await self._answered(code, None)
        await self._notifier.pairing_code(self._id, code)

    async def record_pairing_failure(self, reason: str) -> None:
        await self._answered(None, reason)
        await self._health.failed(self._id, Activity.RECEIVING, f"pairing: {reason}")

    async def _answered(self, code: str | None, error: str | None) -> None:
        await self._database.execute(
            "UPDATE link SET code = %s, error = %s, answered = wanted WHERE instance_id = %s",
            (code, storable(error) if error else error, self._id),
        )

    async def set_connected_since(self, since: datetime | None) -> None:
        await self._database.execute(
            "UPDATE link SET up_since = %s WHERE instance_id = %s", (since, self._id)
        )
        if since is not None:
            await self._health.succeeded(self._id, Activity.RECEIVING)

    async def record_failure(self, reason: str) -> None:
        await self._health.failed(self._id, Activity.RECEIVING, reason)

    async def wait_for_code_request(self) -> None:
        while True:
            row = await self._database.fetch_one(
                "SELECT wanted > answered FROM link WHERE instance_id = %s", (self._id,)
            )
            if row and row[0]:
                return
            await asyncio.sleep(POLL_SECONDS)
