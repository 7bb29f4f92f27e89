"""The first page: what is broken, and what happened to messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.charts import messages_chart, times_chart
from adapters.inbound.console.health import FAILING_KINDS, attention
from adapters.inbound.console.requests import caller_of, render, render_part, services_of
from adapters.inbound.console.sessions import ROOT
from domain.monitoring.model import Period, parse_period
from domain.paging import LARGEST_LIMIT

MOST_SHOWN = 10
"""Channels with problems on the first page; the others are on their own."""


async def overview(request: Request) -> Response:
    state = await _state(request)
    figures = await _figures(request) if state["instances"] else {}
    return render(request, "overview.html", {**state, **figures}, live_kinds=FAILING_KINDS)


async def state(request: Request) -> Response:
    return render_part(request, "overview_state.html", await _state(request))


async def figures(request: Request) -> Response:
    return render_part(request, "overview_figures.html", await _figures(request))


async def _state(request: Request) -> Mapping[str, Any]:
    """The broken channels among all; where there are more than one page has, the others are asked for alone."""
    health, caller = services_of(request).monitoring.health, caller_of(request)
    page = await health.list(caller, LARGEST_LIMIT, None)
    failing = [instance for instance in page.items if not instance.health.healthy]
    more = page.next is not None
    if more and len(failing) < MOST_SHOWN:
        behind = await health.list(caller, MOST_SHOWN, page.next, failing=True)
        failing += behind.items
    return {
        "instances": page.items,
        "more": more,
        "failing": [(instance, attention(instance)) for instance in failing[:MOST_SHOWN]],
        "failing_count": len(failing),
        "queue": {
            name: sum(instance.health.queue[name] for instance in page.items)
            for name in ("waiting", "pending", "dead")
        },
        "oldest": max(
            (max(each.backlog.waiting_seconds, each.backlog.pending_seconds) for each in page.items),
            default=0.0,
        ),
    }


async def _figures(request: Request) -> Mapping[str, Any]:
    period = parse_period(request.query_params.get("period", Period.HOUR))
    found = await services_of(request).monitoring.figures.figures(caller_of(request), period, None)
    charts = {"messages": messages_chart(found), "times": times_chart(found)}
    return {"figures": found, "periods": list(Period), **charts}


ROUTES = [
    Route(ROOT, overview),
    Route("/console/overview/state", state),
    Route("/console/overview/figures", figures),
]
