"""The states of resources in PostgreSQL."""

from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import delete, func, select

from adapters.outbound.storage.codec import dump, key_of
from adapters.outbound.storage.conversations.erasure import is_erased
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.statements import upsert_of_instance
from adapters.outbound.storage.tables import resource_state
from domain.routing.model import Resource

MAX_STATE = 100_000
"""Characters of a state as JSON."""


class PostgresResourceStates:
    """`ports.resources.ResourceStates`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, instance_id: int, session_id: str, resource: Resource) -> Mapping[str, Any]:
        """Raises `Unavailable`."""
        stored = select(resource_state.c.state).filter_by(**_key(instance_id, session_id, resource))
        state = await self._database.fetch_value(stored)
        return orjson.loads(state) if state else {}

    @retried
    async def save(
        self,
        instance_id: int,
        session_id: str,
        resource: Resource,
        state: Mapping[str, Any],
        inbox_id: int | None = None,
    ) -> None:
        """Raises `Unavailable`, and `ValueError` for a state of more than `MAX_STATE` characters."""
        key, text = _key(instance_id, session_id, resource), dump(state)
        if len(text) > MAX_STATE:
            raise ValueError(f"the state of {resource} has over {MAX_STATE} characters")
        async with self._database.transaction() as connection:
            if await is_erased(connection, inbox_id):
                return
            if not state:
                await connection.run(delete(resource_state).filter_by(**key))
                return
            values = {**key, "state": text, "updated_at": func.now()}
            values.pop("instance_id")
            await connection.run(upsert_of_instance(resource_state, instance_id, values))


def _key(instance_id: int, session_id: str, resource: Resource) -> dict[str, Any]:
    return {
        "instance_id": instance_id, "session_key": key_of(session_id), "resource": key_of(str(resource)),
    }  # fmt: skip
