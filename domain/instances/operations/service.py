"""The health of an instance, its deliveries, and what it does not answer."""

from dataclasses import replace

from domain.access.model import Caller
from domain.delivery.states import check_state
from domain.instances.health import health_of
from domain.instances.lookup.service import known_channel, owned_instance
from domain.instances.model import Deliveries, Health, UnansweredPage
from domain.refusals import Conflict, NotFound
from ports.channels import Channels
from ports.instances import HealthStore, InstanceStore, UnansweredStore
from ports.outbox import DeliveryStore


class OperationsService:
    """`ports.use_cases.InstanceOperations`."""

    def __init__(
        self,
        store: InstanceStore,
        channels: Channels,
        health: HealthStore,
        deliveries: DeliveryStore,
        unanswered: UnansweredStore,
    ) -> None:
        self._store = store
        self._channels = channels
        self._health = health
        self._deliveries = deliveries
        self._unanswered = unanswered

    async def health(self, caller: Caller, instance_id: int) -> Health:
        instance = await owned_instance(self._store, caller, instance_id)
        record = await self._health.find(instance_id)
        queue = await self._health.queue(instance_id)
        health = health_of(instance, known_channel(self._channels, instance.channel_id), record, queue)
        return replace(health, unanswered=await self._unanswered.counts(instance_id))

    async def deliveries(
        self, caller: Caller, instance_id: int, status: str | None, limit: int, offset: int
    ) -> Deliveries:
        await owned_instance(self._store, caller, instance_id)
        check_state(status)
        return await self._deliveries.list(instance_id, status, limit, offset)

    async def replay(self, caller: Caller, instance_id: int, delivery_id: int) -> None:
        await owned_instance(self._store, caller, instance_id)
        replayed = await self._deliveries.replay(instance_id, delivery_id)
        if replayed is None:
            raise NotFound(f"the instance has no delivery {delivery_id}")
        if not replayed:
            raise Conflict("the delivery is not a dead letter: it was sent, or is on its way")

    async def drop(self, caller: Caller, instance_id: int, delivery_id: int) -> None:
        await owned_instance(self._store, caller, instance_id)
        if not await self._deliveries.drop(instance_id, delivery_id):
            raise NotFound(f"the instance has no delivery {delivery_id}")

    async def unanswered(self, caller: Caller, instance_id: int, limit: int, offset: int) -> UnansweredPage:
        await owned_instance(self._store, caller, instance_id)
        return await self._unanswered.list(instance_id, limit, offset)

    async def release(self, caller: Caller, instance_id: int, message_id: int) -> None:
        await owned_instance(self._store, caller, instance_id)
        if not await self._unanswered.release(instance_id, message_id):
            raise NotFound(f"the instance has no unanswered message {message_id}")
