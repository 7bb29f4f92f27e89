"""The gaming-chat channel: Discord."""

from __future__ import annotations

from domain.channels.model import ChannelDefinition
from ports.channels import Kit

from .definition import DEFINITION


class GamingChat:
    """Discord, as the faces of `ports.channels` see it."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION


def build(kit: Kit) -> GamingChat:
    return GamingChat(kit)
