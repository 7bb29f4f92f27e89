"""Opens conversations for messages that answer none."""

import asyncio
import re
from dataclasses import dataclass, replace

from adapters.outbound.channels.common.addresses import no_address, read_address
from adapters.outbound.channels.common.bodies import text
from domain.channels.messages import Event
from ports.capabilities import Opened, OpenRequest, PlatformError

from .api import WebApi
from .config import SlackConfig, SlackTarget
from .events import session_of

_ADDRESS = re.compile(r"(?:([CGD][A-Z0-9]{2,20})(?::([0-9]{10}\.[0-9]{6}))?)|([UW][A-Z0-9]{2,20})")


@dataclass(frozen=True, slots=True)
class Opener:
    """Messages go to channels that the bot is a member of, and to people
    (https://docs.slack.dev/reference/methods/conversations.open)."""

    api: WebApi
    address: str = (
        "the id of a channel such as C0123456789, with a thread behind it C0123456789:1767225600.000100, or of a"
        " person such as U0123456789"
    )

    def default_address(self, config: SlackConfig) -> str:
        return config.default_channel

    async def open(self, config: SlackConfig, request: OpenRequest) -> Opened[SlackTarget]:
        """The direct messages of a person have an id of their own, by which answers name them."""
        channel, thread, person = read_address(_ADDRESS, request.to, self.address).groups()
        if person:
            opened = await self.api.read(config, "conversations.open", users=person)
            channel = text(opened, "channel", "id")
            if not channel:
                raise no_address(f"Slack gives no direct messages with {person}")
        return Opened(session_of(channel, thread or ""), SlackTarget(channel=channel, thread_ts=thread or ""))


class DirectMessages:
    """Finds the direct messages of a person who called a global shortcut, so that what the person writes there
    continues the same conversation."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    async def placed(self, config: SlackConfig, event: Event) -> Event:
        """An answer that cannot wait for Slack goes to the id of the person, in a session of its own."""
        person = text(event.target, "user")
        if not person or text(event.target, "channel") != person:
            return event
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                opened = await self._api.read(config, "conversations.open", users=person)
        except (PlatformError, TimeoutError):
            return event
        channel = text(opened, "channel", "id")
        if not channel:
            return event
        return replace(event, session_id=channel, target={**event.target, "channel": channel})


OPEN_SECONDS = 1.5
"""Slack waits three seconds for the acknowledgement."""
