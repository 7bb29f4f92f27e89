"""The Twilio SMS channel."""

from __future__ import annotations

from adapters.outbound.channels.sms_provider.definition import DEFINITION
from domain.channels.model import ChannelDefinition
from ports.channels import Kit


class TwilioSms:
    """The Twilio SMS channel."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION


def build(kit: Kit) -> TwilioSms:
    """The channel, ready for use."""
    return TwilioSms(kit)
