"""The store of what the runs of resources take."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from domain.paging import Page
from domain.usage.budgets import Budget, BudgetKey, BudgetState
from domain.usage.model import RunUsage, UsageFilter, UsageSum


class UsageStore(Protocol):
    """Sums by day, instance, resource and user. Runs for a message that gets an outcome are recorded with that, see
    `EventOutcome.usage`."""

    def keep(self, instance_id: int, runs: Iterable[RunUsage]) -> None:
        """Has further runs recorded within a second. Those of a process that is killed before that are lost."""

    async def list(self, usage_filter: UsageFilter, limit: int, cursor: str | None) -> Page[UsageSum, str]:
        """Ordered by day, instance, resource, user and currency. Raises `Invalid` for an unknown cursor."""


class BudgetStore(Protocol):
    """Budgets, and what was spent of them in each month. Every method raises `Unavailable`."""

    async def set(self, key: BudgetKey, amount: float, created_by: str, most: int) -> Budget | None:
        """Sets a budget, in place of that with the same key. What was spent this month counts, also before it was
        set. None where the user has set `most` budgets."""

    async def list(self, owner: str | None, after: int, limit: int) -> Sequence[Budget]:
        """Those with ids over `after`, ordered by id: of this user, and of the user's instances and agents; None: of
        all."""

    async def find(self, owner: str | None, budget_id: int) -> Budget | None:
        """One of those that `list` gives."""

    async def remove(self, budget_id: int) -> None: ...

    async def states(self) -> Sequence[BudgetState]:
        """All budgets, with what is spent of each this month."""

    async def tell_reached(self) -> None:
        """Records an event for each budget that has reached a percent of `NOTIFIED` of which no event has told this
        month."""
