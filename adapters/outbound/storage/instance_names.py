"""Instances of one user or of all, as the pages of the operation show them, in PostgreSQL."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Select

from adapters.outbound.storage.instances import ACTIVE_INSTANCES
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.tables import channel_instance
from domain.instances.model import Instance
from domain.monitoring.model import InstanceName

columns = channel_instance.c
_NAMES = ACTIVE_INSTANCES.with_only_columns(
    columns.id, columns.user_id, columns.channel_id, columns.channel_name
)


class PostgresInstanceNames:
    """`InstanceNames` of `ports.monitoring`. `read` makes an instance of its row."""

    def __init__(self, database: Database, read: Callable[..., Instance]) -> None:
        self._database = database
        self._read = read

    async def names(self, user_id: str | None) -> Sequence[InstanceName]:
        return [InstanceName(*row) for row in await self._database.fetch(_of(_NAMES, user_id))]

    async def following(self, user_id: str | None, after: int, limit: int) -> Sequence[Instance]:
        active = _of(ACTIVE_INSTANCES, user_id).where(columns.id > after)
        return [self._read(*row) for row in await self._database.fetch(active.limit(limit))]


def _of(instances: Select[Any], user_id: str | None) -> Select[Any]:
    """Those of one user, or of all."""
    return instances if user_id is None else instances.where(columns.user_id == user_id)
