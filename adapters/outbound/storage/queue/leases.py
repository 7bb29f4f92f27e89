"""Leases on the queues of conversations, inbound and outbound."""

import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.failures import by_halves, is_rolled_back
from adapters.outbound.storage.pool import STATEMENT_SECONDS, Database
from adapters.outbound.storage.queue.statements import SQL, QueueKind
from domain.instances.model import Activity
from domain.refusals import INTERNAL
from ports.instances import HealthStore
from ports.queue import Capacity, Leases, QueueKey

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Queue:
    """One of the two kinds of queues, with the statements that differ."""

    kind: QueueKind
    lease: str
    recount: str


INBOUND = Queue(QueueKind.INBOUND, SQL["lease_events"], SQL["recount_events"])
OUTBOUND = Queue(QueueKind.OUTBOUND, SQL["lease_messages"], SQL["recount_messages"])

RENEW_SECONDS = 8.0
"""What a renewal may take: the next one comes while the leases still last."""

REFUSED = "its messages cannot be leased, as the database refuses that"
REFUSED_SECONDS = 60.0
"""So long nothing is leased of an instance for whose queues the database refuses that."""


class LeaseStore:
    """Leases of one process; `owner` is its worker id, whose advisory lock shows that it lives."""

    def __init__(self, database: Database, owner: int, health: HealthStore) -> None:
        self._database = database
        self.owner = owner
        self._health = health
        self._refused: dict[tuple[QueueKind, int], float] = {}

    async def lease(self, queue: Queue, capacity: Capacity) -> Leases[tuple[QueueKey, list[tuple[Any, ...]]]]:
        """Leased queues with their next rows. An instance for whose queues the database refuses that does not hold
        up others."""
        try:
            return await self._lease(queue, capacity)
        except Exception as error:
            if not is_rolled_back(error):
                raise
        # In transactions that are rolled back it is tried for which instances nothing can be leased.
        queued = {id for (id,) in await self._database.fetch(SQL["due_instances"], (queue.kind,))}

        async def try_lease(instances: Sequence[int]) -> None:
            parameters = self._parameters(queue, capacity, queued.difference(instances))
            async with (
                self._database.connection(STATEMENT_SECONDS) as connection,
                connection.transaction(force_rollback=True),
            ):
                await connection.execute(queue.lease, parameters)

        activity = Activity.PROCESSING if queue.kind is QueueKind.INBOUND else Activity.SENDING
        for instance_id, refusal in await by_halves(sorted(queued), try_lease):
            log.error("queues cannot be leased", exc_info=refusal, extra={"instance": instance_id})
            await self._health.failed(instance_id, activity, f"{REFUSED}: {INTERNAL}")
            self._refused[queue.kind, instance_id] = time.monotonic() + REFUSED_SECONDS
        return await self._lease(queue, capacity)

    def _parameters(
        self, queue: Queue, capacity: Capacity, without: Collection[int] = ()
    ) -> dict[str, object]:
        """The arrays are packed, so that their types are the same whatever they hold: for each combination of types
        a statement is prepared and planned anew."""
        now = time.monotonic()
        self._refused = {row: until for row, until in self._refused.items() if until > now}
        refused = [instance_id for kind, instance_id in self._refused if kind is queue.kind]
        full = [instance_id for instance_id, left in capacity.instances.items() if left <= 0]
        return {
            "count": capacity.total,
            "full": Bigints([*full, *refused, *without]),
            "full_users": Texts(user_id for user_id, left in capacity.users.items() if left <= 0),
            "instances": Bigints(capacity.instances),
            "instance_capacity": Bigints(capacity.instances.values()),
            "users": Texts(capacity.users),
            "user_capacity": Bigints(capacity.users.values()),
            "per_instance": capacity.per_instance,
            "per_user": capacity.per_user,
            "owner": self.owner,
        }

    async def _lease(
        self, queue: Queue, capacity: Capacity
    ) -> Leases[tuple[QueueKey, list[tuple[Any, ...]]]]:
        parameters = self._parameters(queue, capacity)
        async with self._database.connection(STATEMENT_SECONDS) as connection:
            cursor = await connection.execute(queue.lease, parameters)
            rows = await cursor.fetchall()
            leased: dict[QueueKey, list[tuple[Any, ...]]] = {}
            for _, instance_id, session_key, user_id, *columns, _ in rows:
                if instance_id is not None:
                    of_key = leased.setdefault(QueueKey(instance_id, session_key, user_id), [])
                    of_key.extend([tuple(columns)] if columns[0] is not None else [])
            for key in [key for key, of_key in leased.items() if not of_key]:
                await connection.execute(queue.recount, (key.instance_id, key.session_key, self.owner))
                del leased[key]
        return Leases(list(leased.items()), more=rows[0][0])

    async def release(self, queue: Queue, key: QueueKey, delay: float) -> None:
        await self._database.execute(
            SQL["release_lease"], (delay, queue.kind, key.instance_id, key.session_key, self.owner)
        )

    async def renew(self, queue: Queue, held: Collection[QueueKey]) -> None:
        """Prolongs the leases that this process works on. Others of its own were left behind by an outage of the
        database: they expire."""

        async def renew(keys: Sequence[QueueKey]) -> None:
            await self._database.execute(
                SQL["renew_leases"], (*_columns(keys), queue.kind, self.owner), within=RENEW_SECONDS
            )

        _log_refused(await by_halves(list(held), renew), "a lease cannot be prolonged")

    async def reclaim(self, queue: Queue, held: Collection[QueueKey]) -> None:
        """Frees the leases of this process that it does not work on. Not while it is leasing."""
        left_behind = await self._database.fetch(
            SQL["leases_left_behind"], (queue.kind, self.owner, *_columns(held))
        )

        async def free(keys: Sequence[QueueKey]) -> None:
            await self._database.execute(SQL["reclaim_leases"], (*_columns(keys), queue.kind, self.owner))

        _log_refused(
            await by_halves([QueueKey(*row) for row in left_behind], free), "a lease cannot be freed"
        )

    async def abandoned(self) -> set[int]:
        """Owners of leases whose process holds its lock no more."""
        return {owner for (owner,) in await self._database.fetch(SQL["abandoned_leases"])} - {self.owner}

    async def free(self, owners: Sequence[int]) -> None:
        """Frees the leases of dead processes; counts the death on the event each was working on."""
        await self._database.execute(SQL["free_leases"], (list(owners),))


def _columns(keys: Collection[QueueKey]) -> tuple[list[int], list[str]]:
    return [key.instance_id for key in keys], [key.session_key for key in keys]


def _log_refused(refused: Sequence[tuple[QueueKey, Exception]], what: str) -> None:
    """Such a lease expires by itself."""
    for key, error in refused:
        log.error(what, exc_info=error, extra={"instance": key.instance_id})
