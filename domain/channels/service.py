"""The catalogue of channel definitions."""

from collections.abc import Sequence

from domain.access.model import Caller
from domain.channels.model import ChannelDefinition
from domain.instances.lookup.service import named_channel
from domain.instances.model import LiveSocket
from ports.channels import Channels
from ports.instances import SocketStore


class CatalogueService:
    def __init__(self, channels: Channels, sockets: SocketStore) -> None:
        self._channels = channels
        self._sockets = sockets

    async def definitions(self) -> Sequence[ChannelDefinition]:
        return [channel.definition for channel in self._channels.all()]

    async def definition(self, channel_id: str) -> ChannelDefinition:
        return named_channel(self._channels, channel_id).definition

    async def sockets(self, caller: Caller) -> Sequence[LiveSocket]:
        return await self._sockets.live(None if caller.is_admin else caller.user_id)
