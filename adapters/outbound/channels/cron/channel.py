"""The cron channel."""

from __future__ import annotations

from adapters.outbound.channels.cron.definition import DEFINITION
from domain.channels.model import ChannelDefinition
from ports.channels import Kit


class Cron:
    """The cron channel."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION


def build(kit: Kit) -> Cron:
    """The channel, ready for use."""
    return Cron(kit)
