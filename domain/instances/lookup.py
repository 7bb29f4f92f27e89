"""Finds the instance and the channel that a caller names, and lists the channels."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from domain.access.model import Caller
from domain.channels.model import ChannelDefinition
from domain.instances.model import Instance, LiveSocket
from domain.refusals import Fault, Forbidden, Invalid, NotFound
from ports.channels import AnyChannel, Channels
from ports.connections import ConnectionStore
from ports.instances import InstanceStore


async def owned_instance(store: InstanceStore, caller: Caller, instance_id: int) -> Instance:
    """Raises `NotFound`, `Forbidden`."""
    return _owned(await store.find(instance_id), caller, instance_id)


async def check_owned(store: InstanceStore, caller: Caller, instance_ids: Collection[int]) -> None:
    """Raises `NotFound`, `Forbidden`."""
    ids = sorted(set(instance_ids))
    instances = {instance.id: instance for instance in await store.of_ids(ids)} if ids else {}
    for instance_id in ids:
        _owned(instances.get(instance_id), caller, instance_id)


def _owned(instance: Instance | None, caller: Caller, instance_id: int) -> Instance:
    if instance is None or not instance.exists:
        raise unknown(instance_id)
    if not caller.may_act_for(instance.user_id):
        raise Forbidden("the instance belongs to another user")
    return instance


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

    async def sockets(self, caller: Caller) -> Sequence[LiveSocket]:
        """The live connections of the caller's instances (an admin sees all)."""
        return await self._sockets.live(caller.scope)


def _shown(channel: AnyChannel) -> ChannelDefinition:
    return replace(channel.definition, checks_credentials=bool(channel.probe or channel.registrar))
