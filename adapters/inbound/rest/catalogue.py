"""GET /api/agent/channels: the definitions, and the connections that are up."""

from __future__ import annotations

from fastapi import APIRouter, Request

from adapters.inbound.rest import schemas, serializers
from adapters.inbound.rest.errors import JsonResponse
from adapters.inbound.rest.routing import caller_of, errors
from ports.clock import Clock
from ports.use_cases import Catalogue


def router(catalogue: Catalogue, clock: Clock) -> APIRouter:
    routes = APIRouter(prefix="/api/agent/channels", tags=["channel definitions"])

    @routes.get(
        "", response_model=list[schemas.ChannelDefinition], responses=errors(), summary="All definitions"
    )
    async def list_definitions() -> JsonResponse:
        return JsonResponse([serializers.definition(each) for each in await catalogue.definitions()])

    @routes.get(
        "/status", response_model=schemas.ChannelStatus, responses=errors(), summary="Live connections"
    )
    async def status(request: Request) -> JsonResponse:
        live = await catalogue.sockets(caller_of(request))
        return JsonResponse(serializers.sockets(live, clock.now()))

    @routes.get(
        "/{type}", response_model=schemas.ChannelDefinition, responses=errors(404), summary="One definition"
    )
    async def definition(type: str) -> JsonResponse:
        return JsonResponse(serializers.definition(await catalogue.definition(type)))

    return routes
