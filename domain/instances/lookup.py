"""Finds the instance and the channel that a caller names, and lists the channels."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs, require_level
from domain.channels.model import ChannelDefinition
from domain.instances.model import Instance, LiveSocket
from domain.refusals import Fault, Forbidden, Invalid, NotFound
from ports.channels import AnyChannel, Channels
from ports.connections import ConnectionStore
from ports.instances import InstanceStore


async def permitted_instance(
    store: InstanceStore, caller: Caller, instance_id: int, needed: InstanceLevel
) -> Instance:
    """The instance, on which the caller has this level: its owner and admins have every level. Raises `NotFound`,
    `Forbidden`."""
    instance, level = await visible_instance(store, caller, instance_id)
    require_level(level, needed)
    return instance


async def visible_instance(
    store: InstanceStore, caller: Caller, instance_id: int
) -> tuple[Instance, InstanceLevel]:
    """The instance, and what the caller may do with it. Raises `NotFound`, and `Forbidden` where that is nothing."""
    instance = await store.find(instance_id)
    if instance is None or not instance.exists:
        raise unknown(instance_id)
    level = await level_on(store, caller, instance)
    require_level(level, InstanceLevel.VIEW)
    return instance, level


async def permitted_instances(
    store: InstanceStore, caller: Caller, instance_ids: Collection[int], needed: InstanceLevel
) -> Sequence[Instance]:
    """The instances, in the order of their ids, each once; two queries, however many there are. Raises `NotFound`,
    `Forbidden`."""
    instances, refusals = await held_against(store, caller, instance_ids, needed)
    for refusal in refusals.values():
        raise refusal
    return instances


async def held_against(
    store: InstanceStore, caller: Caller, instance_ids: Collection[int], needed: InstanceLevel
) -> tuple[Sequence[Instance], Mapping[int, NotFound | Forbidden]]:
    """The instances on which the caller has this level, as `permitted_instances` has them, and the refusals of the
    others."""
    ids = sorted(set(instance_ids))
    stored = await store.of_ids(ids) if ids else ()
    instances = {instance.id: instance for instance in stored if instance.exists}
    others = [id for id, instance in instances.items() if not caller.may_act_for(instance.user_id)]
    levels = await store.levels(caller.user_id, others) if others else {}
    refusals: dict[int, NotFound | Forbidden] = {}
    for instance_id in ids:
        try:
            if instance_id not in instances:
                raise unknown(instance_id)
            if instance_id in others:
                require_level(levels.get(instance_id, InstanceLevel.NONE), needed)
        except (NotFound, Forbidden) as refusal:
            refusals[instance_id] = refusal
    return [instances[id] for id in ids if id not in refusals], refusals


async def level_on(store: InstanceStore, caller: Caller, instance: Instance) -> InstanceLevel:
    """What the caller may do with an instance."""
    if caller.may_act_for(instance.user_id):
        return InstanceLevel.MANAGE
    levels = await store.levels(caller.user_id, [instance.id])
    return levels.get(instance.id, InstanceLevel.NONE)


def known_channel(channels: Channels, channel_id: str) -> AnyChannel:
    """Raises `Invalid`."""
    channel = channels.find(channel_id)
    if channel is None:
        raise Invalid.of([Fault("channelId", _no_channel(channel_id))])
    return channel


def named_channel(channels: Channels, channel_id: str) -> AnyChannel:
    """Raises `NotFound`."""
    channel = channels.find(channel_id)
    if channel is None:
        raise NotFound(_no_channel(channel_id))
    return channel


def _no_channel(channel_id: str) -> str:
    return f"there is no channel '{channel_id[:100]}'; GET /api/agent/channels lists them"


def unknown(instance_id: int) -> NotFound:
    return NotFound(f"there is no instance {instance_id}")


class CatalogueService:
    """The channel definitions."""

    def __init__(self, channels: Channels, sockets: ConnectionStore) -> None:
        self._channels = channels
        self._sockets = sockets

    async def definitions(self) -> Sequence[ChannelDefinition]:
        return [_shown(channel) for channel in self._channels.all()]

    async def definition(self, channel_id: str) -> ChannelDefinition:
        """Raises `NotFound`."""
        return _shown(named_channel(self._channels, channel_id))

    @needs(Scope.INSTANCES_READ)
    async def sockets(self, caller: Caller) -> Sequence[LiveSocket]:
        """The live connections of the instances that the caller sees."""
        return await self._sockets.live(caller.scope)


def _shown(channel: AnyChannel) -> ChannelDefinition:
    return replace(channel.definition, checks_credentials=bool(channel.probe or channel.registrar))
