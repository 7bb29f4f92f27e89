"""What workers share of the limits of platforms, on a real database."""

from __future__ import annotations

import asyncio

import pytest

from adapters.outbound.storage.pace import PostgresPace
from adapters.outbound.storage.pool import Database
from ports.pacing import OpenBreaker
from tests.support.database import an_instance

SOON = 30
"""Seconds that a statement may take on a busy machine."""


@pytest.fixture
def pace(database: Database) -> PostgresPace:
    return PostgresPace(database)


async def test_turns_come_evenly_after_the_burst(pace: PostgresPace) -> None:
    waits = [await pace.reserve("key", 100.0, 3, 250.0) for _ in range(7)]
    expected = [0, 0, 0, 100, 200, 300, 300]
    assert all(want - SOON <= wait <= want for wait, want in zip(waits, expected, strict=True)), waits


async def test_workers_at_the_same_time_get_different_turns(pace: PostgresPace) -> None:
    waits = await asyncio.gather(*(pace.reserve("key", 100.0, 1, 10_000.0) for _ in range(8)))
    assert [round(each, -2) for each in sorted(waits)] == [0, 100, 200, 300, 400, 500, 600, 700]


async def test_keys_do_not_concern_each_other(pace: PostgresPace) -> None:
    assert [await pace.reserve(key, 60.0, 1, 5.0) for key in ("a", "b")] == [0, 0]


async def test_the_longer_hold_stays(pace: PostgresPace) -> None:
    await pace.hold("key", 600)
    await pace.hold("key", 50)
    await pace.hold("over", 0)
    ((key, seconds),) = (await pace.state()).holds
    assert key == "key"
    assert 600 - SOON <= seconds <= 600


async def test_a_breaker_is_there_until_it_closes(pace: PostgresPace, database: Database) -> None:
    one = await an_instance(database)
    await pace.opened(OpenBreaker(one, 100.0, 1), "connection refused")
    await pace.opened(OpenBreaker(one, 200.0, 2), "connection refused")
    (found,) = (await pace.state()).breakers
    assert (found.instance_id, found.openings) == (one, 2)
    assert 200 - SOON <= found.seconds <= 200
    await pace.closed(one)
    assert (await pace.state()).breakers == []


async def test_a_change_of_the_instance_settles_its_breaker(pace: PostgresPace, database: Database) -> None:
    one = await an_instance(database)
    await pace.opened(OpenBreaker(one, 10.0, 1), "connection refused")
    await database.execute("UPDATE channel_instance SET updated_at = now() + interval '1 millisecond'")
    assert (await pace.state()).breakers == []
    await database.execute("UPDATE channel_instance SET updated_at = now()")
    await pace.opened(OpenBreaker(one, 10.0, 1), "still refused")
    assert len((await pace.state()).breakers) == 1


async def test_an_instance_that_is_gone_has_no_breaker(pace: PostgresPace) -> None:
    await pace.opened(OpenBreaker(4711, 10.0, 1), "gone")
    assert (await pace.state()).breakers == []


async def test_what_has_run_out_is_thrown_away(pace: PostgresPace, database: Database) -> None:
    await pace.hold("over", 0)
    await pace.hold("holds", 600)
    await pace.reserve("old", 0.001, 1, 1.0)
    await pace.reserve("new", 60.0, 1, 1.0)
    await database.execute(
        "UPDATE send_turn SET used_until = used_until - interval '2 minutes' WHERE key = 'old'"
    )
    await pace.forget()
    assert await database.fetch("SELECT key FROM send_hold UNION ALL SELECT key FROM send_turn") == [
        ("holds",),
        ("new",),
    ]


async def test_living_workers_are_counted(pace: PostgresPace, database: Database) -> None:
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
    assert (await pace.state()).workers == 2
