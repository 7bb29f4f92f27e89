"""What is counted of runs, and the budgets that they are checked against."""

from datetime import date

import pytest

from domain.channels.provenance import Usage
from domain.usage.budgets import BudgetScope, BudgetState
from domain.usage.model import MOST_TOKENS, Prices, RunUsage, UsageMeter

EUR = Prices(2, 10, "EUR")


def test_failed_tries_count_with_the_run_and_each_run_is_taken_once() -> None:
    meter = UsageMeter(prices=EUR)
    meter.add_failed(Usage(9, 4))
    meter.add_failed(None)
    meter.end_run("agent::a", "ann", Usage(1, 1), 2.0)
    meter.end_run("agent::b", "ann", None, 0.5)
    assert meter.take() == [
        RunUsage("agent::a", "ann", Usage(10, 5), 2.0, pytest.approx(0.00007), "EUR"),
        RunUsage("agent::b", "ann", Usage(0, 0), 0.5),
    ]
    assert meter.take() == []


def test_numbers_of_tokens_that_make_no_sense_are_cut() -> None:
    meter = UsageMeter()
    meter.end_run("agent::a", "ann", Usage(2**53, 4), 1.0)
    [run] = meter.take()
    assert run.usage == Usage(MOST_TOKENS, 4)


@pytest.mark.parametrize(
    ("spent", "notified", "is_to_be_told", "is_used_up"),
    [
        (79.9, 0, False, False),
        (80, 0, True, False),
        (99, 80, False, False),
        (100, 80, True, True),
        (250, 0, True, True),
        (250, 100, False, True),
    ],
)
def test_a_budget_is_told_at_80_and_at_100_percent(
    spent: float, notified: int, is_to_be_told: bool, is_used_up: bool
) -> None:
    state = BudgetState(1, BudgetScope.USER, "ann", "EUR", 100, date(2026, 3, 1), spent, notified)
    assert (state.is_to_be_told, state.is_used_up) == (is_to_be_told, is_used_up)


def test_a_budget_of_money_counts_its_own_currency_alone() -> None:
    state = BudgetState(1, BudgetScope.USER, "ann", "EUR", 100, date(2026, 3, 1), 0)
    for currency in ("EUR", "USD", ""):
        state.add(RunUsage("agent::a", "ann", Usage(1, 1), 1.0, 30, currency))
    assert state.spent == 30
    assert state.in_words == "the monthly budget of user ann is used up: 30 of 100 EUR"
