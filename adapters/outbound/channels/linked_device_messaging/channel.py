"""WhatsApp as a linked device."""

from __future__ import annotations

from adapters.outbound.channels.linked_device_messaging.definition import DEFINITION
from domain.channels.model import ChannelDefinition
from ports.channels import Kit


class LinkedDeviceMessaging:
    """Conforms to the faces of `ports.channels` that fit it."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION


def build(kit: Kit) -> LinkedDeviceMessaging:
    """The channel, wired with what the kit holds."""
    return LinkedDeviceMessaging(kit)
