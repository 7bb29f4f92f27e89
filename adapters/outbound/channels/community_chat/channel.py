"""The Mattermost channel."""

from __future__ import annotations

from adapters.outbound.channels.community_chat.definition import DEFINITION
from domain.channels.model import ChannelDefinition
from ports.channels import Kit


class Mattermost:
    """The Mattermost channel."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION


def build(kit: Kit) -> Mattermost:
    """The channel, ready for use."""
    return Mattermost(kit)
