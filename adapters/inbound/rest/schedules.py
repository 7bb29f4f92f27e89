"""What runs by the clock over REST."""

from fastapi import APIRouter

from adapters.inbound.rest import schedule_schemas as schemas
from adapters.inbound.rest.routing import (
    CURSOR_PARAMETERS,
    CurrentCaller,
    CursorPage,
    InstanceId,
    JsonRoute,
    Services,
    errors,
)
from adapters.inbound.rest.schemas import Accepted
from domain.paging import Page
from domain.polling.model import ScheduleView

BASE = "/api/agent/schedules"

router = APIRouter(route_class=JsonRoute, tags=["schedules"])


@router.get(
    BASE,
    response_model=schemas.ScheduleList,
    responses=errors(400),
    summary="What runs by the clock",
    openapi_extra={"parameters": CURSOR_PARAMETERS},
)
async def list_schedules(
    services: Services, caller: CurrentCaller, page: CursorPage
) -> Page[ScheduleView, int]:
    """Firings and polls of the caller's instances (an admin's: of all), ordered by the ids of the instances."""
    return await services.schedules.list(caller, page.number, page.limit)


@router.post(
    BASE + "/{instanceId}/run",
    status_code=202,
    response_model=Accepted,
    responses=errors(403, 404, 409),
    summary="Fire or poll now",
)
async def run(services: Services, caller: CurrentCaller, instance: InstanceId) -> Accepted:
    """Fires or polls once more as soon as a worker can, also where nothing is planned; the plan stays. While a run is
    under way, the next one begins when it has ended. 409 for an instance that does not run by the clock."""
    await services.schedules.run(caller, instance)
    return Accepted(message="The run begins as soon as a worker can take it")
