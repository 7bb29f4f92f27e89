"""What channels fetched beforehand, kept for as long as it holds."""

from typing import Protocol

from domain.channels.messages import ChannelMetadata
from domain.instances.model import Instance
from ports.channels import AnyChannel


class MetadataCache(Protocol):
    async def of(self, instance: Instance, channel: AnyChannel) -> ChannelMetadata:
        """The metadata, fetched when they are missing or old.

        Never raises for a platform that is away: then the last metadata is used, or none.
        """
        ...

    async def renewed(self, instance: Instance, channel: AnyChannel) -> ChannelMetadata | None:
        """The metadata, fetched anew because those held did not suffice; None when that was tried a moment ago."""
        ...
