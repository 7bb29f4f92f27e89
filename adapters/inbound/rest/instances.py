"""Channel instances over REST, with the two legacy aliases."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from adapters.inbound.rest import schemas, serializers
from adapters.inbound.rest.errors import JsonResponse
from adapters.inbound.rest.routing import JsonRoute, before_body, caller_of, errors, page_of, path_id
from domain.instances.model import InstanceChange, NewInstance
from ports.use_cases import Instances

UNKNOWN = "there is no instance {}"
BASE = "/api/agent/channel-instances"


def router(instances: Instances) -> APIRouter:
    routes = APIRouter(route_class=JsonRoute, tags=["channel instances"])

    @routes.get(
        BASE,
        response_model=list[schemas.ChannelInstance],
        responses=errors(400),
        summary="The caller's instances",
    )
    async def list_instances(request: Request) -> JsonResponse:
        return JsonResponse([serializers.instance(each) for each in await instances.list(caller_of(request))])

    @routes.get(
        BASE + "/{instanceId}",
        response_model=schemas.ChannelInstance,
        responses=errors(403, 404),
        summary="One instance",
    )
    async def get_instance(request: Request, instanceId: str) -> JsonResponse:
        view = await instances.get(caller_of(request), path_id(instanceId, UNKNOWN))
        return JsonResponse(serializers.instance(view))

    async def own(request: Request) -> None:
        await instances.get(caller_of(request), path_id(request.path_params["instanceId"], UNKNOWN))

    created = {
        **errors(400, 403, 409, 413),
        200: {"model": schemas.CreatedInstance, "description": "The instance named by id was updated."},
    }

    @routes.post(
        BASE,
        status_code=201,
        response_model=schemas.CreatedInstance,
        responses=created,
        summary="Create an instance, or update the one named by id",
    )
    @routes.post(
        "/api/agent/channels",
        status_code=201,
        response_model=schemas.CreatedInstance,
        responses=created,
        summary="Create an instance (legacy alias)",
    )
    async def create_instance(request: Request, body: schemas.CreateInstance) -> JsonResponse:
        new = NewInstance(body.channelId, body.channelName, body.config, body.downStreamResourceId, body.id)
        result = await instances.create(caller_of(request), new)
        answer = {**serializers.saved(result), "operation": result.operation}
        return JsonResponse(answer, status_code=201 if result.created else 200)

    @routes.put(
        BASE + "/{instanceId}",
        response_model=schemas.UpdatedInstance,
        responses=errors(400, 403, 404, 409, 413),
        summary="Update an instance",
    )
    @before_body(own)
    async def update_instance(
        request: Request,
        instanceId: str,
        body: schemas.UpdateInstance,
    ) -> JsonResponse:
        change = InstanceChange(body.config, body.downStreamResourceId, body.channelName)
        result = await instances.update(caller_of(request), path_id(instanceId, UNKNOWN), change)
        return JsonResponse(serializers.saved(result))

    @routes.delete(
        BASE + "/{instanceId}",
        response_model=schemas.DeletedInstance,
        responses=errors(403, 404),
        summary="Delete an instance",
    )
    @routes.delete(
        "/api/agent/channels/instance/{instanceId}",
        response_model=schemas.DeletedInstance,
        responses=errors(403, 404),
        summary="Delete an instance (legacy alias)",
    )
    async def delete_instance(request: Request, instanceId: str) -> JsonResponse:
        instance_id = path_id(instanceId, UNKNOWN)
        await instances.delete(caller_of(request), instance_id)
        return JsonResponse({"success": True, "message": "Instance deleted", "instanceId": str(instance_id)})

    @routes.post(
        BASE + "/{instanceId}/request-pairing",
        response_model=schemas.PairingAnswer,
        responses=errors(400, 403, 404, 429),
        summary="Force a new pairing code",
    )
    async def request_pairing(request: Request, instanceId: str) -> JsonResponse:
        pairing = await instances.request_pairing(caller_of(request), path_id(instanceId, UNKNOWN))
        return JsonResponse(
            {"success": pairing.success, "pairingCode": pairing.code, "message": pairing.message}
        )

    _watching(routes, instances)
    return routes


def _watching(routes: APIRouter, instances: Instances) -> None:
    @routes.get(
        BASE + "/{instanceId}/health",
        response_model=schemas.InstanceHealth,
        responses=errors(403, 404),
        summary="What works and what does not",
    )
    async def health(request: Request, instanceId: str) -> JsonResponse:
        found = await instances.health(caller_of(request), path_id(instanceId, UNKNOWN))
        return JsonResponse(serializers.health(found))

    @routes.get(
        BASE + "/{instanceId}/deliveries",
        response_model=schemas.DeliveryList,
        responses=errors(400, 403, 404),
        summary="Reply parts on their way, sent, or given up",
        openapi_extra={
            "parameters": [
                {"name": "status", "in": "query", "schema": {"enum": ["pending", "sent", "dead"]}},
                {"name": "limit", "in": "query", "schema": {"type": "integer", "default": 5}},
                {"name": "offset", "in": "query", "schema": {"type": "integer", "default": 0}},
            ]
        },
    )
    async def deliveries(request: Request, instanceId: str) -> JsonResponse:
        page = page_of(request)
        status = request.query_params.get("status") or None
        found = await instances.deliveries(
            caller_of(request), path_id(instanceId, UNKNOWN), status, page.limit, page.offset
        )
        return JsonResponse(serializers.deliveries(found))

    @routes.post(
        BASE + "/{instanceId}/deliveries/{deliveryId}/replay",
        status_code=202,
        response_model=schemas.Accepted,
        responses=errors(403, 404, 409),
        summary="Send a delivery again",
    )
    async def replay(request: Request, instanceId: str, deliveryId: str) -> JsonResponse:
        instance_id = path_id(instanceId, UNKNOWN)
        await instances.replay(
            caller_of(request), instance_id, path_id(deliveryId, "there is no delivery {}")
        )
        return JsonResponse({"success": True, "message": "The delivery is sent again"}, status_code=202)

    @routes.delete(
        BASE + "/{instanceId}/deliveries/{deliveryId}",
        status_code=204,
        responses=errors(403, 404),
        summary="Drop a delivery",
    )
    async def drop(request: Request, instanceId: str, deliveryId: str) -> Response:
        instance_id = path_id(instanceId, UNKNOWN)
        await instances.drop(caller_of(request), instance_id, path_id(deliveryId, "there is no delivery {}"))
        return Response(status_code=204)
