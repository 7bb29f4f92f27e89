"""A message whose usage is counted against one whose is not: the same resource, in Telegram.

python -m bench --only usage

CPU is that of the worker's process and of the database, less what both use when idle. The worker is one that counts
no runs of one of the two resources.
"""

import sys
from dataclasses import asdict

import uvloop

from bench import ours
from bench.agents import RULE, Cost, Pair, measure
from bench.part import Bench
from bench.report import Row
from bench.rounds import Figure
from domain.channels.provenance import Usage
from domain.usage.model import UsageMeter

COUNTED, UNCOUNTED = "counted", "uncounted"


count_run = UsageMeter.end_run


def count_some(
    meter: UsageMeter, resource_id: str, user_id: str, usage: Usage | None, seconds: float
) -> None:
    """Counts no runs of the one resource."""
    if not resource_id.endswith(UNCOUNTED):
        count_run(meter, resource_id, user_id, usage, seconds)


def run(bench: Bench) -> list[Row]:
    """A part of the bench that is measured only where it is named."""
    rules = RULE.format(name=COUNTED) + RULE.format(name=UNCOUNTED)
    pair = Pair((COUNTED, UNCOUNTED), rules, "bench.usage", bench.database.cpu)
    costs = uvloop.run(measure(bench.database.fresh("usage"), bench.rounds, pair))
    bench.report.raw["usage"] = [[asdict(cost) for cost in pair] for pair in costs]
    counted, uncounted = median_of(costs)
    return [
        Row(
            "CPU, a message whose usage is counted against one whose is not",
            "<= 1.02",
            total=Figure.of([one.cpu_us / other.cpu_us for one, other in costs]),
            details=f"{counted.cpu_us:.0f} / {uncounted.cpu_us:.0f} µs",
        )
    ]


def median_of(costs: list[tuple[Cost, Cost]]) -> tuple[Cost, Cost]:
    """The round in the middle, by its ratio."""
    return sorted(costs, key=lambda pair: pair[0].cpu_us / pair[1].cpu_us)[len(costs) // 2]


if __name__ == "__main__":
    UsageMeter.end_run = count_some  # type: ignore[method-assign]
    sys.exit(ours.main(sys.argv[1:]))
