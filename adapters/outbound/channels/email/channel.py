"""Email over IMAP and SMTP."""

from __future__ import annotations

from adapters.outbound.channels.email.definition import DEFINITION
from domain.channels.model import ChannelDefinition
from ports.channels import Kit


class Email:
    """Conforms to the faces of `ports.channels` that fit it."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION


def build(kit: Kit) -> Email:
    """The channel, wired with what the kit holds."""
    return Email(kit)
