"""Reactions to messages in Discord, of the bot and of people.

Sources: https://docs.discord.com/developers/resources/message#create-reaction and
https://docs.discord.com/developers/events/gateway-events#message-reaction-add
"""

from collections.abc import Collection
from typing import Any
from urllib.parse import quote

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.http.paths import segment
from domain.channels.messages import Event, Sent

from .api import DiscordApi
from .config import TARGET, DiscordConfig, DiscordTarget
from .messages import sender_of, session_of


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


def read_reaction(data: Any, bot_ids: Collection[str]) -> Event | str:
    """The event of a person's reaction to a message of the bot."""
    channel, message_id = text(data, "channel_id"), text(data, "message_id")
    emoji = text(data, "emoji", "name")
    member = at(data, "member")
    user = at(member, "user") or {"id": text(data, "user_id")}
    sender = sender_of(user, member)
    if not (channel and message_id and emoji) or sender is None:
        return "incomplete"
    if sender.external_id in bot_ids or text(data, "message_author_id") not in bot_ids:
        return "reaction"
    return Event(
        key=f"{message_id}:{sender.external_id}:{emoji}",
        session_id=session_of(channel, sender.external_id),
        sender=sender,
        text="",
        target=TARGET.dump(DiscordTarget(channel_id=channel)),
        reaction=f":{emoji}:" if text(data, "emoji", "id") else emoji,
        is_direct=not text(data, "guild_id"),
    )
