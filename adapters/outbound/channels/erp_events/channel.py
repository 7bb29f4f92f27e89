"""The Odoo channel."""

from __future__ import annotations

from adapters.outbound.channels.erp_events.definition import DEFINITION
from domain.channels.model import ChannelDefinition
from ports.channels import Kit


class Odoo:
    """The Odoo channel."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION


def build(kit: Kit) -> Odoo:
    """The channel, ready for use."""
    return Odoo(kit)
