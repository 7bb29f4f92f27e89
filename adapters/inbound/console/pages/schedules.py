"""What runs by the clock: when next, how it went, and "now"."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import (
    caller_of,
    cursor_page,
    instance_of,
    is_htmx,
    redirect,
    render,
    render_part,
    services_of,
)
from domain.polling.model import ScheduleView

PAGE = "/console/schedules"
LIVE = ("message.received", "instance.health")


async def schedules(request: Request) -> Response:
    page = cursor_page(request)
    listed = await services_of(request).schedules.list(caller_of(request), page.number, page.limit)
    failing_first = sorted(listed.items, key=lambda schedule: not _is_failing(schedule))
    values = {"schedules": failing_first, "next": listed.next, "is_failing": _is_failing}
    if is_htmx(request):
        return render_part(request, "schedules.html", values, block="list")
    return render(request, "schedules.html", values, live_kinds=LIVE)


def _is_failing(schedule: ScheduleView) -> bool:
    """Return True if the last run failed, or nothing is planned any more because it did."""
    failed, succeeded = schedule.last_error_at, schedule.last_success
    return schedule.failures > 0 or (failed is not None and (succeeded is None or failed > succeeded))


async def run(request: Request) -> Response:
    instance_id = instance_of(request)
    await services_of(request).schedules.run(caller_of(request), instance_id)
    return redirect(PAGE, "It runs as soon as a worker can take it, usually within a second.")


ROUTES = [
    Route(PAGE, schedules),
    Route(PAGE + "/{instance}/run", run, methods=["POST"]),
]
