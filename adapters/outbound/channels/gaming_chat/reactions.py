"""Reactions to messages in Discord, of the bot and of people.

Sources: https://docs.discord.com/developers/resources/message#create-reaction and
https://docs.discord.com/developers/events/gateway-events#message-reaction-add
"""

from urllib.parse import quote

from adapters.outbound.http.paths import segment
from domain.channels.messages import Sent

from .api import DiscordApi
from .config import DiscordConfig, DiscordTarget


class DiscordReactions:
    def __init__(self, api: DiscordApi) -> None:
        self._api = api

    async def react(
        self, config: DiscordConfig, target: DiscordTarget, message_id: str, emoji: str, *, present: bool
    ) -> Sent:
        """`emoji` is a character, or 'name:id' of one of the server's own."""
        message = f"/channels/{segment(target.channel_id)}/messages/{segment(message_id)}"
        path = f"{message}/reactions/{quote(emoji, safe='')}/@me"
        return (await self._api.as_bot(config, "PUT" if present else "DELETE", path, {})).sent
