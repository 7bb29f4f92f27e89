"""What channels fetched beforehand, kept for as long as it holds."""

from __future__ import annotations

from typing import Protocol

from domain.channels.messages import ChannelMetadata
from domain.instances.model import Instance
from ports.channels import NeedsFacts


class FactCache(Protocol):
    async def of(self, instance: Instance, channel: NeedsFacts) -> ChannelMetadata:
        """The facts, fetched when they are missing or old.

        Never raises for a platform that is away: then the last facts hold, or none.
        """
        ...

    async def renewed(self, instance: Instance, channel: NeedsFacts) -> ChannelMetadata | None:
        """The facts, fetched anew because those held did not suffice; None when that was tried a moment ago."""
        ...
