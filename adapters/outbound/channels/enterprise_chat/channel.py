"""The Microsoft Teams channel."""

from __future__ import annotations

from adapters.outbound.channels.enterprise_chat.definition import DEFINITION
from domain.channels.model import ChannelDefinition
from ports.channels import Kit


class Teams:
    """The Microsoft Teams channel."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION


def build(kit: Kit) -> Teams:
    """The channel, ready for use."""
    return Teams(kit)
