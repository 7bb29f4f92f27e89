"""Figures: what happened to messages is counted once, by minute and by half hour."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from adapters.outbound.storage import figures
from adapters.outbound.storage.figures import SQL, PostgresFigures
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.queue.outbox import PostgresOutbox
from adapters.outbound.storage.retention import Retention, Times
from domain.channels.messages import DeliveryStatus
from domain.monitoring.model import BOUNDS, Counts, Figures, Period, steps_of
from domain.refusals import Unavailable

MESSAGE = """
INSERT INTO inbox (instance_id, session_key, event_key, event, status, answer, received_at, finished_at, taken)
SELECT %(instance)s, 's', gen_random_uuid()::text, '{"text":"hello"}', %(status)s, %(answer)s,
    now() - make_interval(secs => %(received)s), now() - make_interval(secs => %(finished)s), %(taken)s
RETURNING id
"""
PART = """
INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, status, apology, finished_at)
SELECT %(instance)s, 's', %(inbox)s, '{}', '{}', gen_random_uuid()::text, %(status)s, %(apology)s,
    now() - make_interval(secs => %(finished)s)
"""
QUEUED, DONE, FAILED = 0, 1, 2
PENDING, SENT, DEAD = 0, 1, 2


class Scene:
    def __init__(self, database: Database, instance: int) -> None:
        self.database, self.instance = database, instance
        self.figures = PostgresFigures(database)

    async def message(
        self, received: float, finished: float | None = None, status: int = DONE, taken: bool = False
    ) -> int:
        """A message that was received and finished so many seconds ago."""
        values = {"instance": self.instance, "status": status, "answer": "{}", "taken": taken}
        row = await self.database.fetch_one(MESSAGE, {**values, "received": received, "finished": finished})
        assert row
        return int(row[0])

    async def part(self, inbox_id: int, finished: float, status: int = SENT, apology: bool = False) -> None:
        values = {"instance": self.instance, "inbox": inbox_id, "status": status, "apology": apology}
        await self.database.execute(PART, {**values, "finished": finished})

    async def read(self, period: Period = Period.HOUR, ids: list[int] | None = None) -> Figures:
        return steps_of(period, *await self.figures.measures(period, ids))

    async def counted(self, period: Period = Period.HOUR) -> Counts:
        await self.figures.count()
        return (await self.read(period)).total


@pytest.fixture
def scene(database: Database, instance: int) -> Scene:
    return Scene(database, instance)


async def test_answers_are_counted_when_the_platform_took_their_first_part(scene: Scene) -> None:
    message = await scene.message(received=100, finished=99)
    await scene.part(message, finished=90)
    await scene.part(message, finished=60)
    found = await scene.counted()
    assert (found.received, found.answered, found.failed) == (1, 1, 0)
    assert found.p50 == pytest.approx(10, rel=0.13)
    assert found.p95 == pytest.approx(10, rel=0.13)


async def test_nothing_is_counted_twice_and_late_outcomes_are(scene: Scene) -> None:
    message = await scene.message(received=1000, finished=None, status=QUEUED)
    assert (await scene.counted()).received == 1
    await scene.database.execute(
        "UPDATE inbox SET status = 1, finished_at = now() - interval '3 s' WHERE id = %s", (message,)
    )
    await scene.database.execute("UPDATE figure_position SET until = until - interval '2 s'")
    await scene.part(message, finished=2.5)
    await scene.figures.count()
    found = await scene.counted()
    assert (found.received, found.answered) == (1, 1)
    assert found.p50 == pytest.approx(997, rel=0.13)


async def test_what_was_given_up_counts_once_in_either_direction(scene: Scene) -> None:
    await scene.part(await scene.message(50, 40, FAILED), finished=30, status=SENT, apology=True)
    await scene.part(await scene.message(50, 40, FAILED), finished=30, status=DEAD, apology=True)
    answered = await scene.message(50, 45)
    for finished in (40, 20):
        await scene.part(answered, finished=finished, status=DEAD)
    found = await scene.counted()
    assert (found.received, found.answered, found.failed) == (3, 0, 3)
    assert found.p50 is None


async def test_an_answer_that_a_waiting_call_took_counts(scene: Scene) -> None:
    await scene.message(received=20, finished=19, taken=True)
    await scene.message(received=20, finished=19, taken=False)
    found = await scene.counted()
    assert (found.received, found.answered) == (2, 1)


async def test_an_answer_that_the_platform_reports_as_failed_later_counts_as_given_up(scene: Scene) -> None:
    await scene.part(await scene.message(received=50, finished=45), finished=40)
    await scene.database.execute("UPDATE outbox SET ref = 'of-the-platform'")
    assert (await scene.counted()).failed == 0
    outbox = PostgresOutbox(
        scene.database, LeaseStore(scene.database, 1, PostgresHealth(scene.database)), lambda: None
    )
    failed = DeliveryStatus("of-the-platform", "failed", failed=True, detail="unreachable")
    assert await outbox.record_status(scene.instance, failed)
    await scene.database.execute("UPDATE outbox SET finished_at = finished_at - interval '3 s'")
    await scene.database.execute("UPDATE figure_position SET until = until - interval '3 s'")
    found = await scene.counted()
    assert (found.answered, found.failed) == (1, 1)


async def test_workers_that_count_at_once_count_once(scene: Scene) -> None:
    for _ in range(5):
        await scene.part(await scene.message(30, 29), finished=28)
    await asyncio.gather(*(scene.figures.count() for _ in range(6)))
    found = await scene.counted()
    assert (found.received, found.answered) == (5, 5)


async def test_a_worker_that_dies_while_it_counts_has_counted_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scene.part(await scene.message(30, 29), finished=28)
    with monkeypatch.context() as patch:
        patch.setitem(figures.SQL, "move_figures", "SELECT pg_terminate_backend(pg_backend_pid())")
        with pytest.raises(Unavailable):
            await scene.figures.count()
    assert await scene.database.fetch_value("SELECT count(*) FROM figure") == 0
    assert (await scene.counted()).answered == 1


async def test_no_transaction_that_is_open_is_passed_over(scene: Scene) -> None:
    async with scene.database.transaction() as slow:
        begun = await (await slow.execute("SELECT now()")).fetchone()
        await scene.figures.count()
        assert begun
        assert await scene.database.fetch_value("SELECT until FROM figure_position") < begun[0]


async def test_steps_and_instances(scene: Scene) -> None:
    await scene.message(received=7000, finished=6990)
    await scene.message(received=100, finished=90)
    hour, day = await scene.counted(), await scene.counted(Period.DAY)
    assert (hour.received, day.received) == (1, 2)
    found = await scene.read()
    assert len(found.points) == 60
    assert [point.at for point in found.points] == sorted({point.at for point in found.points})
    assert sum(point.counts.received for point in found.points) == 1
    assert len((await scene.read(Period.DAY)).points) == 48
    assert (await scene.read(ids=[scene.instance])).total.received == 1
    assert (await scene.read(ids=[scene.instance + 1])).total.received == 0
    assert (await scene.read(ids=[])).total.received == 0


async def test_old_steps_are_deleted_and_those_of_a_removed_instance(scene: Scene) -> None:
    await scene.message(received=3 * 3600, finished=3 * 3600)
    await scene.counted()
    assert await scene.database.fetch_value("SELECT count(*) FROM figure") == 2
    assert await Retention(scene.database, Times(timedelta(days=7))).clean() == 1
    await scene.database.execute("DELETE FROM channel_instance")
    assert await scene.database.fetch_value("SELECT count(*) FROM figure") == 0


async def test_figures_are_read_and_counted_by_index(scene: Scene) -> None:
    fill = """
    INSERT INTO inbox (instance_id, session_key, event_key, event, status, received_at, finished_at)
    SELECT %(instance)s, 's' || n, 'k' || n, '{}', 1, now() - make_interval(secs => 20000 - n), now()
        - make_interval(secs => 20000 - n) FROM generate_series(1, 20000) n
    """
    parts = """
    INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, status, finished_at)
    SELECT instance_id, session_key, id, '{}', '{}', event_key, CASE WHEN id %% 100 = 0 THEN 2 ELSE 1 END, finished_at
    FROM inbox WHERE instance_id = %(instance)s
    """
    for statement in (fill, parts):
        await scene.database.execute(statement, {"instance": scene.instance})
    await scene.database.execute("ANALYZE inbox, outbox")
    [(highest, now)] = await scene.database.fetch("SELECT max(id), now() FROM inbox")
    parameters = {"since": now - timedelta(seconds=10), "until": now, "inbox": highest - 70}
    parameters |= {"bounds": list(BOUNDS), "steps": [60, 1800]}
    for statement in (SQL["count_figures"], SQL["move_figures"]):
        [(explained,)] = await scene.database.fetch(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
        assert _scanned(explained[0]["Plan"]) <= {"channel_instance", "figure_position"}


def _scanned(plan: dict[str, Any]) -> set[str]:
    """The tables that are read without an index."""
    own = {plan["Relation Name"]} if plan["Node Type"] == "Seq Scan" else set()
    return own.union(*(_scanned(child) for child in plan.get("Plans", ())))


def test_the_steps_of_a_period_end_with_the_present_one() -> None:
    until = datetime.fromisoformat("2026-03-01T09:30:59+00:00")
    found = steps_of(Period.HOUR, until, {until.replace(second=0): {-1: 3, 10: 2}})
    assert found.points[-1].at == until.replace(second=0)
    assert found.points[-1].counts.received == found.total.received == 3
    assert found.points[0].at == until.replace(second=0) - timedelta(minutes=59)
