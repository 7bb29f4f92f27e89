"""What a user, an instance or an agent may take in a month."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from domain.usage.model import RunUsage
from domain.values import value

MOST_BUDGETS = 1000
"""Set by one user."""
MOST_AMOUNT = 10**12
"""Of tokens, or of a currency."""
NOTIFIED = (80, 100)
"""Percent of a budget at which an event tells of it, once a month."""


class BudgetScope(StrEnum):
    """What a budget is of. `AGENT`: by resource id."""

    USER = "user"
    INSTANCE = "instance"
    AGENT = "agent"


@value
class NewBudget:
    """A budget to be set: of one of the first three, and either of tokens or of a cost in a currency."""

    user_id: str | None = None
    instance_id: int | None = None
    resource_id: str | None = None
    tokens: int | None = None
    cost: float | None = None
    currency: str | None = None


@value
class BudgetKey:
    """What a budget is of, and in what: `currency` is empty for tokens. Each has one budget of admins (`by_admin`),
    and one of its owner."""

    scope: BudgetScope
    subject: str
    currency: str
    by_admin: bool


@value
class Budget:
    """A budget, and what is `spent` of it in the current `month`, as 2026-03: tokens, or money in its currency."""

    id: int
    user_id: str | None
    instance_id: int | None
    resource_id: str | None
    tokens: int | None
    cost: float | None
    currency: str | None
    by_admin: bool
    created_by: str
    updated_at: datetime
    month: str
    spent: float

    @property
    def subject(self) -> str:
        """Names what it is of, such as "instance:7"."""
        if self.instance_id is not None:
            return f"{BudgetScope.INSTANCE}:{self.instance_id}"
        if self.resource_id is not None:
            return f"{BudgetScope.AGENT}:{self.resource_id}"
        return f"{BudgetScope.USER}:{self.user_id}"

    @property
    def percent(self) -> float:
        return round(100 * self.spent / (self.cost or self.tokens or 1), 1)


@dataclass(slots=True)
class BudgetState:
    """A budget as it is checked before a run. `notified`: the highest percent of which an event told this month, 0
    for none."""

    id: int
    scope: BudgetScope
    subject: str
    currency: str
    amount: float
    month: date
    spent: float
    notified: int = 0

    @property
    def is_used_up(self) -> bool:
        return self.spent >= self.amount

    @property
    def is_to_be_told(self) -> bool:
        """Return True if it has reached a percent of which no event has told."""
        percent = 100 * self.spent / self.amount
        return any(self.notified < threshold <= percent for threshold in NOTIFIED)

    def add(self, run: RunUsage) -> None:
        if not self.currency:
            self.spent += run.usage.input_tokens + run.usage.output_tokens
        elif self.currency == run.currency:
            self.spent += run.cost

    @property
    def in_words(self) -> str:
        unit = self.currency or "tokens"
        spent, amount = f"{self.spent:,.10g}", f"{self.amount:,.10g}"
        return f"the monthly budget of {self.scope} {self.subject} is used up: {spent} of {amount} {unit}"
