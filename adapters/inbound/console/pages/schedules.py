"""What runs by the clock: when next, how it went, and "now"."""

from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import ConsoleRequest, redirect, render, render_part
from domain.polling.model import ScheduleView

PAGE = "/console/schedules"
LIVE = ("message.received", "instance.health")


async def schedules(request: ConsoleRequest) -> Response:
    page = request.cursor_page
    listed = await request.services.schedules.list(request.caller, page.number, page.limit)
    failing_first = sorted(listed.items, key=lambda schedule: not _is_failing(schedule))
    values = {"schedules": failing_first, "next": listed.next, "is_failing": _is_failing}
    if request.is_htmx:
        return render_part(request, "schedules.html", values, block="list")
    return render(request, "schedules.html", values, live_kinds=LIVE)


def _is_failing(schedule: ScheduleView) -> bool:
    """Return True if the last run failed, or nothing is planned any more because it did."""
    failed, succeeded = schedule.last_error_at, schedule.last_success
    return schedule.failures > 0 or (failed is not None and (succeeded is None or failed > succeeded))


async def run(request: ConsoleRequest) -> Response:
    instance_id = request.instance_id
    await request.services.schedules.run(request.caller, instance_id)
    return redirect(PAGE, "It runs as soon as a worker can take it, usually within a second.")


ROUTES = [
    Route(PAGE, schedules),
    Route(PAGE + "/{instance}/run", run, methods=["POST"]),
]
