"""What workers share of the limits of platforms, on a real database."""

import asyncio

import pytest

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.processes import PostgresProcesses, PostgresSharedLimits
from domain.delivery.model import OpenBreaker
from tests.support.database import an_instance

SOON = 30
"""Seconds that a statement may take on a busy machine."""


@pytest.fixture
def limits(database: Database) -> PostgresSharedLimits:
    return PostgresSharedLimits(database)


async def test_slots_come_evenly_after_the_burst(limits: PostgresSharedLimits) -> None:
    waits = [await limits.reserve("key", 100.0, 3, 250.0) for _ in range(7)]
    expected = [0, 0, 0, 100, 200, 300, 300]
    assert all(want - SOON <= wait <= want for wait, want in zip(waits, expected, strict=True)), waits


async def test_workers_at_the_same_time_get_different_slots(limits: PostgresSharedLimits) -> None:
    waits = await asyncio.gather(*(limits.reserve("key", 100.0, 1, 10_000.0) for _ in range(8)))
    assert [round(each, -2) for each in sorted(waits)] == [0, 100, 200, 300, 400, 500, 600, 700]


async def test_keys_do_not_concern_each_other(limits: PostgresSharedLimits) -> None:
    assert [await limits.reserve(key, 60.0, 1, 5.0) for key in ("a", "b")] == [0, 0]


async def test_the_longer_cooldown_stays(limits: PostgresSharedLimits) -> None:
    await limits.cool_down("key", 600)
    await limits.cool_down("key", 50)
    await limits.cool_down("over", 0)
    ((key, seconds),) = (await limits.state()).cooldowns
    assert key == "key"
    assert 600 - SOON <= seconds <= 600


async def test_a_breaker_is_there_until_it_closes(limits: PostgresSharedLimits, database: Database) -> None:
    one = await an_instance(database)
    await limits.open_breaker(OpenBreaker(one, 100.0, 1), "connection refused")
    await limits.open_breaker(OpenBreaker(one, 200.0, 2), "connection refused")
    (found,) = (await limits.state()).breakers
    assert (found.instance_id, found.openings) == (one, 2)
    assert 200 - SOON <= found.seconds <= 200
    await limits.close_breaker(one)
    assert (await limits.state()).breakers == []


async def test_a_change_of_the_instance_settles_its_breaker(
    limits: PostgresSharedLimits, database: Database
) -> None:
    one = await an_instance(database)
    await limits.open_breaker(OpenBreaker(one, 10.0, 1), "connection refused")
    await database.execute("UPDATE channel_instance SET updated_at = now() + interval '1 millisecond'")
    assert (await limits.state()).breakers == []
    await database.execute("UPDATE channel_instance SET updated_at = now()")
    await limits.open_breaker(OpenBreaker(one, 10.0, 1), "still refused")
    assert len((await limits.state()).breakers) == 1


async def test_an_instance_that_is_gone_has_no_breaker(limits: PostgresSharedLimits) -> None:
    await limits.open_breaker(OpenBreaker(4711, 10.0, 1), "gone")
    assert (await limits.state()).breakers == []


async def test_what_has_expired_is_removed(limits: PostgresSharedLimits, database: Database) -> None:
    await limits.cool_down("over", 0)
    await limits.cool_down("holds", 600)
    await limits.reserve("old", 0.001, 1, 1.0)
    await limits.reserve("new", 60.0, 1, 1.0)
    await database.execute(
        "UPDATE send_quota SET used_until = used_until - interval '2 minutes' WHERE key = 'old'"
    )
    await limits.remove_expired()
    assert await database.fetch("SELECT key FROM send_cooldown UNION ALL SELECT key FROM send_quota") == [
        ("holds",),
        ("new",),
    ]


async def test_living_workers_are_counted(limits: PostgresSharedLimits, database: Database) -> None:
    for worker_id, role, age in (
        (1, "worker", -60),
        (2, "standalone", -60),
        (3, "worker", 60),
        (4, "core", -60),
    ):
        await database.execute(
            "INSERT INTO process (worker_id, role, beat_at) VALUES (%s, %s, now() - make_interval(secs => %s))",
            (worker_id, role, age),
        )
    assert (await limits.state()).workers == 2


async def test_each_worker_sees_who_joins_leaves_and_falls_silent(database: Database) -> None:
    processes, seen = PostgresProcesses(database), dict[int, PostgresSharedLimits]()

    async def ranks() -> list[tuple[int, int]]:
        states = [await seen[id].state() for id in sorted(seen)]
        return [(state.rank, state.workers) for state in states]

    for worker_id in (30, 10, 20):
        await processes.beat(worker_id, "worker")
        seen[worker_id] = PostgresSharedLimits(database, worker_id)
        assert await ranks() == [(rank, len(seen)) for rank in range(len(seen))]
    await processes.beat(5, "core")
    assert await ranks() == [(0, 3), (1, 3), (2, 3)]

    await processes.leave(10)
    del seen[10]
    assert await ranks() == [(0, 2), (1, 2)]
    await database.execute("UPDATE process SET beat_at = now() - interval '16 seconds' WHERE worker_id = 30")
    del seen[30]
    assert await ranks() == [(0, 1)]
