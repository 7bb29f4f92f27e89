"""Gmail over its API."""

from __future__ import annotations

from adapters.outbound.channels.mail_api.definition import DEFINITION
from domain.channels.model import ChannelDefinition
from ports.channels import Kit


class MailApi:
    """Conforms to the faces of `ports.channels` that fit it."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION


def build(kit: Kit) -> MailApi:
    """The channel, wired with what the kit holds."""
    return MailApi(kit)
