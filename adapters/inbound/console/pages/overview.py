"""The overview: what is broken, charts of messages, findings of the doctor, and the stream of events of live parts.

Charts are shapes of an SVG, in coordinates of a picture of `WIDTH` by `HEIGHT`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.channel_setup import FAILING_KINDS, attention
from adapters.inbound.console.requests import ConsoleRequest, render, render_part
from adapters.inbound.console.sessions import LIVE, ROOT
from adapters.inbound.rest.events import stream_of
from adapters.inbound.rest.routing import comma_separated, parsed_id
from domain.monitoring.model import Figures, Grade, Period, parse_period
from domain.paging import LARGEST_LIMIT
from domain.refusals import Fault, Invalid

MOST_SHOWN = 10
"""Channels with problems on the first page; the others are on their own."""


async def overview(request: ConsoleRequest) -> Response:
    state = await _state(request)
    figures = await _figures(request) if state["instances"] else {}
    return render(request, "overview.html", {**state, **figures}, live_kinds=FAILING_KINDS)


async def state(request: ConsoleRequest) -> Response:
    return render_part(request, "overview_state.html", await _state(request))


async def figures(request: ConsoleRequest) -> Response:
    return render_part(request, "overview_figures.html", await _figures(request))


async def _state(request: ConsoleRequest) -> Mapping[str, Any]:
    """The broken channels among all; where there are more than one page has, the others are asked for alone."""
    health = request.services.monitoring.health
    page = await health.list(request.caller, LARGEST_LIMIT, None)
    failing = [instance for instance in page.items if not instance.health.healthy]
    more = page.next is not None
    if more and len(failing) < MOST_SHOWN:
        failing += (await health.list(request.caller, MOST_SHOWN, page.next, failing=True)).items
    queue: Counter[str] = Counter()
    oldest = 0.0
    for instance in page.items:
        queue.update(instance.health.queue)
        oldest = max(oldest, instance.backlog.waiting_seconds, instance.backlog.pending_seconds)
    return {
        "instances": page.items,
        "more": more,
        "failing": [(instance, attention(instance)) for instance in failing[:MOST_SHOWN]],
        "failing_count": len(failing),
        "queue": queue,
        "oldest": oldest,
    }


async def _figures(request: ConsoleRequest) -> Mapping[str, Any]:
    period = parse_period(request.query_params.get("period", Period.HOUR))
    figures_ = await request.services.monitoring.figures.figures(request.caller, period, None)
    charts = {"messages": messages_chart(figures_), "times": times_chart(figures_)}
    return {"figures": figures_, "periods": list(Period), **charts}


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
    top = rounded_up(max(max(count.received, count.answered + count.failed) for count in counts))
    bars = []
    for number, count in enumerate(counts):
        if count.answered:
            bars.append(_bar("good", number, len(counts), 0, count.answered, top))
        if count.failed:
            bars.append(_bar("bad", number, len(counts), count.answered, count.failed, top))
    return Chart(top, bars, [Line("received", _steps([count.received for count in counts], top))])


def times_chart(figures: Figures) -> Chart:
    """The seconds to a reply: of half of the answers, and of 95 % of them. Steps without an answer are gaps."""
    counts = [point.counts for point in figures.points]
    top = rounded_up(max((count.p95 or 0.0) for count in counts))
    lines = {"p95": [count.p95 for count in counts], "p50": [count.p50 for count in counts]}
    return Chart(top, [], [Line(kind, _steps(values, top)) for kind, values in lines.items()])


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


ORDER = (Grade.FAIL, Grade.NOTE, Grade.OK)


async def doctor(request: ConsoleRequest) -> Response:
    findings = await request.services.monitoring.doctor.findings(request.caller)
    graded = {grade.value: [finding for finding in findings if finding.grade is grade] for grade in ORDER}
    return render(request, "doctor.html", {"graded": graded})


async def live(request: ConsoleRequest) -> Response:
    """As `GET /api/agent/events`."""
    query = request.query_params
    text = request.headers.get("last-event-id") or query.get("after") or ""
    cursor = 0 if text == "0" else parsed_id(text)
    if text and cursor is None:
        raise Invalid.of([Fault("after", "must be the id of an event, a whole number")])
    kinds, instances = comma_separated(query.getlist("kinds")), request.named_instances()
    return await stream_of(request, request.services, request.caller, cursor, kinds, instances)


ROUTES = [
    Route(ROOT, overview),
    Route("/console/overview/state", state),
    Route("/console/overview/figures", figures),
    Route("/console/doctor", doctor),
    Route(LIVE, live),
]
