"""The gaming-chat channel: Discord (https://docs.discord.com/developers).

Interactions arrive by webhook, messages over the gateway.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from adapters.outbound.channels.common.addresses import read_address
from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.model import Proof
from domain.channels.refused import BOT, CHANNEL
from ports.capabilities import Opened, OpenRequest, PlatformError
from ports.channels import Channel, ChannelDependencies

from . import delivery, webhook
from .api import BASE, DiscordApi
from .config import CONFIG, DEFINITION, TARGET, DiscordConfig, DiscordTarget
from .gateway import Gateway
from .messages import Threads, session_of

_ADDRESS = re.compile(r"(user:)?([1-9][0-9]{14,19})")
_DIRECT = 1
"""The type of a channel of two people (https://docs.discord.com/developers/resources/channel)."""


@dataclass(frozen=True, slots=True)
class Opener:
    api: DiscordApi
    address: str = (
        "the id of a channel or a user, such as 811100000000000001 (user:811100000000000001 for a user)"
    )

    def default_address(self, config: DiscordConfig) -> str:
        return config.default_channel_id

    async def open(self, config: DiscordConfig, request: OpenRequest) -> Opened[DiscordTarget]:
        """A bare id is that of a channel, or else of a user."""
        is_user, number = read_address(_ADDRESS, request.to, self.address).groups()
        channel = None if is_user else await self.api.find_channel(config, number)
        if channel is None:
            return _opened(await self.api.open_direct(config, number), number)
        people = items(channel, "recipients") if at(channel, "type") == _DIRECT else []
        return _opened(channel, *(text(person, "id") for person in people[:1]))


def _opened(channel: Mapping[str, object], person: str = "") -> Opened[DiscordTarget]:
    """Nobody is known of a channel in a server: a conversation begins with each person who answers there."""
    channel_id = text(channel, "id")
    if not channel_id:
        raise PlatformError("Discord's answer names no channel.")
    return Opened(session_of(channel_id, person), DiscordTarget(channel_id=channel_id))


def build(dependencies: ChannelDependencies) -> Channel[DiscordConfig, DiscordTarget]:
    api = DiscordApi(dependencies)
    sender, threads = delivery.Delivery(dependencies, api), Threads(api)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE,),
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        refusals=(CHANNEL, BOT),
        sender=sender,
        opener=Opener(api),
        conversation_target=delivery,
        limits=delivery,
        probe=api,
        fetcher=api,
        typing=sender,
        reactions=sender,
        waiting=delivery,
        streaming=sender,
        button_ack=sender,
        thumb_buttons=True,
        prompt_closer=sender,
        rich_kinds=delivery.RICH_KINDS,
        forms=sender,
        form_dialog=sender,
        connector=Gateway(dependencies, api, threads),
        connection_proof=Proof.PLATFORM,
        thread_reader=threads,
    )
