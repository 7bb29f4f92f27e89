"""Channel instances over REST, with the two legacy aliases."""

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from adapters.inbound.rest import schemas
from adapters.inbound.rest.routing import (
    CurrentCaller,
    DeliveryId,
    InstanceId,
    JsonRoute,
    RequestedPage,
    Services,
    UnansweredId,
    before_body,
    caller_of,
    errors,
    instance_id,
)
from domain.instances.model import (
    Delivery,
    Health,
    InstanceChange,
    InstanceView,
    NewInstance,
    Pairing,
    SaveResult,
    UnansweredMessage,
)
from domain.paging import Slice
from ports.use_cases import UseCases

BASE = "/api/agent/channel-instances"
CREATED = {
    **errors(400, 403, 409, 413),
    200: {"model": schemas.CreatedInstance, "description": "The instance named by id was updated."},
}
PAGING = {
    "parameters": [
        {"name": "status", "in": "query", "schema": {"enum": ["pending", "sent", "dead"]}},
        {"name": "limit", "in": "query", "schema": {"type": "integer", "default": 5}},
        {"name": "offset", "in": "query", "schema": {"type": "integer", "default": 0}},
    ]
}
CREATE = (
    "Checks the configuration against the channel's definition and stores it encrypted. Names of instances are unique"
    " for each user and channel (409). With `id` an instance of the caller is updated (200). A platform that refuses"
    " the webhook or the credentials fails nothing: its words are in `webhookError`."
)
DELETE = (
    "Deletes the instance, its waiting messages and its replies on their way, and takes back the webhook that was"
    " registered for it. Only the owner may."
)

router = APIRouter(route_class=JsonRoute, tags=["channel instances"])


async def require_ownership(services: UseCases, request: Request) -> None:
    """Raises `NotFound`, `Forbidden`."""
    instance = await instance_id(request.path_params["instanceId"])
    await services.instances.get(await caller_of(request), instance)


@router.get(
    BASE,
    response_model=list[schemas.ChannelInstance],
    responses=errors(400),
    summary="The caller's instances",
)
async def list_instances(services: Services, caller: CurrentCaller) -> Sequence[InstanceView]:
    """The active instances of the caller, ordered by id."""
    return await services.instances.list(caller)


@router.get(
    BASE + "/{instanceId}",
    response_model=schemas.ChannelInstance,
    responses=errors(403, 404),
    summary="One instance",
)
async def get_instance(services: Services, caller: CurrentCaller, instance: InstanceId) -> InstanceView:
    """One instance with its configuration as it was stored."""
    return await services.instances.get(caller, instance)


@router.post(
    BASE,
    status_code=201,
    response_model=schemas.CreatedInstance,
    responses=CREATED,
    summary="Create an instance, or update the one named by id",
    description=CREATE,
)
@router.post(
    "/api/agent/channels",
    status_code=201,
    response_model=schemas.CreatedInstance,
    responses=CREATED,
    summary="Create an instance (legacy alias)",
    description=f"{CREATE} The older path of POST {BASE}.",
)
async def create_instance(
    services: Services, caller: CurrentCaller, body: schemas.CreateInstance, response: Response
) -> SaveResult:
    new = NewInstance(body.channelId, body.channelName, body.config, body.downStreamResourceId, body.id)
    result = await services.instances.create(caller, new)
    response.status_code = 201 if result.created else 200
    return result


@router.put(
    BASE + "/{instanceId}",
    response_model=schemas.UpdatedInstance,
    responses=errors(400, 403, 404, 409, 413),
    summary="Update an instance",
)
@before_body(require_ownership)
async def update_instance(
    services: Services, caller: CurrentCaller, instance: InstanceId, body: schemas.UpdateInstance
) -> SaveResult:
    """Replaces the configuration, and the name and resource where they are given. Only the owner may."""
    change = InstanceChange(body.config, body.downStreamResourceId, body.channelName)
    return await services.instances.update(caller, instance, change)


@router.put(
    BASE + "/{instanceId}/trusted",
    response_model=schemas.ChannelInstance,
    responses=errors(400, 403, 404, 413),
    summary="Trust an instance, or trust it no longer",
)
async def set_trusted(
    services: Services, caller: CurrentCaller, instance: InstanceId, body: schemas.InstanceTrust
) -> InstanceView:
    """Senders who are proved by a secret or server of the instance's owner count as other users only where an admin
    has marked the instance as trusted. Admins alone may."""
    return await services.instances.set_trusted(caller, instance, trusted=body.trusted)


@router.delete(
    BASE + "/{instanceId}",
    response_model=schemas.DeletedInstance,
    responses=errors(403, 404),
    summary="Delete an instance",
    description=DELETE,
)
@router.delete(
    "/api/agent/channels/instance/{instanceId}",
    response_model=schemas.DeletedInstance,
    responses=errors(403, 404),
    summary="Delete an instance (legacy alias)",
    description=f"{DELETE} The older path of DELETE {BASE}/{{instanceId}}.",
)
async def delete_instance(
    services: Services, caller: CurrentCaller, instance: InstanceId
) -> schemas.DeletedInstance:
    await services.instances.delete(caller, instance)
    return schemas.DeletedInstance(message="Instance deleted", instanceId=str(instance))


@router.post(
    BASE + "/{instanceId}/request-pairing",
    response_model=schemas.PairingAnswer,
    responses=errors(400, 403, 404, 429),
    summary="Force a new pairing code",
)
async def request_pairing(services: Services, caller: CurrentCaller, instance: InstanceId) -> Pairing:
    """Asks for a new pairing code of a linked device; waits for up to 20 seconds. A failure is an answer with
    `success` false. 400 where there is none."""
    return await services.instances.request_pairing(caller, instance)


@router.get(
    BASE + "/{instanceId}/health",
    response_model=schemas.InstanceHealth,
    responses=errors(403, 404),
    summary="What works and what does not",
)
async def health(services: Services, caller: CurrentCaller, instance: InstanceId) -> Health:
    """What worked last, what failed last, what waits, and what to mend."""
    return await services.operations.health(caller, instance)


@router.get(
    BASE + "/{instanceId}/deliveries",
    response_model=schemas.DeliveryList,
    responses=errors(400, 403, 404),
    summary="Reply parts on their way, sent, or given up",
    openapi_extra=PAGING,
)
async def deliveries(
    services: Services, caller: CurrentCaller, instance: InstanceId, page: RequestedPage, request: Request
) -> Slice[Delivery]:
    """The parts of replies, ordered by id: on their way, sent, or given up."""
    status = request.query_params.get("status") or None
    return await services.operations.deliveries(caller, instance, status, page.limit, page.offset)


@router.post(
    BASE + "/{instanceId}/deliveries/{deliveryId}/replay",
    status_code=202,
    response_model=schemas.Accepted,
    responses=errors(403, 404, 409),
    summary="Send a delivery again",
)
async def replay(
    services: Services, caller: CurrentCaller, instance: InstanceId, delivery: DeliveryId
) -> schemas.Accepted:
    """Sends a part again that was given up. 409 for one that was sent or is on its way."""
    await services.operations.replay(caller, instance, delivery)
    return schemas.Accepted(message="The delivery is sent again")


@router.delete(
    BASE + "/{instanceId}/deliveries/{deliveryId}",
    status_code=204,
    responses=errors(403, 404),
    summary="Drop a delivery",
)
async def drop(services: Services, caller: CurrentCaller, instance: InstanceId, delivery: DeliveryId) -> None:
    """Removes a part from the outbox."""
    await services.operations.drop(caller, instance, delivery)


@router.get(
    BASE + "/{instanceId}/unanswered",
    response_model=schemas.UnansweredList,
    responses=errors(400, 403, 404),
    summary="Messages that are not answered",
    openapi_extra=PAGING,
)
async def unanswered(
    services: Services, caller: CurrentCaller, instance: InstanceId, page: RequestedPage
) -> Slice[UnansweredMessage]:
    """Messages that are not answered, such as mails of lists and machines, with the reason; the newest first."""
    return await services.operations.unanswered(caller, instance, page.limit, page.offset)


@router.post(
    BASE + "/{instanceId}/unanswered/{unansweredId}/release",
    status_code=202,
    response_model=schemas.Accepted,
    responses=errors(403, 404),
    summary="Answer a message that was not answered",
)
async def release(
    services: Services, caller: CurrentCaller, instance: InstanceId, message: UnansweredId
) -> schemas.Accepted:
    """Hands a message to the resource as if it had just come, and takes it off the list."""
    await services.operations.release(caller, instance, message)
    return schemas.Accepted(message="The message is answered")
