"""The channels, in the order of the catalogue. A new channel is one folder and one line here.

Installed packages add channels by entry points of the group `switchboard.channels`: each names a `build` function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from typing import Any

from adapters.outbound.channels.agent_protocol.channel import build as agent_protocol
from adapters.outbound.channels.bot_messenger.channel import build as bot_messenger
from adapters.outbound.channels.business_messaging.channel import build as business_messaging
from adapters.outbound.channels.chat_completions_api.channel import build as chat_completions_api
from adapters.outbound.channels.community_chat.channel import build as community_chat
from adapters.outbound.channels.cron.channel import build as cron
from adapters.outbound.channels.drive_folder.channel import build as drive_folder
from adapters.outbound.channels.email.channel import build as email
from adapters.outbound.channels.enterprise_chat.channel import build as enterprise_chat
from adapters.outbound.channels.erp_events.channel import build as erp_events
from adapters.outbound.channels.gaming_chat.channel import build as gaming_chat
from adapters.outbound.channels.http_webhook.channel import build as http_webhook
from adapters.outbound.channels.linked_device_messaging.channel import build as linked_device_messaging
from adapters.outbound.channels.mail_api.channel import build as mail_api
from adapters.outbound.channels.sms_provider.channel import build as sms_provider
from adapters.outbound.channels.web_chat.channel import build as web_chat
from adapters.outbound.channels.workspace_chat.channel import build as workspace_chat
from ports.channels import AnyChannel, Channel, ChannelDependencies

Builder = Callable[[ChannelDependencies], Channel[Any, Any]]

PLUGINS = "switchboard.channels"

BUILDERS: tuple[Builder, ...] = (
    workspace_chat,
    enterprise_chat,
    community_chat,
    gaming_chat,
    bot_messenger,
    business_messaging,
    linked_device_messaging,
    sms_provider,
    email,
    mail_api,
    http_webhook,
    cron,
    drive_folder,
    erp_events,
    web_chat,
    chat_completions_api,
    agent_protocol,
)


class Registry:
    """Finds a channel by its id."""

    def __init__(self, channels: Iterable[AnyChannel]) -> None:
        self._channels: dict[str, AnyChannel] = {}
        for channel in channels:
            if self._channels.setdefault(channel.definition.id, channel) is not channel:
                raise ValueError(f"two channels have the id '{channel.definition.id}'")

    @classmethod
    def build(cls, dependencies: ChannelDependencies) -> Registry:
        """Raises what loading a plugin raises, with its name as a note: a channel must not be missing silently."""
        builders = [*BUILDERS]
        for plugin in sorted(entry_points(group=PLUGINS), key=lambda entry: entry.name):
            try:
                builders.append(plugin.load())
            except Exception as error:
                error.add_note(f"the channel plugin '{plugin.name}' ({plugin.value}) cannot be loaded")
                raise
        return cls(builder(dependencies) for builder in builders)

    def all(self) -> tuple[AnyChannel, ...]:
        return tuple(self._channels.values())

    def find(self, channel_id: str) -> AnyChannel | None:
        return self._channels.get(channel_id)
