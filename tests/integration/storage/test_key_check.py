"""A key that does not fit the database is noticed, and a row that cannot be decrypted harms no other."""

import asyncio

import pytest

from adapters.outbound.storage.instances import (
    PostgresInstances,
    WrongKey,
    check_key,
    encrypt_anew,
    replace_key,
)
from adapters.outbound.storage.pool import Database
from adapters.outbound.system.encryption import ConfigCipher, new_key
from domain.instances.model import ACTIVE, UNREADABLE, InstanceChange, NewInstance
from domain.refusals import Unavailable

OLD, NEW = new_key(), new_key()


def store(database: Database, *keys: str) -> PostgresInstances:
    return PostgresInstances(database, ConfigCipher(",".join(keys)), lambda _: None)


async def check(database: Database, *keys: str) -> int:
    return await asyncio.to_thread(check_key, database.dsn, ConfigCipher(",".join(keys)))


async def test_the_first_process_sets_the_key(database: Database) -> None:
    assert await check(database, OLD) == 0
    assert await check(database, OLD) == 0
    with pytest.raises(WrongKey, match="another key"):
        await check(database, NEW)


async def test_of_two_that_start_at_once_with_two_keys_one_is_refused(database: Database) -> None:
    found = await asyncio.gather(check(database, OLD), check(database, NEW), return_exceptions=True)
    assert sorted(type(each).__name__ for each in found) == ["WrongKey", "int"]


async def test_a_database_of_before_is_held_against_its_configurations(database: Database) -> None:
    await store(database, OLD).add("ann", NewInstance("http-webhook", "one", {}, "agent::echo"))
    with pytest.raises(WrongKey, match="stored configurations"):
        await check(database, NEW)
    assert await check(database, OLD) == 0


async def test_a_key_is_rotated(database: Database) -> None:
    await store(database, OLD).add("ann", NewInstance("http-webhook", "one", {"a": 1}, "agent::echo"))
    await check(database, OLD)
    assert await check(database, NEW, OLD) == 0
    assert await encrypt_anew(database, ConfigCipher(f"{NEW},{OLD}")) == (1, [], [])
    with pytest.raises(WrongKey):
        await check(database, NEW)
    replace_key(database.dsn, ConfigCipher(f"{NEW},{OLD}"))
    assert await check(database, NEW) == 0
    with pytest.raises(WrongKey):
        await check(database, OLD)


async def test_one_row_that_cannot_be_decrypted_is_listed_and_can_be_saved_anew(database: Database) -> None:
    lost = await store(database, OLD).add("ann", NewInstance("cron", "lost", {"a": 1}, "agent::echo"))
    instances = store(database, NEW)
    good = await instances.add("ann", NewInstance("cron", "good", {"b": 2}, "agent::echo"))
    assert await check(database, NEW) == 1
    listed = [(each.id, each.status, dict(each.config)) for each in await instances.of_user("ann")]
    assert listed == [(lost.id, UNREADABLE, {}), (good.id, ACTIVE, {"b": 2})]
    assert [each.id for each in await instances.of_channels(["cron"])] == [good.id]
    with pytest.raises(Unavailable, match="cannot be decrypted"):
        await instances.cached(lost.id)
    assert await encrypt_anew(database, ConfigCipher(NEW)) == (0, [lost.id], [])

    await instances.change(lost.id, InstanceChange({"a": 3}))
    found = await instances.cached(lost.id)
    assert found is not None
    assert (found.status, found.config) == (ACTIVE, {"a": 3})
