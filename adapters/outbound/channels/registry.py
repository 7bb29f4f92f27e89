"""The channels, in the order of the catalogue. A new channel is one folder and one line here."""

from __future__ import annotations

from collections.abc import Callable

from adapters.outbound.channels.bot_messenger import channel as bot_messenger
from adapters.outbound.channels.business_messaging import channel as business_messaging
from adapters.outbound.channels.email import channel as email
from adapters.outbound.channels.gaming_chat import channel as gaming_chat
from adapters.outbound.channels.linked_device_messaging import channel as linked_device_messaging
from adapters.outbound.channels.mail_api import channel as mail_api
from adapters.outbound.channels.workspace_chat import channel as workspace_chat
from ports.channels import Channel, Kit

BUILDERS: tuple[Callable[[Kit], Channel], ...] = (
    workspace_chat.build,
    gaming_chat.build,
    bot_messenger.build,
    business_messaging.build,
    linked_device_messaging.build,
    email.build,
    mail_api.build,
)


class Registry:
    """Finds a channel by its id."""

    def __init__(self, channels: tuple[Channel, ...]) -> None:
        self._channels = {channel.definition.id: channel for channel in channels}

    @classmethod
    def build(cls, kit: Kit) -> Registry:
        return cls(tuple(builder(kit) for builder in BUILDERS))

    def all(self) -> tuple[Channel, ...]:
        return tuple(self._channels.values())

    def find(self, channel_id: str) -> Channel | None:
        return self._channels.get(channel_id)
