"""Shows an answer in Slack while it is being made: a message, changed as the answer grows.

Sources: https://docs.slack.dev/reference/methods/chat.update (about 50 calls a minute) and
https://docs.slack.dev/reference/methods/chat.delete
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.outcomes import repeatable
from adapters.outbound.rendering import Markup, render
from domain.channels.messages import Outcome, Sent
from domain.channels.model import TextLimit

from .api import SEND_TIMEOUT, WebApi
from .config import TEXT_LIMIT, SlackConfig, SlackTarget
from .messages import posted

DRAFT_TIMEOUT = 5.0
_MORE = " …"
_LIMIT = TextLimit(TEXT_LIMIT.size - len(_MORE))
_GONE = ("message_not_found", "cant_update_message", "edit_window_closed", "channel_not_found", "is_archived")
_DELETED = ("message_not_found", "cant_delete_message")


class SlackStreaming:
    """The reference of a draft is 'channel:ts', with the channel that Slack's answer named: chat.update needs it."""

    draft_seconds = 1.5

    def __init__(self, api: WebApi) -> None:
        self._api = api

    def beginning(self, config: SlackConfig, target: SlackTarget, unfinished: str) -> str:
        """The part that fits into one message. A slash command is answered at another address: nothing."""
        if target.response_url or not target.channel:
            return ""
        pieces = render(Markup.MRKDWN, unfinished, _LIMIT)
        return f"{pieces[0].text}{_MORE}" if pieces else ""

    async def draft(
        self, config: SlackConfig, target: SlackTarget, beginning: str, draft: str, key: str
    ) -> Sent:
        """Sends a draft, or changes it; `ref` is its reference."""
        if draft:
            return await self.change(config, draft, {"text": beginning}, DRAFT_TIMEOUT)
        channel = target.channel
        body = posted(channel, target.thread_ts, {"text": beginning}, key)
        sent, answer = await self._api.call(config, "chat.postMessage", json=body, timeout=DRAFT_TIMEOUT)
        return replace(sent, ref=f"{text(answer, 'channel') or channel}:{sent.ref}") if sent.ref else sent

    async def change(
        self, config: SlackConfig, draft: str, message: Mapping[str, Any], timeout: float = SEND_TIMEOUT
    ) -> Sent:
        """Replaces a draft; doing it twice is harmless."""
        channel, _, ts = draft.rpartition(":")
        body = {"channel": channel, "ts": ts, **message}
        sent, _ = await self._api.call(config, "chat.update", json=body, timeout=timeout)
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
