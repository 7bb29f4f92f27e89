"""Reactions to messages in Slack, of the bot and of people.

Sources: https://docs.slack.dev/reference/methods/reactions.add (and reactions.remove), and
https://docs.slack.dev/reference/events/reaction_added
"""

from domain.channels.messages import Outcome, Sent

from .api import WebApi
from .config import SlackConfig, SlackTarget

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
