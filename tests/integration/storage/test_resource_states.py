"""The states of resources in a real PostgreSQL."""

from datetime import timedelta

import pytest

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.resource_states import MAX_STATE, PostgresResourceStates
from adapters.outbound.storage.retention import CHAT_TURNS, Retention, Times
from adapters.outbound.storage.sessions import PostgresSessions
from domain.routing.resource import parse_resource
from tests.support.database import an_instance

HELPER, OTHER = parse_resource("agent::helper"), parse_resource("agent::other")


@pytest.fixture
def states(database: Database) -> PostgresResourceStates:
    return PostgresResourceStates(database)


async def test_each_conversation_and_resource_has_its_own(
    states: PostgresResourceStates, database: Database, instance: int
) -> None:
    second = await an_instance(database, "second")
    for number, (place, resource) in enumerate(
        [
            ((instance, "s"), HELPER),
            ((instance, "t"), HELPER),
            ((second, "s"), HELPER),
            ((instance, "s"), OTHER),
        ]
    ):
        await states.save(*place, resource, {"thread": number})

    assert await states.load(instance, "s", HELPER) == {"thread": 0}
    assert await states.load(instance, "t", HELPER) == {"thread": 1}
    assert await states.load(second, "s", HELPER) == {"thread": 2}
    assert await states.load(instance, "s", OTHER) == {"thread": 3}
    assert await states.load(instance, "u", OTHER) == {}


async def test_the_latest_state_counts_and_an_empty_one_deletes(
    states: PostgresResourceStates, database: Database, instance: int
) -> None:
    await states.save(instance, "s", HELPER, {"task": "1", "note": "Grüße \ud800"})
    await states.save(instance, "s", HELPER, {"task": "2"})
    assert await states.load(instance, "s", HELPER) == {"task": "2"}

    await states.save(instance, "s", HELPER, {})
    assert await states.load(instance, "s", HELPER) == {}
    assert await database.fetch_value("SELECT count(*) FROM resource_state") == 0


async def test_a_state_is_bounded(states: PostgresResourceStates, instance: int) -> None:
    with pytest.raises(ValueError, match="has over"):
        await states.save(instance, "s", HELPER, {"text": "x" * MAX_STATE})


async def test_nothing_is_kept_of_an_instance_that_is_gone(
    states: PostgresResourceStates, database: Database, instance: int
) -> None:
    await states.save(instance, "s", HELPER, {"task": "1"})
    await database.execute("DELETE FROM channel_instance WHERE id = %s", (instance,))
    await states.save(instance, "s", HELPER, {"task": "2"})

    assert await database.fetch_value("SELECT count(*) FROM resource_state") == 0


async def test_a_state_moves_with_its_conversation(
    states: PostgresResourceStates, database: Database, instance: int
) -> None:
    await states.save(instance, "old", HELPER, {"task": "1"})
    await states.save(instance, "old", OTHER, {"task": "2"})
    await states.save(instance, "new", OTHER, {"task": "3"})
    await PostgresSessions(database).rename(instance, "old", "new")

    assert await states.load(instance, "new", HELPER) == {"task": "1"}
    assert await states.load(instance, "new", OTHER) == {"task": "3"}


async def test_a_state_ends_after_thirty_days(
    states: PostgresResourceStates, database: Database, instance: int
) -> None:
    await states.save(instance, "s", HELPER, {"task": "1"})
    await database.execute(
        "UPDATE resource_state SET updated_at = now() - make_interval(days => %s)", (CHAT_TURNS.days + 1,)
    )
    await states.save(instance, "t", HELPER, {"task": "2"})
    await Retention(database, Times(timedelta(days=7))).clean()

    assert await states.load(instance, "s", HELPER) == {}
    assert await states.load(instance, "t", HELPER) == {"task": "2"}
