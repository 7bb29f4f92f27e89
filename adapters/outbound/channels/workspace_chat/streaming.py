"""Shows an answer in Slack while it is being made: a message, changed as the answer grows.

Sources: https://docs.slack.dev/reference/methods/chat.update (about 50 calls a minute) and
https://docs.slack.dev/reference/methods/chat.delete
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.drafts import preview
from adapters.outbound.channels.common.outcomes import repeatable
from adapters.outbound.rendering import Markup
from domain.channels.answers import OutboundMessage, Preview
from domain.channels.messages import Outcome, Sent

from .api import WebApi
from .config import TEXT_LIMIT, SlackConfig, SlackTarget
from .messages import posted

DRAFT_SECONDS = 1.5
_GONE = ("message_not_found", "cant_update_message", "edit_window_closed", "channel_not_found", "is_archived")
_DELETED = ("message_not_found", "cant_delete_message")


class SlackStreaming:
    """The reference of a draft is 'channel:ts', with the channel that Slack's answer named: chat.update needs it."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    def preview(self, config: SlackConfig, target: SlackTarget) -> Preview | None:
        """A slash command is answered at another address: nothing is shown."""
        if target.response_url or not target.channel:
            return None
        return preview(Markup.MRKDWN, TEXT_LIMIT, DRAFT_SECONDS)

    async def draft(
        self, config: SlackConfig, target: SlackTarget, message: OutboundMessage, draft: str, key: str
    ) -> Sent:
        """Sends a draft, or changes it; `ref` is its reference."""
        shown = {"text": message.payload["text"]}
        if draft:
            return await self.change(config, draft, shown)
        channel = target.channel
        body = posted(channel, target.thread_ts, shown, key)
        sent, answer = await self._api.call(config, "chat.postMessage", json=body)
        return replace(sent, ref=f"{text(answer, 'channel') or channel}:{sent.ref}") if sent.ref else sent

    async def change(self, config: SlackConfig, draft: str, message: Mapping[str, Any]) -> Sent:
        """Replaces a draft; doing it twice is harmless."""
        channel, _, ts = draft.rpartition(":")
        body = {"channel": channel, "ts": ts, **message}
        sent, _ = await self._api.call(config, "chat.update", json=body)
        return replace(sent, ref=draft) if sent.outcome is Outcome.SENT else repeatable(sent)

    async def withdraw(self, config: SlackConfig, draft: str) -> Sent:
        """Deletes a draft; one that is gone already counts as deleted."""
        channel, _, ts = draft.rpartition(":")
        sent = await self._api.post(config, "chat.delete", channel=channel, ts=ts)
        if sent.outcome is Outcome.PERMANENT and sent.detail.startswith(_DELETED):
            return Sent(Outcome.SENT, ref=draft)
        return repeatable(sent)


def is_gone(sent: Sent) -> bool:
    """Whether a draft cannot be changed any more."""
    return sent.outcome is Outcome.PERMANENT and sent.detail.startswith(_GONE)
