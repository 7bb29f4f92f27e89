"""Channel instances: create, update, delete, health and deliveries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from domain import limits
from domain.access.model import Caller
from domain.channels.messages import Answer, Config, Event
from domain.channels.model import ChannelDefinition
from domain.channels.typed import ChannelConfig
from domain.instances.health import health_of
from domain.instances.model import (
    ACTIVE,
    UNREADABLE,
    Deliveries,
    Health,
    Instance,
    InstanceChange,
    InstancePage,
    InstanceView,
    NewInstance,
    Pairing,
    SaveResult,
)
from domain.instances.validation import advice, check_config
from domain.refusals import Conflict, Fault, Forbidden, Invalid, NotFound
from domain.routing.resource import parse_resource
from ports.capabilities import PlatformError, Registrar
from ports.channels import AnyChannel, Channels
from ports.instances import HealthStore, InstanceStore, Processes
from ports.outbox import DeliveryStore
from ports.pairing import Pairings
from ports.schedules import ScheduleSync

log = logging.getLogger(__name__)

STATES = ("pending", "sent", "dead")

COURTESY_SECONDS = 5.0
"""What a platform gets for taking the signs away that an answer is on its way."""


class InstanceService:
    """The use cases of channel instances. `callback_address` is what the platforms call, without a final slash."""

    def __init__(
        self,
        store: InstanceStore,
        channels: Channels,
        health: HealthStore,
        deliveries: DeliveryStore,
        processes: Processes,
        pairings: Pairings,
        planner: ScheduleSync,
        callback_address: str,
    ) -> None:
        self._store = store
        self._channels = channels
        self._health = health
        self._deliveries = deliveries
        self._processes = processes
        self._pairings = pairings
        self._planner = planner
        self._callback_address = callback_address

    async def list(self, caller: Caller) -> Sequence[InstanceView]:
        return [self._view(instance) for instance in await self._store.of_user(caller.user)]

    async def page(self, caller: Caller, after: int, most_bytes: int) -> InstancePage:
        found, more = await self._store.page_of_user(caller.user, after, most_bytes)
        return InstancePage([self._view(instance) for instance in found], more)

    async def get(self, caller: Caller, instance_id: int) -> InstanceView:
        return self._view(await self._owned(caller, instance_id))

    async def create(self, caller: Caller, new: NewInstance) -> SaveResult:
        owner = caller.user
        if new.id is not None and new.id < 1:
            raise Invalid.of([Fault("id", "must be the id of an instance")])
        channel = self._known_channel(new.channel_id)
        _check(channel.definition, new.channel_name, new.config, new.resource_id)
        existing = await self._store.find(new.id) if new.id is not None else None
        if existing is None or not existing.exists:
            return await self._saved(await self._store.add(owner, new), channel, "created")
        if not caller.may_act_for(existing.user_id):
            raise Forbidden("the instance named by id belongs to another user")
        if existing.channel_id != new.channel_id:
            raise Invalid.of([Fault("channelId", f"the instance is of the channel '{existing.channel_id}'")])
        return await self._change(
            existing, channel, InstanceChange(new.config, new.resource_id, new.channel_name)
        )

    async def update(self, caller: Caller, instance_id: int, change: InstanceChange) -> SaveResult:
        existing = await self._owned(caller, instance_id)
        channel = self._known_channel(existing.channel_id)
        name = existing.channel_name if change.channel_name is None else change.channel_name
        _check(channel.definition, name, change.config, change.resource_id)
        return await self._change(existing, channel, change)

    async def _change(self, existing: Instance, channel: AnyChannel, change: InstanceChange) -> SaveResult:
        instance = await self._store.change(existing.id, change)
        if instance is None:
            raise _unknown(existing.id)
        readable = existing.status != UNREADABLE
        if (
            readable
            and channel.registrar
            and channel.registrar.supersedes(
                channel.config.load(existing.config), channel.config.load(instance.config)
            )
        ):
            await self._unregister(existing, channel)
        return await self._saved(instance, channel, "updated")

    async def delete(self, caller: Caller, instance_id: int) -> None:
        instance = await self._owned(caller, instance_id)
        channel = self._channels.find(instance.channel_id)
        if channel and channel.registrar and instance.status != UNREADABLE:
            await self._unregister(instance, channel)
        await self._pairings.removed(instance)
        unanswered = await self._store.remove(instance_id)
        await _stop_waiting(channel, instance.config, unanswered)

    async def _unregister(self, instance: Instance, channel: AnyChannel) -> None:
        """Takes back what was registered for an instance as it was; what the platform says stops nothing."""
        record = await self._health.find(instance.id)
        try:
            if channel.registrar:
                await channel.registrar.unregister(channel.config.load(instance.config), record.registration)
        except PlatformError as error:
            log.warning("the platform did not remove the webhook: %s", error, extra={"instance": instance.id})
        if record.registration:
            await self._health.registration(instance.id, {})

    async def _register(
        self, instance: Instance, registrar: Registrar[ChannelConfig], config: ChannelConfig
    ) -> None:
        """Raises `PlatformError`."""
        kept = (await self._health.find(instance.id)).registration
        now = await registrar.register(config, self.webhook_address(instance), kept)
        if now != kept:
            await self._health.registration(instance.id, now)

    async def request_pairing(self, caller: Caller, instance_id: int) -> Pairing:
        instance = await self._owned(caller, instance_id)
        if not self._pairings.pairs(instance.channel_id):
            raise Invalid(f"instances of '{instance.channel_id}' are not paired with a code")
        return await self._pairings.request(instance)

    async def health(self, caller: Caller, instance_id: int) -> Health:
        instance = await self._owned(caller, instance_id)
        record = await self._health.find(instance_id)
        queue = await self._health.queue(instance_id)
        return health_of(instance, self._known_channel(instance.channel_id), record, queue)

    async def deliveries(
        self, caller: Caller, instance_id: int, status: str | None, limit: int, offset: int
    ) -> Deliveries:
        await self._owned(caller, instance_id)
        if status is not None and status not in STATES:
            raise Invalid.of([Fault("status", "must be one of 'pending', 'sent', 'dead'")])
        return await self._deliveries.list(instance_id, status, limit, offset)

    async def replay(self, caller: Caller, instance_id: int, delivery_id: int) -> None:
        await self._owned(caller, instance_id)
        done = await self._deliveries.replay(instance_id, delivery_id)
        if done is None:
            raise NotFound(f"the instance has no delivery {delivery_id}")
        if not done:
            raise Conflict("the delivery is not a dead letter: it was sent, or is on its way")

    async def drop(self, caller: Caller, instance_id: int, delivery_id: int) -> None:
        await self._owned(caller, instance_id)
        if not await self._deliveries.drop(instance_id, delivery_id):
            raise NotFound(f"the instance has no delivery {delivery_id}")

    async def _owned(self, caller: Caller, instance_id: int) -> Instance:
        instance = await self._store.find(instance_id)
        if instance is None or not instance.exists:
            raise _unknown(instance_id)
        if not caller.may_act_for(instance.user_id):
            raise Forbidden("the instance belongs to another user")
        return instance

    def _known_channel(self, channel_id: str) -> AnyChannel:
        channel = self._channels.find(channel_id)
        if channel is None:
            raise Invalid.of(
                [
                    Fault(
                        "channelId",
                        f"there is no channel '{channel_id[:100]}'; GET /api/agent/channels lists them",
                    )
                ]
            )
        return channel

    def _view(self, instance: Instance) -> InstanceView:
        channel = self._channels.find(instance.channel_id)
        return InstanceView(instance, channel.definition.name if channel else instance.channel_id)

    async def _saved(self, instance: Instance, channel: AnyChannel, operation: str) -> SaveResult:
        registered, error = await self._connected(instance, channel)
        hints = advice(channel.definition, instance.config)
        message = ". ".join([f"Instance {operation}", *hints])
        return SaveResult(
            instance_id=instance.id,
            operation=operation,
            message=message,
            worker_alive=await self._processes.worker_alive(),
            webhook_registered=registered,
            webhook_error=error,
        )

    async def _connected(self, instance: Instance, channel: AnyChannel) -> tuple[bool | None, str | None]:
        """Registers the webhook, or tries the credentials; whatever the platform says fails no create."""
        await self._planner.saved(instance)
        await self._pairings.saved(instance)
        error = await self._tried(instance, channel, anew=True)
        return (error is None if _must_register(channel) else None), error

    async def keep_registered(self, instance_id: int) -> None:
        """Registers the webhook again where the platform no longer calls it as we set it. A configuration that did
        not work is tried again: what was wrong may have been mended at the platform."""
        instance = await self._store.find(instance_id)
        channel = self._channels.find(instance.channel_id) if instance else None
        if instance is not None and channel is not None and instance.status == ACTIVE:
            await self._tried(instance, channel, anew=False)

    async def _tried(self, instance: Instance, channel: AnyChannel, *, anew: bool) -> str | None:
        """What the platform says against the webhook or the credentials, which is put on record."""
        registered, error = False, None
        config = channel.config.load(instance.config)
        address = self.webhook_address(instance)
        try:
            if channel.registrar:
                if anew or not await channel.registrar.registered(config, address):
                    await self._register(instance, channel.registrar, config)
                registered = True
            if channel.probe and _is_tried(instance, channel):
                await channel.probe.probe(config)
        except PlatformError as refused:
            error = str(refused)
        if channel.registrar or channel.probe:
            await self._health.webhook(instance.id, registered, error)
        return error

    async def registering(self) -> Sequence[int]:
        """The instances whose webhooks are registered with their platforms, and those whose configuration did not
        work when it was tried."""
        ids = [each.definition.id for each in self._channels.all() if each.registrar]
        registered = {instance.id for instance in await self._store.of_channels(ids)}
        return sorted(registered.union(await self._health.tried_in_vain()))

    def webhook_address(self, instance: Instance) -> str:
        """The address that the platform calls."""
        return f"{self._callback_address}/api/agent/channels/{instance.channel_id}/{instance.id}/webhook"


def _must_register(channel: AnyChannel) -> bool:
    return channel.registrar is not None and channel.definition.setup.webhook_required


def _is_tried(instance: Instance, channel: AnyChannel) -> bool:
    """A registration that is required tries the credentials too; what is incomplete needs no try."""
    return not _must_register(channel) and not advice(channel.definition, instance.config)


def _check(definition: ChannelDefinition, name: str, config: object, resource_id: str | None) -> None:
    faults = []
    if not name.strip():
        faults.append(Fault("channelName", "must not be empty"))
    elif fault := limits.text_fault(name, limits.CHANNEL_NAME):
        faults.append(Fault("channelName", fault))
    if not isinstance(config, dict):
        faults.append(Fault("config", "must be an object"))
    elif fault := limits.json_fault(config):
        faults.append(Fault("config", fault))
    if faults:
        raise Invalid.of(faults)
    if resource_id is not None:
        parse_resource(resource_id)
    assert isinstance(config, dict)
    check_config(definition, config)


def _unknown(instance_id: int) -> NotFound:
    return NotFound(f"there is no instance {instance_id}")


async def _stop_waiting(channel: AnyChannel | None, config: Config, unanswered: Sequence[Event]) -> None:
    """Takes away what shows that an answer to one of these messages is on its way. Best effort."""
    if channel is None or channel.waiting is None or channel.sender is None:
        return
    typed, sender = channel.config.load(config), channel.sender
    targets = [(event, channel.target.load(event.target)) for event in unanswered]
    try:
        parts = [
            sender.send(typed, target, part, f"{event.request_id}:removed")
            for event, target in targets
            if channel.waiting.shows_waiting(typed, target)
            for part in sender.render(typed, target, Answer(""))
        ]
        async with asyncio.timeout(COURTESY_SECONDS):
            await asyncio.gather(*parts)
    except TimeoutError:
        log.warning("the platform was too slow to be told that no answer comes")
    except Exception:
        log.exception("the platform could not be told that no answer comes")
