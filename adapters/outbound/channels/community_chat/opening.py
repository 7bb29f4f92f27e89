"""Opens channels and direct messages for messages that answer none."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from adapters.outbound.channels.common.addresses import read_address
from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.community_chat.api import MattermostApi
from adapters.outbound.channels.community_chat.config import MattermostConfig, MattermostTarget, session_of
from ports.capabilities import Opened, OpenRequest, PlatformError

_ADDRESS = re.compile(r"(user:)?([a-z0-9]{26})")
_DIRECT = "D"
_BETWEEN = "__"
"""Between the ids of the two people in the name of a direct channel."""


@dataclass(frozen=True, slots=True)
class Opener:
    api: MattermostApi
    address: str = "the id (26 letters and digits) of a channel or a user, or user: and the id of a user"

    def default_address(self, config: MattermostConfig) -> str:
        return config.channel_id

    async def open(self, config: MattermostConfig, request: OpenRequest) -> Opened[MattermostTarget]:
        """A bare id is that of a channel, or else of a user."""
        is_user, number = read_address(_ADDRESS, request.to, self.address).groups()
        channel = None if is_user else await self.api.find_channel(config, number)
        if channel is not None and text(channel, "type") != _DIRECT:
            return _opened(channel)
        own = text(await self.api.fetch_metadata(config), "userId")
        if channel is None:
            return _opened(await self.api.open_direct(config, own, number), number)
        people = text(channel, "name").split(_BETWEEN)
        return _opened(channel, next((person for person in people if person != own), own))


def _opened(channel: Mapping[str, object], person: str = "") -> Opened[MattermostTarget]:
    """Nobody is known of a channel of many: a conversation begins with each person who answers there."""
    channel_id = text(channel, "id")
    if not channel_id:
        raise PlatformError("Mattermost's answer names no channel.")
    return Opened(session_of(channel_id, person), MattermostTarget(channel=channel_id))
