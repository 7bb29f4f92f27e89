"""Tasks that outlive their runs, in PostgreSQL."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adapters.outbound.storage.codec import key_of, storable
from adapters.outbound.storage.conversations.erasure import is_erased
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import read_statements
from domain.routing.model import TASK_HOURS, AgentTask
from domain.routing.resource import parse_resource
from ports.resources import LEASE_SECONDS, LONGEST_PAUSE

FIRST_POLL = 5
"""Seconds until a new task is polled."""
MOST_TASKS = 20
"""Tasks that one process leases at once."""

SQL = read_statements(
    Path(__file__).with_suffix(".sql"),
    first=FIRST_POLL,
    longest=LONGEST_PAUSE + 60,
    most=MOST_TASKS,
    lease=LEASE_SECONDS,
    hours=TASK_HOURS,
)


class PostgresAgentTasks:
    """`ports.resources.AgentTasks`. Each method raises `Unavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def add(self, task: AgentTask) -> bool:
        values = {
            **_key(task.instance_id, task.request_id),
            "session_key": key_of(task.session_id),
            "session_id": storable(task.session_id),
            "resource": str(task.resource),
            "task": storable(task.task_id),
            "inbox": task.inbox_id,
        }
        async with self._database.transaction() as connection:
            if await is_erased(connection, task.inbox_id):
                return False
            return bool(await (await connection.execute(SQL["add_task"], values)).fetchone())

    async def is_finished(self, instance_id: int, request_id: str) -> bool | None:
        is_finished: bool | None = await self._database.fetch_value(
            SQL["is_finished"], _key(instance_id, request_id)
        )
        return is_finished

    async def hold(self, instance_id: int, request_id: str, seconds: float) -> None:
        await self._database.execute(SQL["hold"], {**_key(instance_id, request_id), "seconds": seconds})

    async def remove(self, instance_id: int, request_id: str) -> None:
        await self._database.execute(SQL["remove"], _key(instance_id, request_id))

    async def lease_due(self) -> Sequence[AgentTask]:
        return [
            AgentTask(
                instance_id=instance_id,
                request_id=request_id,
                session_id=session_id,
                resource=parse_resource(resource),
                task_id=task_id,
                inbox_id=inbox_id,
                polls=polls,
                overdue=overdue,
            )
            for (
                instance_id, request_id, session_id, resource, task_id, inbox_id, polls, overdue,
            ) in await self._database.fetch(SQL["lease_due"])
        ]  # fmt: skip

    async def renew(self, task: AgentTask) -> bool:
        return bool(await self._database.fetch_value(SQL["renew"], _leased(task)))

    async def postpone(self, task: AgentTask, seconds: float) -> None:
        await self._database.execute(SQL["postpone"], {**_leased(task), "seconds": seconds})

    async def finish(self, task: AgentTask) -> None:
        await self._database.execute(SQL["finish"], _key(task.instance_id, task.request_id))


def _key(instance_id: int, request_id: str) -> dict[str, Any]:
    return {"instance": instance_id, "request": key_of(request_id)}


def _leased(task: AgentTask) -> dict[str, Any]:
    """A task under its latest lease: each one is counted."""
    return {**_key(task.instance_id, task.request_id), "polls": task.polls}
