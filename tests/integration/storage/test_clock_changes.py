"""The database's clock is put back by an hour: what waits is due by the new time, not by the former one."""

import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

import pytest

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.processes import PostgresSharedLimits
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import INBOUND, LeaseStore
from adapters.outbound.storage.queue.sends import PostgresSends
from adapters.outbound.storage.queue.statements import SQL
from adapters.outbound.storage.schedules import DatabaseClock
from domain.channels.answers import Answer
from domain.channels.messages import Event, Sender
from ports.outbox import NewSend
from ports.queue import Capacity
from tests.support.database import schedules_of

ROOM = Capacity(100, 100, 100)


class Schedules:
    """Counts how often all is polled."""

    polled = 0

    async def poll_all(self) -> None:
        self.polled += 1


class Steady:
    """A steady clock; while it is put ahead, the database's clock seems to be put back."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


async def written_in_the_future(database: Database, instance: int) -> None:
    inbox = PostgresInbox(database, lambda: None)
    await inbox.add(instance, [Event("k", "s", Sender("x"), "hello", {}, request_id="r")])
    await database.execute(
        "UPDATE queue SET touched_at = now() + interval '1 hour', due_at = now() + interval '1 hour'"
    )


async def leased(database: Database) -> Sequence[object]:
    leases = LeaseStore(database, 1, PostgresHealth(database))
    return (await leases.lease(INBOUND, ROOM)).leased


@pytest.mark.parametrize("hours", [1.0, 24.0, 0.0])
async def test_messages_that_waited_go_on(database: Database, instance: int, hours: float) -> None:
    """After no hours, the clock went ahead and back between two looks."""
    schedules, steady = Schedules(), Steady()
    clock = DatabaseClock(database, schedules.poll_all, steady)
    await clock.look()
    await written_in_the_future(database, instance)
    assert not await leased(database)
    steady.ahead = hours * 3600
    await clock.look()
    assert len(await leased(database)) == 1
    assert schedules.polled == 1


@pytest.mark.parametrize(("hours", "polls"), [(1.0, 1), (0.0, 0), (-1.0, 0)])
async def test_instances_are_polled_once_the_clock_went_back(
    database: Database, hours: float, polls: int
) -> None:
    schedules, steady = Schedules(), Steady()
    clock = DatabaseClock(database, schedules.poll_all, steady)
    await clock.look()
    steady.ahead = hours * 3600
    await clock.look()
    await clock.look()
    assert schedules.polled == polls


async def comes(database: Database, instance: int) -> None:
    inbox = PostgresInbox(database, lambda: None)
    await inbox.add(instance, [Event("k3", "s", Sender("x"), "more", {}, request_id="r3")])


async def is_withdrawn(database: Database, instance: int) -> None:
    withdrawn = await database.fetch_value("SELECT max(id) FROM inbox")
    await database.execute(SQL["withdraw_event"], {"id": withdrawn, "session_key": "s", "owner": None})


async def is_sent_first(database: Database, instance: int) -> None:
    send = NewSend(
        id=1,
        instance_id=instance,
        session_id="s",
        answer=Answer("hello", request_id="r3"),
        target={},
        messages=[],
    )
    await PostgresSends(database, lambda: None).add(send)


@pytest.mark.parametrize("happens", [comes, is_withdrawn, is_sent_first])
async def test_what_happens_between_does_not_hold_up_those_that_waited(
    database: Database, instance: int, happens: Callable[[Database, int], Awaitable[None]]
) -> None:
    steady = Steady()
    clock = DatabaseClock(database, Schedules().poll_all, steady)
    await clock.look()
    inbox = PostgresInbox(database, lambda: None)
    await inbox.add(instance, [Event("k2", "s", Sender("x"), "first", {}, request_id="r2")])
    await written_in_the_future(database, instance)
    await happens(database, instance)
    assert not await leased(database)
    steady.ahead = 3600
    await clock.look()
    assert len(await leased(database)) == 1


async def test_a_retry_that_is_planned_stays_planned(database: Database, instance: int) -> None:
    steady = Steady()
    clock = DatabaseClock(database, Schedules().poll_all, steady)
    await clock.look()
    await written_in_the_future(database, instance)
    await database.execute("UPDATE queue SET due_at = due_at + interval '5 minutes'")
    steady.ahead = 3600.0
    await clock.look()
    due: datetime = await database.fetch_value("SELECT due_at FROM queue")
    now: datetime = await database.fetch_value("SELECT now()")
    assert 280 < (due - now).total_seconds() <= 300


async def test_a_lease_of_a_poll_from_the_future_has_run_out(database: Database, instance: int) -> None:
    runs = schedules_of(database)
    await database.execute(
        "INSERT INTO schedule (instance_id, next_run_at, owner, lease_until)"
        " VALUES (%s, now(), 1, now() + interval '1 minute')",
        (instance,),
    )
    assert not await runs.lease(10)
    await database.execute("UPDATE schedule SET lease_until = now() + interval '1 hour'")
    assert await runs.lease(10) == [instance]


async def test_a_quota_that_is_used_up_in_the_future_is_free(database: Database) -> None:
    limits = PostgresSharedLimits(database)
    assert await limits.reserve("a", 1.0, 1, 20.0) == 0
    assert 0 < await limits.reserve("a", 1.0, 1, 20.0) <= 1
    await database.execute("UPDATE send_quota SET used_until = used_until + interval '1 hour'")
    assert await limits.reserve("a", 1.0, 1, 20.0) == 0
    assert 0 < await limits.reserve("a", 1.0, 1, 20.0) <= 1
