"""Servicers of the channel services: convert, call, convert."""

from typing import Any

from switchboard.channels.v1 import catalogue_pb2 as catalogue_pb
from switchboard.channels.v1 import catalogue_pb2_grpc, instances_pb2_grpc
from switchboard.channels.v1 import instances_pb2 as pb

from adapters.inbound.grpc.interceptors import caller
from adapters.wire import catalogue as wire
from adapters.wire import instances as convert
from adapters.wire.pages import PAGE_BYTES, fitting, page, position
from ports.use_cases import Catalogue, InstanceOperations, Instances

DEFAULT_LIMIT = 5
LARGEST_LIMIT = 1000


class CatalogueServicer(catalogue_pb2_grpc.CatalogueServiceServicer):
    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def ListDefinitions(
        self, request: catalogue_pb.ListDefinitionsRequest, context: Any
    ) -> catalogue_pb.ListDefinitionsResponse:
        definitions = await self._catalogue.definitions()
        return catalogue_pb.ListDefinitionsResponse(definitions=map(wire.definition_to_pb, definitions))

    async def GetDefinition(
        self, request: catalogue_pb.GetDefinitionRequest, context: Any
    ) -> catalogue_pb.Definition:
        return wire.definition_to_pb(await self._catalogue.definition(request.id))

    async def ListSockets(
        self, request: catalogue_pb.ListSocketsRequest, context: Any
    ) -> catalogue_pb.ListSocketsResponse:
        live = [wire.socket_to_pb(socket) for socket in await self._catalogue.sockets(caller())]
        sockets, following = page(live, request.page_token)
        return catalogue_pb.ListSocketsResponse(sockets=sockets, next_page_token=following)


class InstanceServicer(instances_pb2_grpc.InstanceServiceServicer):
    def __init__(self, instances: Instances, operations: InstanceOperations) -> None:
        self._instances = instances
        self._operations = operations

    async def ListInstances(self, request: pb.ListInstancesRequest, context: Any) -> pb.ListInstancesResponse:
        stored = await self._instances.page(caller(), position(request.page_token), PAGE_BYTES)
        instances = fitting(map(convert.view_to_pb, stored.views))
        more = stored.more or len(instances) < len(stored.views)
        return pb.ListInstancesResponse(
            instances=instances, next_page_token=str(instances[-1].id) if more else ""
        )

    async def GetInstance(self, request: pb.GetInstanceRequest, context: Any) -> pb.Instance:
        return convert.view_to_pb(await self._instances.get(caller(), request.instance_id))

    async def CreateInstance(
        self, request: pb.CreateInstanceRequest, context: Any
    ) -> pb.SaveInstanceResponse:
        return convert.SAVED.to_pb(await self._instances.create(caller(), convert.NEW.from_pb(request)))

    async def UpdateInstance(
        self, request: pb.UpdateInstanceRequest, context: Any
    ) -> pb.SaveInstanceResponse:
        change = convert.CHANGE.from_pb(request)
        return convert.SAVED.to_pb(await self._instances.update(caller(), request.instance_id, change))

    async def SetTrusted(self, request: pb.SetTrustedRequest, context: Any) -> pb.Instance:
        view = await self._instances.set_trusted(caller(), request.instance_id, trusted=request.trusted)
        return convert.view_to_pb(view)

    async def DeleteInstance(
        self, request: pb.DeleteInstanceRequest, context: Any
    ) -> pb.DeleteInstanceResponse:
        await self._instances.delete(caller(), request.instance_id)
        return pb.DeleteInstanceResponse()

    async def RequestPairing(
        self, request: pb.RequestPairingRequest, context: Any
    ) -> pb.RequestPairingResponse:
        return convert.PAIRING.to_pb(await self._instances.request_pairing(caller(), request.instance_id))

    async def GetHealth(self, request: pb.GetHealthRequest, context: Any) -> pb.Health:
        return convert.health_to_pb(await self._operations.health(caller(), request.instance_id))

    async def ListDeliveries(
        self, request: pb.ListDeliveriesRequest, context: Any
    ) -> pb.ListDeliveriesResponse:
        limit = min(request.limit or DEFAULT_LIMIT, LARGEST_LIMIT)
        deliveries = await self._operations.deliveries(
            caller(), request.instance_id, request.status or None, max(1, limit), max(0, request.offset)
        )
        return convert.deliveries_to_pb(deliveries)

    async def ReplayDelivery(
        self, request: pb.ReplayDeliveryRequest, context: Any
    ) -> pb.ReplayDeliveryResponse:
        await self._operations.replay(caller(), request.instance_id, request.delivery_id)
        return pb.ReplayDeliveryResponse()

    async def DropDelivery(self, request: pb.DropDeliveryRequest, context: Any) -> pb.DropDeliveryResponse:
        await self._operations.drop(caller(), request.instance_id, request.delivery_id)
        return pb.DropDeliveryResponse()

    async def ListUnanswered(
        self, request: pb.ListUnansweredRequest, context: Any
    ) -> pb.ListUnansweredResponse:
        limit = min(request.limit or DEFAULT_LIMIT, LARGEST_LIMIT)
        messages = await self._operations.unanswered(
            caller(), request.instance_id, max(1, limit), max(0, request.offset)
        )
        return convert.unanswered_to_pb(messages)

    async def ReleaseUnanswered(
        self, request: pb.ReleaseUnansweredRequest, context: Any
    ) -> pb.ReleaseUnansweredResponse:
        await self._operations.release(caller(), request.instance_id, request.message_id)
        return pb.ReleaseUnansweredResponse()
