"""What the runs of resources take: tokens, seconds, and what they cost."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from domain.channels.provenance import Usage
from domain.values import value

MAX_PRICE = 1_000_000
CURRENCY = re.compile(r"[A-Z]{3}")
MOST_TOKENS = 10**12
"""Of one run that are counted: what a server tells beyond that is nonsense, and must not make sums too large to be
stored."""


@value
class Prices:
    """What a million tokens cost that a model reads (`input`) and writes (`output`)."""

    input: float
    output: float
    currency: str

    def cost(self, usage: Usage) -> float:
        return (self.input * usage.input_tokens + self.output * usage.output_tokens) / 1_000_000


@value
class RunUsage:
    """What one run took, the tries of it that failed included.

    `resource_id` is without an expert index: the experts of an agent are counted together. `user_id`: the sender's
    user, or the owner of the instance for a sender who is not verified. `currency`: empty for a resource without
    prices, whose `cost` is 0.
    """

    resource_id: str
    user_id: str
    usage: Usage
    seconds: float
    cost: float = 0.0
    currency: str = ""


@dataclass(slots=True)
class UsageMeter:
    """Counts what the runs for one message take: `runs` are those that ended. `failed`: what failed tries of the
    current run took; `prices`: those of the resource that is asked, None where it has none."""

    runs: list[RunUsage] = field(default_factory=list)
    failed: Usage | None = None
    prices: Prices | None = None

    def add_failed(self, usage: Usage | None) -> None:
        """Counts what a try took that gave no result."""
        if usage is not None:
            self.failed = usage if self.failed is None else self.failed + usage

    def end_run(self, resource_id: str, user_id: str, usage: Usage | None, seconds: float) -> None:
        """Counts a run. `usage`: what its result tells, None for a run without a result."""
        self.add_failed(usage)
        tokens, prices = self.failed or Usage(0, 0), self.prices
        total = Usage(min(tokens.input_tokens, MOST_TOKENS), min(tokens.output_tokens, MOST_TOKENS))
        cost, currency = (prices.cost(total), prices.currency) if prices else (0.0, "")
        self.runs.append(RunUsage(resource_id, user_id, total, seconds, cost, currency))
        self.failed = self.prices = None

    def take(self) -> list[RunUsage]:
        """The runs that nobody took before."""
        runs, self.runs = self.runs, []
        return runs


class Dimension(StrEnum):
    """What usage is summed up by. `AGENT`: by resource id."""

    DAY = "day"
    INSTANCE = "instance"
    AGENT = "agent"
    USER = "user"


@value
class UsageFilter:
    """The usage of some days, both included, in UTC, summed up by what `by` names. `instance_ids`: None for that of
    all, also of instances that are gone. `asked_by`: also what this user asked by hand, which came to no instance."""

    by: Sequence[Dimension]
    first: date
    last: date
    instance_ids: Sequence[int] | None = None
    asked_by: str | None = None


@value
class UsageSum:
    """What runs took together. None for what the sum is not split by; `currency`: None where there were no prices.
    `instance_id` is 0 for questions and tests that came to no instance."""

    day: str | None
    instance_id: int | None
    resource_id: str | None
    user_id: str | None
    currency: str | None
    runs: int
    input_tokens: int
    output_tokens: int
    seconds: float
    cost: float
