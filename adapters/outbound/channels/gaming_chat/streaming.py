"""Shows an answer on Discord while it is being made: a message, edited as the answer grows.

Source: https://docs.discord.com/developers/resources/message#edit-message, and
https://docs.discord.com/developers/interactions/receiving-and-responding#edit-original-interaction-response
"""

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.drafts import preview
from adapters.outbound.rendering import Markup
from domain.channels.answers import OutboundMessage, Preview
from domain.channels.messages import Sent

from .config import TEXT_LIMIT, DiscordConfig, DiscordTarget
from .posting import Posting, channel_of, message_of

DRAFT_SECONDS = 1.2
"""A channel takes about five edits in five seconds; Discord's answers tell when it takes fewer."""


class DiscordStreaming:
    """The reference of a draft is the id of its message. For a command that is the one that takes the place of 'is
    thinking'."""

    def __init__(self, posting: Posting) -> None:
        self._posting = posting

    def preview(self, config: DiscordConfig, target: DiscordTarget) -> Preview | None:
        if not (target.token or channel_of(config, target)):
            return None
        return preview(Markup.DISCORD, TEXT_LIMIT, DRAFT_SECONDS)

    async def draft(
        self, config: DiscordConfig, target: DiscordTarget, message: OutboundMessage, draft: str, key: str
    ) -> Sent:
        body = message_of(text(message.payload, "text"))
        if draft:
            return await self._posting.change(config, target, draft, body)
        return (await self._posting.deliver(config, target, key, True, body)).sent
