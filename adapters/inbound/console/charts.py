"""Charts of figures as shapes of an SVG. Coordinates are those of a picture of `WIDTH` by `HEIGHT`, drawn to fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from domain.monitoring.model import Counts, Figures

WIDTH, HEIGHT = 600.0, 120.0
GAP = 0.2
"""The part of a step that is left free between two bars."""


@dataclass(frozen=True, slots=True)
class Bar:
    kind: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Line:
    """`path`: the data of an SVG path."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class Chart:
    """`top`: the value at the upper edge; the lower one is 0."""

    top: float
    bars: Sequence[Bar]
    lines: Sequence[Line]


def messages_chart(figures: Figures) -> Chart:
    """Answers, and on them what was given up, as bars; what was received as a line above them."""
    counts = [point.counts for point in figures.points]
    top = rounded_up(max(max(each.received, each.answered + each.failed) for each in counts))
    bars = []
    for number, each in enumerate(counts):
        if each.answered:
            bars.append(_bar("good", number, len(counts), 0, each.answered, top))
        if each.failed:
            bars.append(_bar("bad", number, len(counts), each.answered, each.failed, top))
    return Chart(top, bars, [Line("received", _steps([each.received for each in counts], top))])


def times_chart(figures: Figures) -> Chart:
    """The seconds to a reply: of half of the answers, and of 95 % of them. Steps without an answer are gaps."""
    counts = [point.counts for point in figures.points]
    top = rounded_up(max((each.p95 or 0.0) for each in counts))
    kinds: dict[str, Callable[[Counts], float | None]] = {
        "p95": lambda each: each.p95,
        "p50": lambda each: each.p50,
    }
    return Chart(top, [], [Line(kind, _steps(list(map(of, counts)), top)) for kind, of in kinds.items()])


def rounded_up(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50 and so on, and of the same fractions; at least 1."""
    top = 1.0
    while top < value:
        top *= 2.5 if str(top).startswith("2") else 2
    return top


def _bar(kind: str, number: int, steps: int, below: float, value: float, top: float) -> Bar:
    width = WIDTH / steps
    high, low = HEIGHT * (1 - (below + value) / top), HEIGHT * (1 - below / top)
    return Bar(
        kind,
        round((number + GAP / 2) * width, 1),
        round(high, 1),
        round(width * (1 - GAP), 1),
        round(low - high, 1),
    )


def _steps(values: Sequence[float | None], top: float) -> str:
    """A line that keeps its height for a step; None leaves a gap."""
    width, path, drawn = WIDTH / len(values), [], False
    for number, value in enumerate(values):
        if value is not None:
            start = f"{'L' if drawn else 'M'}{number * width:.1f} {HEIGHT * (1 - value / top):.1f}"
            path.append(f"{start}h{width:.1f}")
        drawn = value is not None
    return "".join(path)
