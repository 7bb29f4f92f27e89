"""The channel use cases of a remote core."""

from collections.abc import Sequence

from switchboard.channels.v1 import catalogue_pb2, catalogue_pb2_grpc, instances_pb2_grpc
from switchboard.channels.v1 import instances_pb2 as pb

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire import catalogue as wire
from adapters.wire import instances as convert
from domain.access.model import Caller
from domain.channels.model import ChannelDefinition
from domain.instances.model import (
    Deliveries,
    Delivery,
    Health,
    InstanceChange,
    InstancePage,
    InstanceView,
    LiveSocket,
    NewInstance,
    Page,
    Pairing,
    SaveResult,
    UnansweredMessage,
    UnansweredPage,
)

SLOW = 40.0
"""Seconds for calls that wait for a platform: registering a webhook, a pairing code."""


class RemoteCatalogue:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = catalogue_pb2_grpc.CatalogueServiceStub(core.channel)

    async def definitions(self) -> Sequence[ChannelDefinition]:
        answer = await self._core.call(self._stub.ListDefinitions, catalogue_pb2.ListDefinitionsRequest())
        return [wire.definition_from_pb(definition) for definition in answer.definitions]

    async def definition(self, channel_id: str) -> ChannelDefinition:
        request = catalogue_pb2.GetDefinitionRequest(id=channel_id)
        return wire.definition_from_pb(await self._core.call(self._stub.GetDefinition, request))

    async def sockets(self, caller: Caller) -> Sequence[LiveSocket]:
        pages = self._core.pages(self._stub.ListSockets, catalogue_pb2.ListSocketsRequest())
        return [wire.socket_from_pb(socket) async for page in pages for socket in page.sockets]


class RemoteInstances:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = instances_pb2_grpc.InstanceServiceStub(core.channel)

    async def list(self, caller: Caller) -> Sequence[InstanceView]:
        pages = self._core.pages(self._stub.ListInstances, pb.ListInstancesRequest())
        return [convert.view_from_pb(instance) async for page in pages for instance in page.instances]

    async def page(self, caller: Caller, after: int, most_bytes: int) -> InstancePage:
        """As many as the core sends in one message, whatever `most_bytes` says."""
        request = pb.ListInstancesRequest(page_token=str(after))
        answer = await self._core.call(self._stub.ListInstances, request)
        views = [convert.view_from_pb(instance) for instance in answer.instances]
        return InstancePage(views, bool(answer.next_page_token))

    async def get(self, caller: Caller, instance_id: int) -> InstanceView:
        request = pb.GetInstanceRequest(instance_id=instance_id)
        return convert.view_from_pb(await self._core.call(self._stub.GetInstance, request))

    async def create(self, caller: Caller, new: NewInstance) -> SaveResult:
        request = convert.NEW.to_pb(new)
        return convert.SAVED.from_pb(await self._core.call(self._stub.CreateInstance, request, deadline=SLOW))

    async def update(self, caller: Caller, instance_id: int, change: InstanceChange) -> SaveResult:
        request = convert.CHANGE.to_pb(change, instance_id=instance_id)
        return convert.SAVED.from_pb(await self._core.call(self._stub.UpdateInstance, request, deadline=SLOW))

    async def set_trusted(self, caller: Caller, instance_id: int, *, trusted: bool) -> InstanceView:
        request = pb.SetTrustedRequest(instance_id=instance_id, trusted=trusted)
        return convert.view_from_pb(await self._core.call(self._stub.SetTrusted, request))

    async def delete(self, caller: Caller, instance_id: int) -> None:
        request = pb.DeleteInstanceRequest(instance_id=instance_id)
        await self._core.call(self._stub.DeleteInstance, request, deadline=SLOW)

    async def request_pairing(self, caller: Caller, instance_id: int) -> Pairing:
        request = pb.RequestPairingRequest(instance_id=instance_id)
        return convert.PAIRING.from_pb(
            await self._core.call(self._stub.RequestPairing, request, deadline=SLOW)
        )

    async def health(self, caller: Caller, instance_id: int) -> Health:
        request = pb.GetHealthRequest(instance_id=instance_id)
        return convert.health_from_pb(await self._core.call(self._stub.GetHealth, request))

    async def deliveries(
        self, caller: Caller, instance_id: int, status: str | None, limit: int, offset: int
    ) -> Deliveries:
        deliveries: list[Delivery] = []
        while True:
            request = pb.ListDeliveriesRequest(
                instance_id=instance_id,
                status=status or "",
                limit=limit - len(deliveries),
                offset=offset + len(deliveries),
            )
            page = convert.deliveries_from_pb(await self._core.call(self._stub.ListDeliveries, request))
            deliveries += page.items
            if not page.items or len(deliveries) >= min(limit, page.page.total - offset):
                return Deliveries(tuple(deliveries), Page(limit, offset, page.page.total))

    async def replay(self, caller: Caller, instance_id: int, delivery_id: int) -> None:
        request = pb.ReplayDeliveryRequest(instance_id=instance_id, delivery_id=delivery_id)
        await self._core.call(self._stub.ReplayDelivery, request)

    async def drop(self, caller: Caller, instance_id: int, delivery_id: int) -> None:
        request = pb.DropDeliveryRequest(instance_id=instance_id, delivery_id=delivery_id)
        await self._core.call(self._stub.DropDelivery, request)

    async def unanswered(self, caller: Caller, instance_id: int, limit: int, offset: int) -> UnansweredPage:
        messages: list[UnansweredMessage] = []
        while True:
            request = pb.ListUnansweredRequest(
                instance_id=instance_id, limit=limit - len(messages), offset=offset + len(messages)
            )
            page = convert.unanswered_from_pb(await self._core.call(self._stub.ListUnanswered, request))
            messages += page.items
            if not page.items or len(messages) >= min(limit, page.page.total - offset):
                return UnansweredPage(tuple(messages), Page(limit, offset, page.page.total))

    async def release(self, caller: Caller, instance_id: int, message_id: int) -> None:
        request = pb.ReleaseUnansweredRequest(instance_id=instance_id, message_id=message_id)
        await self._core.call(self._stub.ReleaseUnanswered, request)
