"""Who runs what is due, on a real database."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.outbound.storage.instances import PostgresInstances
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.schedules import LEASE
from adapters.outbound.storage.statements import render
from adapters.outbound.system.encryption import ConfigCipher, new_key
from domain.channels.messages import Event, Sender
from domain.instances.model import NewInstance
from ports.instances import Due
from tests.support.database import schedules_of

MANY = 10_000
LATER = datetime(2126, 1, 1, tzinfo=UTC)


class World:
    """Two processes, `one` and `other`, and what they made known."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.removed: list[int] = []
        self.one, self.other = (
            schedules_of(database, worker_id, self.removed.append) for worker_id in (1, 2)
        )
        self.instances = PostgresInstances(database, ConfigCipher(new_key()), lambda _: None)

    async def due(self, name: str = "a") -> int:
        """An instance that is due."""
        instance = await self.instances.add("ann", NewInstance("email", name, {}))
        await self.one.plan(instance.id, datetime.now(UTC) - timedelta(seconds=1))
        return instance.id

    async def begun(self) -> Due:
        """The run of an instance, begun by `one`."""
        instance_id = await self.due()
        assert await self.one.lease(5) == [instance_id]
        run = await self.one.begin(instance_id)
        assert run is not None
        return run

    async def next_run(self, instance_id: int) -> Any:
        row = await self.database.fetch_one(
            "SELECT next_run_at FROM schedule WHERE instance_id = %s", (instance_id,)
        )
        return row and row[0]


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    database = Database(database_url)
    await database.open()
    yield World(database)
    await database.close()


def event(key: str) -> Event:
    return Event(key, "s", Sender("x"), "hello", {})


async def test_one_runner_at_a_time(world: World) -> None:
    instance_id = await world.due()
    assert await world.one.lease(5) == [instance_id]
    assert await world.other.lease(5) == []
    run = await world.other.begin(instance_id)  # whichever worker takes the job from the queue
    assert run is not None
    assert await world.one.begin(instance_id) is None
    assert await world.other.finish(run, [event("1"), event("1")], {"at": 1}, LATER) == [True, True]
    assert await world.one.lease(5) == []
    await world.other.release(run)
    assert await world.next_run(instance_id) == LATER


async def test_what_was_stored_before_is_not_fresh(world: World) -> None:
    run = await world.begun()
    assert await world.one.finish(run, [event("1")], None, run.planned) == [True]
    await world.one.release(run)
    await world.one.lease(5)
    again = await world.one.begin(run.instance_id)
    assert again is not None
    assert await world.one.finish(again, [event("1"), event("2")], None, LATER) == [False, True]


async def test_a_call_during_a_run_makes_for_one_more(world: World) -> None:
    run = await world.begun()
    await world.one.due_now(run.instance_id)
    await world.one.finish(run, [], {"at": 1}, LATER)
    assert await world.other.lease(5) == []
    await world.one.release(run)
    assert await world.other.lease(5) == [run.instance_id]
    second = await world.other.begin(run.instance_id)
    assert second is not None
    assert second.cursor == {"at": 1}
    await world.other.finish(second, [], None, LATER)
    await world.other.release(second)
    assert await world.other.lease(5) == []


async def test_a_call_does_not_bring_a_failed_try_forward(world: World) -> None:
    run = await world.begun()
    await world.one.due_now(run.instance_id)
    await world.one.failed(run, LATER)
    await world.one.release(run)
    assert await world.one.lease(5) == []


async def test_dead_credentials_are_not_tried_for_a_call(world: World) -> None:
    run = await world.begun()
    await world.one.failed(run, None)
    await world.one.release(run)
    await world.one.due_now(run.instance_id)
    assert await world.one.lease(5) == []
    await world.one.plan(run.instance_id, datetime.now(UTC))  # the configuration was changed
    assert await world.one.lease(5) == [run.instance_id]


async def test_a_change_takes_the_instance_from_who_runs_it(world: World) -> None:
    run = await world.begun()
    await world.one.plan(run.instance_id, run.planned + timedelta(seconds=1))
    assert await world.other.lease(5) == [run.instance_id]
    second = await world.other.begin(run.instance_id)
    assert second is not None
    assert await world.one.finish(run, [event("of the old configuration")], {"at": 1}, LATER) is None
    await world.one.release(run)
    assert await world.other.finish(second, [event("of the new one")], {"at": 2}, LATER) == [True]
    rows = await world.database.fetch("SELECT event_key FROM inbox")
    assert rows == [("of the new one",)]


async def test_a_removed_instance_stores_nothing(world: World) -> None:
    run = await world.begun()
    await world.instances.remove(run.instance_id)
    assert await world.one.finish(run, [event("1")], None, LATER) is None
    await world.one.release(run)
    assert await world.one.lease(5) == []
    assert await world.database.fetch("SELECT 1 FROM inbox") == []


async def test_after_a_start_some_are_looked_at_at_once(world: World) -> None:
    soon, later, failing = [await world.due(name) for name in ("soon", "later", "failing")]
    for seconds, instance_id in enumerate((soon, later, failing)):
        await world.one.plan(instance_id, datetime.now(UTC) + timedelta(hours=1, seconds=seconds))
    await world.database.execute("UPDATE schedule SET failures = 1 WHERE instance_id = %s", (failing,))
    await world.one.run_soon(["mail-api"], 5)
    assert await world.one.lease(5) == []
    await world.one.run_soon(["email"], 1)
    assert await world.one.lease(5) == [soon]
    await world.one.run_soon(["email"], 5)
    assert await world.one.lease(5) == [later]


async def test_what_a_dead_process_ran_is_taken_up(world: World) -> None:
    run = await world.begun()
    await world.other.free([1])
    assert await world.other.lease(5) == [run.instance_id]


async def test_a_lease_that_was_not_used_goes_back(world: World) -> None:
    instance_id = await world.due()
    await world.one.lease(5)
    await world.one.give_back([instance_id])
    assert await world.other.lease(5) == [instance_id]


async def test_a_run_that_fires_once_removes_the_instance_with_its_event(world: World) -> None:
    run = await world.begun()
    assert await world.one.finish(run, [event("1")], None, None, retire=True) == [True]
    assert world.removed == [run.instance_id]
    assert await world.instances.remove_retired() == []  # its message waits to be answered
    await world.database.execute("UPDATE queue SET pending = 0")
    assert await world.instances.remove_retired() == [run.instance_id]


async def test_many_instances_cost_one_look_at_an_index(world: World) -> None:
    await world.database.execute(
        "INSERT INTO channel_instance (user_id, channel_id, channel_name, config)"
        " SELECT 'ann', 'email', n::text, '' FROM generate_series(1, %s) n",
        (MANY,),
    )
    await world.database.execute(
        "INSERT INTO schedule (instance_id, next_run_at, cursor)"
        " SELECT id, now() + interval '1 hour' + id * interval '1 second', repeat('x', 200) FROM channel_instance"
    )
    await world.database.execute("ANALYZE schedule")
    await world.due("now")
    lease, parameters = render(LEASE, {"worker": 1, "count": 200})
    explained = await world.database.fetch(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {lease}", parameters)
    plan = json.dumps(explained[0][0])
    assert '"Index Name": "schedule_due"' in plan
    assert "Seq Scan" not in plan
    assert explained[0][0][0]["Plan"]["Shared Hit Blocks"] < 100


async def test_a_run_by_hand_begins_where_none_is_planned(world: World) -> None:
    instance_id = await world.due()
    await world.one.plan(instance_id, None)
    assert await world.one.lease(5) == []
    assert await world.one.run_now(instance_id)
    assert await world.one.lease(5) == [instance_id]
    assert await world.one.run_now(instance_id)  # it has not begun: it runs after this anyway
    run = await world.one.begin(instance_id)
    assert run is not None
    await world.one.finish(run, [], None, None)
    await world.one.release(run)
    assert await world.one.lease(5) == []
    assert not await world.one.run_now(instance_id + 1)


async def test_a_run_by_hand_during_a_run_makes_for_one_more(world: World) -> None:
    run = await world.begun()
    assert await world.one.run_now(run.instance_id)
    assert await world.one.run_now(run.instance_id)
    await world.one.finish(run, [], None, None)
    await world.one.release(run)
    assert await world.one.lease(5) == [run.instance_id]
    second = await world.one.begin(run.instance_id)
    assert second is not None
    await world.one.finish(second, [], None, LATER)
    await world.one.release(second)
    assert await world.one.lease(5) == []


async def test_an_instance_that_removes_itself_runs_no_more(world: World) -> None:
    run = await world.begun()
    assert await world.one.run_now(run.instance_id)
    await world.one.finish(run, [], None, None, retire=True)
    await world.one.release(run)
    assert await world.one.lease(5) == []
    assert await world.one.of_user("ann", 0, 5) == []
