"""GET /api/agent/channels: the definitions, and the connections that are up."""

from collections.abc import Sequence

from fastapi import APIRouter

from adapters.inbound.rest import schemas
from adapters.inbound.rest.routing import CurrentCaller, GatewayState, Services, errors
from domain.channels.model import ChannelDefinition

router = APIRouter(prefix="/api/agent/channels", tags=["channel definitions"])


@router.get("", response_model=list[schemas.ChannelDefinition], responses=errors(), summary="All definitions")
async def list_definitions(services: Services) -> Sequence[ChannelDefinition]:
    """All channel types with their configuration fields and set-up steps."""
    return await services.catalogue.definitions()


@router.get("/status", response_model=schemas.ChannelStatus, responses=errors(), summary="Live connections")
async def status(gateway: GatewayState, caller: CurrentCaller) -> dict[str, object]:
    """The connections that are up, of the caller's instances; an admin sees all."""
    sockets = await gateway.use_cases.catalogue.sockets(caller)
    connected = {str(socket.instance_id): socket for socket in sockets}
    return {"connectedChannels": connected, "timestamp": gateway.clock.now()}


@router.get(
    "/{type}", response_model=schemas.ChannelDefinition, responses=errors(404), summary="One definition"
)
async def definition(services: Services, type: str) -> ChannelDefinition:
    """One channel type with its configuration fields and set-up steps."""
    return await services.catalogue.definition(type)
