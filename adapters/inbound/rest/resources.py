"""What stands behind resource ids over REST."""

from fastapi import APIRouter

from adapters.inbound.rest import resource_schemas as schemas
from adapters.inbound.rest.routing import CurrentCaller, JsonRoute, Services, errors
from domain.routing.model import ResourceRules, ResourceTrial

BASE = "/api/agent/resources"

router = APIRouter(route_class=JsonRoute, tags=["resources"])


@router.get(
    BASE, response_model=schemas.ResourceRules, responses=errors(403), summary="The rules of resources"
)
async def rules(services: Services, caller: CurrentCaller) -> ResourceRules:
    """What runs behind which resource ids, for admins. Tokens, and what may be secret in addresses, are left out."""
    return await services.resources.rules(caller)


@router.post(
    BASE + "/try",
    response_model=schemas.ResourceTrial,
    responses=errors(400, 413, 429),
    summary="Try a resource",
)
async def try_out(services: Services, caller: CurrentCaller, body: schemas.TryResource) -> ResourceTrial:
    """Tells what takes a resource id, and with `ask` asks it for real, for 30 seconds at most. The resource gets a
    message of a new conversation of the channel `trial`; what it answers goes nowhere else. One trial of a user at a
    time, 8 of all."""
    return await services.resources.try_out(caller, body.downStreamResourceId, body.text, ask=body.ask)
