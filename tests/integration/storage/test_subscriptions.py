"""Subscriptions of several processes on one database."""

from __future__ import annotations

import asyncio

from adapters.outbound.security.encryption import ConfigCipher, new_key
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.subscriptions import PostgresPushes, PostgresSubscriptions
from domain.subscriptions.model import SubscriptionFields
from domain.subscriptions.planning import ALL, PlannedPush, PushPlan, PushState


async def test_a_change_counts_though_its_notice_was_lost(database: Database) -> None:
    """The process that made it may be killed before it tells the others."""
    cipher = ConfigCipher(new_key())
    told: list[int] = []
    ours, other = (PostgresSubscriptions(database, cipher, told.append) for _ in range(2))
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
    store = PostgresSubscriptions(database, ConfigCipher(new_key()), lambda _: None)
    added = await store.add("ann", SubscriptionFields("https://a.example", secret="s"), 0, 9, all_users=False)
    assert added is not None
    told: list[None] = []
    workers = [PostgresPushes(database, lambda: told.append(None)) for _ in range(2)]

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
