"""The catalogue of channel definitions."""

from collections.abc import Sequence
from dataclasses import replace

from domain.access.model import Caller
from domain.channels.model import ChannelDefinition
from domain.instances.lookup.service import named_channel
from domain.instances.model import LiveSocket
from ports.channels import AnyChannel, Channels
from ports.instances import SocketStore


class CatalogueService:
    def __init__(self, channels: Channels, sockets: SocketStore) -> None:
        self._channels = channels
        self._sockets = sockets

    async def definitions(self) -> Sequence[ChannelDefinition]:
        return [_shown(channel) for channel in self._channels.all()]

    async def definition(self, channel_id: str) -> ChannelDefinition:
        return _shown(named_channel(self._channels, channel_id))

    async def sockets(self, caller: Caller) -> Sequence[LiveSocket]:
        return await self._sockets.live(None if caller.is_admin else caller.user_id)


def _shown(channel: AnyChannel) -> ChannelDefinition:
    return replace(channel.definition, checks_credentials=bool(channel.probe or channel.registrar))
