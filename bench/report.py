"""The rows of the table, and what is kept of a run."""

import json
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from bench.measuring import ROOT
from bench.rounds import TRUSTED, Figure, Samples, middle_of, ratio

HEAD = "| What | Goal | CPU, service | CPU, with the database | Rate or value | Medians |\n|---|---|---|---|---|---|"
RESULTS = ROOT / "bench/results"
EXPLANATION = f"""Ratios are medians of the ratios of each round, better above 1 for ours against another. In
brackets: the distance between the quartiles of the rounds against the median, with a warning above
{100 * TRUSTED:.0f} %. CPU is the time of all processes of the service for each request or message (and that of all
processes of PostgreSQL); the rate is what came of it on one core.
"""


@dataclass(frozen=True)
class Row:
    """One line: `value` is the rate or what else the goal is about."""

    what: str
    goal: str = ""
    service: Figure | None = None
    total: Figure | None = None
    value: Figure | str = ""
    details: str = ""

    def __str__(self) -> str:
        cells = (self.what, self.goal, self.service or "", self.total or "", self.value, self.details)
        return f"| {' | '.join(map(str, cells))} |"


def against(what: str, goal: str, samples: Samples, ours: str, other: str) -> Row:
    """Ours against another: how often its CPU time holds ours, and our rate against its."""
    return Row(
        what,
        goal,
        ratio(samples, other, ours, "service_us"),
        ratio(samples, other, ours, "all_us"),
        ratio(samples, ours, other, "rate"),
        f"{told(samples, ours)} / {told(samples, other)}",
    )


def told(samples: Samples, name: str) -> str:
    """The medians of a case."""
    rate, service, database = (
        middle_of(samples, name, value) for value in ("rate", "service_us", "database_us")
    )
    return f"{rate:,.0f}/s, {service:.0f}" + (f" + {database:.0f} µs" if database else " µs")


@dataclass
class Report:
    """What the parts say; `raw` keeps every round."""

    rows: list[Row] = field(default_factory=list)
    raw: dict[str, object] = field(default_factory=dict)

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.rows.append(row)
            print(row, flush=True)

    def keep(self, name: str, samples: Samples) -> None:
        self.raw[name] = {case: [asdict(sample) for sample in found] for case, found in samples.items()}

    def write(self, rounds: int, seconds: float) -> None:
        RESULTS.mkdir(exist_ok=True)
        now = datetime.now(UTC)
        said = f"{rounds} rounds, {seconds / 60:.0f} minutes, Python {platform.python_version()}"
        text = f"# Engine, {now:%Y-%m-%d}\n\n{said}. {EXPLANATION}\n{table(self.rows)}\n"
        (RESULTS / "engine.md").write_text(text, encoding="utf-8")
        raw = {"at": now.isoformat(), "rounds": rounds, **self.raw}
        (RESULTS / "engine.json").write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")


def table(rows: Sequence[Row]) -> str:
    return "\n".join([HEAD, *map(str, rows)])
