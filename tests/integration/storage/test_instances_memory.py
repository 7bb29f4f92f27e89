"""Instances in memory: many who ask at once cause one look, and a change is not overlooked."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import ClauseElement, Select

from adapters.outbound.storage.instances import PostgresInstances
from adapters.outbound.storage.pool import STATEMENT_SECONDS, Database
from adapters.outbound.system.encryption import ConfigCipher
from domain.instances.model import InstanceChange, NewInstance
from tests.support.database import opened

KEY = "YmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtMTI="


class Counting(Database):
    looks = 0

    async def fetch_one(
        self, query: str | ClauseElement, parameters: Any = (), within: float = STATEMENT_SECONDS
    ) -> tuple[Any, ...] | None:
        self.looks += isinstance(query, Select)
        return await super().fetch_one(query, parameters, within)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Counting]:
    async with opened(Counting(database_url)) as database:
        yield database


async def test_many_who_ask_at_once_cause_one_look(database: Counting) -> None:
    store = PostgresInstances(database, ConfigCipher(KEY), lambda _: None)
    added = await store.add("ann", NewInstance("http-webhook", "one", {"a": 1}, "agent::echo"))

    found = await asyncio.gather(*(store.cached(added.id) for _ in range(50)))

    assert {each.channel_name for each in found if each} == {"one"}
    assert len(found) == 50
    assert database.looks == 1


async def test_what_was_forgotten_during_a_look_is_looked_up_anew(database: Counting) -> None:
    store = PostgresInstances(database, ConfigCipher(KEY), lambda _: None)
    added = await store.add("ann", NewInstance("http-webhook", "one", {"a": 1}, "agent::echo"))

    early = asyncio.create_task(store.cached(added.id))
    await asyncio.sleep(0)
    await store.change(added.id, InstanceChange({"a": 2}, None, None))
    await early

    later = await store.cached(added.id)
    assert later is not None
    assert later.config == {"a": 2}


async def test_reactions_are_read_where_they_count_as_votes(database: Counting) -> None:
    """The configuration that its owner sees stays as it was stored."""
    store = PostgresInstances(database, ConfigCipher(KEY), lambda _: None)
    new = NewInstance("workspace-chat", "one", {"a": 1}, "agent::echo", feedback=True)
    added = await store.add("ann", new)
    assert (added.config, added.receiving_config) == ({"a": 1}, {"a": 1, "reactions": True})
    changed = await store.change(added.id, InstanceChange({"a": 2}, feedback=False))
    assert changed is not None
    assert (changed.config, changed.receiving_config) == ({"a": 2}, None)
