"""Shows an answer in Teams while it is being made: a message, replaced as the answer grows.

In all kinds of chats alike: Teams' own streaming works in personal chats alone, ends after two minutes, and cannot be
continued by another process. Source:
https://learn.microsoft.com/en-us/microsoftteams/platform/bots/how-to/update-and-delete-bot-messages
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.drafts import preview
from adapters.outbound.channels.common.outcomes import repeatable
from adapters.outbound.channels.enterprise_chat import cards
from adapters.outbound.channels.enterprise_chat.config import BOT_LIMIT, TeamsConfig, TeamsTarget
from adapters.outbound.channels.enterprise_chat.connector import Connector
from adapters.outbound.channels.enterprise_chat.ways import BOT, way
from adapters.outbound.rendering import Markup
from domain.channels.answers import OutboundMessage, Preview
from domain.channels.messages import Outcome, Sent
from domain.channels.model import TextLimit

DRAFT_SECONDS = 1.5
"""A conversation takes 1,800 messages an hour, edits included."""
_LIMIT = TextLimit(BOT_LIMIT.size // 2, BOT_LIMIT.unit)
"""Text whose JSON fits."""
_GONE = ("HTTP 404",)


class TeamsStreaming:
    """The reference of a draft is the id of its activity."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector

    def preview(self, config: TeamsConfig, target: TeamsTarget) -> Preview | None:
        return preview(Markup.TEAMS, _LIMIT, DRAFT_SECONDS) if way(config, target) == BOT else None

    async def draft(
        self, config: TeamsConfig, target: TeamsTarget, message: OutboundMessage, draft: str, key: str
    ) -> Sent:
        content = {"text": message.payload["text"], "textFormat": "markdown"}
        if draft:
            return await self.change(config, target, content, draft)
        return await self.post(config, target, content)

    async def post(self, config: TeamsConfig, target: TeamsTarget, content: Mapping[str, Any]) -> Sent:
        return await self._connector.send(config, target, cards.activity(target, **content))

    async def change(
        self, config: TeamsConfig, target: TeamsTarget, content: Mapping[str, Any], draft: str
    ) -> Sent:
        """Replaces a draft; doing it twice is harmless."""
        body = cards.activity(replace(target, reply_to=""), **content)
        sent = repeatable(await self._connector.send(config, target, body, replaces=draft))
        return replace(sent, ref=draft) if sent.outcome is Outcome.SENT else sent

    async def withdraw(self, config: TeamsConfig, target: TeamsTarget, draft: str) -> Sent:
        """Deletes a draft; one that is gone already counts as deleted."""
        sent = await self._connector.delete(config, target, draft)
        is_gone = sent.outcome is Outcome.PERMANENT and sent.detail.startswith(_GONE)
        return Sent(Outcome.SENT, ref=draft) if is_gone else repeatable(sent)
