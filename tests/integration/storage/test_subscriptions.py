"""Subscriptions of several processes on one database."""

import asyncio
from typing import Any

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.subscriptions import SQL, PostgresSubscriptions
from adapters.outbound.system.encryption import ConfigCipher, new_key
from domain.subscriptions.model import SubscriptionFields
from domain.subscriptions.planning import ALL, MOST_WAITING, PlannedPush, PushPlan, PushState


async def test_a_change_counts_though_its_notice_was_lost(database: Database) -> None:
    """The process that made it may be killed before it tells the others."""
    cipher = ConfigCipher(new_key())
    told: list[int] = []
    ours, other = (PostgresSubscriptions(database, cipher, told.append, lambda: None) for _ in range(2))
    fields = SubscriptionFields("https://events.example/a", secret="s")
    for number in range(1, 3):
        added = await other.add("ann", fields, 0, 9, all_users=False)
        assert added is not None
        assert len(await ours.active()) == number
    await other.change(added.id, SubscriptionFields(kinds=("message.failed",)), 0)
    assert [subscription.kinds for subscription in await ours.active()] == [(), ("message.failed",)]
    await other.switch_off(added.id, "it is gone")
    [left] = await ours.active()
    await other.remove(left.id)
    assert await ours.active() == []


async def test_of_two_workers_that_plan_the_same_events_one_stores_them(database: Database) -> None:
    store = PostgresSubscriptions(database, ConfigCipher(new_key()), lambda _: None, lambda: None)
    added = await store.add("ann", SubscriptionFields("https://a.example", secret="s"), 0, 9, all_users=False)
    assert added is not None
    told: list[None] = []
    cipher = ConfigCipher(new_key())
    workers = [
        PostgresSubscriptions(database, cipher, lambda _: None, lambda: told.append(None)) for _ in range(2)
    ]

    def plan(state: PushState) -> PushPlan | None:
        if state.position:
            return None
        pushes = [PlannedPush(added.id, "1:s", 3), PlannedPush(added.id, "1:s", 4)]
        return PushPlan(5, {(added.id, ALL): 4}, state.waiting, pushes)  # type: ignore[arg-type]

    assert sorted(await asyncio.gather(*(worker.plan(plan) for worker in workers))) == [False, True]
    behind = await workers[0].behind()
    assert (behind.position, behind.cursors) == (5, {(added.id, ALL): 4})
    assert behind.waiting == {(added.id, "1:s"): 2}
    assert told == [None]

    assert await workers[1].plan(lambda state: PushPlan(5, {}, state.waiting))  # type: ignore[arg-type]
    assert (await workers[0].behind()).cursors == {}
    await store.remove(added.id)
    assert (await workers[0].behind()).waiting == {}


async def test_what_waits_of_a_long_backlog_is_not_counted_row_by_row(database: Database) -> None:
    """The version before put all events on their way at once."""
    store = PostgresSubscriptions(database, ConfigCipher(new_key()), lambda _: None, lambda: None)
    added = await store.add("ann", SubscriptionFields("https://a.example", secret="s"), 0, 9, all_users=False)
    assert added is not None
    columns = "instance_id, session_key, message, target, key"
    await database.execute(
        f"INSERT INTO outbox ({columns}) SELECT n %% 5 + %s, '1:s', '', '', n"
        " FROM generate_series(1, 20000) n",
        (added.id,),
    )
    await database.execute("ANALYZE outbox")
    rows = await database.fetch(f"EXPLAIN (ANALYZE, FORMAT JSON) {SQL['push_state']}", {"all": True})
    read = [node for node in nodes_of(rows[0][0][0]["Plan"]) if node.get("Relation Name") == "outbox"]
    assert [(node["Node Type"], node["Actual Rows"]) for node in read] == [("Index Scan", MOST_WAITING)]


def nodes_of(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in nodes_of(child))]
