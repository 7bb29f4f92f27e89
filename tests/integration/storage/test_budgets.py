"""Budgets: a month begins with nothing spent, and what is spent is counted with the usage."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from adapters.outbound.storage.budgets import PostgresBudgets
from adapters.outbound.storage.events import PostgresEventLog
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import Retention, Times
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.provenance import Usage
from domain.paging import LARGEST_LIMIT
from domain.usage.budget_service import BudgetGuard
from domain.usage.budgets import BudgetKey, BudgetScope
from domain.usage.model import Dimension, RunUsage, UsageFilter
from tests.support.event_log import events_of, listening

KEY = BudgetKey(BudgetScope.AGENT, "agent::a", "", by_admin=True)
RUN = RunUsage("agent::a", "ann", Usage(9, 4), 0.5, 0.25, "EUR")
MOST = 5
LATER = "UPDATE budget_spent SET month = month - interval '1 month'"


@pytest.fixture
def budgets(database: Database) -> PostgresBudgets:
    return PostgresBudgets(database)


@pytest.fixture
def usage(database: Database) -> PostgresUsage:
    return PostgresUsage(database)


async def spend(usage: PostgresUsage, *runs: RunUsage) -> None:
    usage.keep(7, runs)
    await usage.flush()


async def test_a_month_begins_with_nothing_spent(
    database: Database, budgets: PostgresBudgets, usage: PostgresUsage
) -> None:
    await budgets.set(KEY, 10, "admin", MOST)
    await spend(usage, RUN)
    guard = BudgetGuard(budgets)
    await guard.refresh()
    assert guard.used_up(7, "agent::a", "ann")
    assert guard.used_up(7, "agent::b", "ann") is None

    await database.execute(LATER)
    after = BudgetGuard(budgets)
    await after.refresh()
    assert after.used_up(7, "agent::a", "ann") is None


async def test_what_is_recorded_while_the_sums_are_read_counts_once(
    budgets: PostgresBudgets, usage: PostgresUsage
) -> None:
    await budgets.set(KEY, 27, "admin", MOST)
    guard = BudgetGuard(budgets)
    await guard.refresh()
    await spend(usage, RUN)
    guard.note(7, [RUN])
    await guard.refresh()
    guard.note(7, [RUN])
    await guard.refresh()
    await spend(usage, RUN)
    await guard.refresh()
    assert guard.used_up(7, "agent::a", "ann") is None  # 26 of 27

    guard.note(7, [RUN])
    assert guard.used_up(7, "agent::a", "ann")


async def test_concurrent_processes_lose_nothing(
    database: Database, budgets: PostgresBudgets, usage: PostgresUsage
) -> None:
    await budgets.set(KEY, 1000, "admin", MOST)
    stores = [PostgresUsage(database) for _ in range(8)]
    await asyncio.gather(*(spend(store, RUN, RUN) for store in stores for _ in range(5)))
    [state] = await budgets.states()
    assert state.spent == 8 * 5 * 2 * 13
    [sums] = (await usage.list(of_all(), LARGEST_LIMIT, None)).items
    assert (sums.runs, sums.input_tokens, sums.cost) == (80, 720, 20)


async def test_a_budget_counts_each_run_of_the_month_once_whenever_it_is_set(
    budgets: PostgresBudgets, usage: PostgresUsage
) -> None:
    await spend(usage, RUN)
    await asyncio.gather(
        budgets.set(KEY, 1000, "admin", MOST), *(budgets.states() for _ in range(4)), spend(usage, RUN)
    )
    await spend(usage, RUN)
    [state] = await budgets.states()
    assert state.spent == 3 * 13


def of_all() -> UsageFilter:
    today = datetime.now(UTC).date()
    return UsageFilter([Dimension.AGENT], today - timedelta(days=1), today + timedelta(days=1))


async def test_an_event_tells_of_each_percent_once_also_of_several_processes(
    database: Database, budgets: PostgresBudgets, usage: PostgresUsage
) -> None:
    log: PostgresEventLog = await listening(database)
    await budgets.set(KEY, 15, "admin", MOST)
    await spend(usage, RUN)
    await asyncio.gather(*(BudgetGuard(budgets).refresh() for _ in range(5)))
    await spend(usage, RUN)
    await asyncio.gather(*(BudgetGuard(budgets).refresh() for _ in range(5)))
    events = await events_of(log)
    assert [(event.data["percent"], event.owner) for event in events] == [(80, "admin"), (100, "admin")]

    await database.execute(LATER)
    await spend(usage, RUN)
    await database.execute("UPDATE budget SET notified_month = notified_month - interval '1 month'")
    await BudgetGuard(budgets).refresh()
    assert [event.data["percent"] for event in await events_of(log)] == [80, 100, 80]


async def test_each_user_may_set_so_many(budgets: PostgresBudgets) -> None:
    for number in range(MOST):
        assert await budgets.set(BudgetKey(BudgetScope.USER, f"u{number}", "", True), 1, "admin", MOST)
    assert await budgets.set(BudgetKey(BudgetScope.USER, "one more", "", True), 1, "admin", MOST) is None
    changed = await budgets.set(BudgetKey(BudgetScope.USER, "u1", "", True), 2, "admin", MOST)
    assert changed is not None
    assert changed.tokens == 2


async def test_a_budget_that_is_removed_leaves_nothing_and_stops_no_outcome(
    database: Database, budgets: PostgresBudgets, usage: PostgresUsage
) -> None:
    budget = await budgets.set(KEY, 10, "admin", MOST)
    assert budget is not None
    await spend(usage, RUN)
    await budgets.remove(budget.id)
    await spend(usage, RUN)
    assert await database.fetch("SELECT 1 FROM budget_spent") == []


async def test_old_usage_goes(database: Database, budgets: PostgresBudgets, usage: PostgresUsage) -> None:
    await budgets.set(KEY, 10, "admin", MOST)
    await spend(usage, RUN)
    await database.execute("UPDATE usage SET day = day - 401")
    await database.execute("UPDATE budget_spent SET month = month - interval '401 days'")
    await Retention(database, Times(timedelta(days=7))).clean()
    assert await database.fetch("SELECT 1 FROM usage UNION ALL SELECT 1 FROM budget_spent") == []
