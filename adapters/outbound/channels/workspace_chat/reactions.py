"""Reactions to messages in Slack, of the bot and of people.

Sources: https://docs.slack.dev/reference/methods/reactions.add (and reactions.remove), and
https://docs.slack.dev/reference/events/reaction_added
"""

from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.reactions import emoji_named
from domain.channels.messages import Event, Identity, Outcome, Sender, Sent

from .api import WebApi
from .config import TARGET, SlackConfig, SlackTarget

_DONE = ("already_reacted", "no_reaction", "message_not_found")


class SlackReactions:
    def __init__(self, api: WebApi) -> None:
        self._api = api

    async def react(
        self, config: SlackConfig, target: SlackTarget, message_id: str, emoji: str, *, present: bool
    ) -> Sent:
        """`message_id` is 'channel:ts'."""
        channel, _, timestamp = message_id.rpartition(":")
        method = "reactions.add" if present else "reactions.remove"
        name = emoji.strip(":")
        sent = await self._api.post(config, method, channel=channel, timestamp=timestamp, name=name)
        return Sent(Outcome.SENT) if sent.detail.startswith(_DONE) else sent


def read_reaction(config: SlackConfig, event: Mapping[str, Any], bot: str) -> Event | str:
    """The event of a person's reaction to a message of the bot."""
    channel, ts = text(event, "item", "channel"), text(event, "item", "ts")
    user, name = text(event, "user"), text(event, "reaction")
    if not config.reactions:
        return "reaction"
    if not (channel and ts and user and name and bot) or user == bot or text(event, "item_user") != bot:
        return "reaction"
    direct = channel.startswith("D")
    if not direct and not config.allows(channel):
        return "channel"
    return Event(
        key=f"{channel}:{ts}:{user}:{name}:{text(event, 'event_ts')}",
        session_id=channel,
        sender=Sender(user, identities=(Identity("workspace-chat", user),)),
        text="",
        target=TARGET.dump(SlackTarget(channel=channel)),
        reaction=emoji_named(name),
        is_direct=direct,
    )
