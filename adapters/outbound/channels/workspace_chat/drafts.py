"""Shows an answer in Slack while it is being made: a message, changed as the answer grows.

Sources: https://docs.slack.dev/reference/methods/chat.update (about 50 calls a minute) and
https://docs.slack.dev/reference/methods/chat.delete
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.rendering import Markup, render
from domain.channels.messages import Config, Outcome, Sent, Target
from domain.channels.model import TextLimit
from ports.http import HttpRequest

from .api import WebApi
from .definition import TEXT_LIMIT
from .messages import message_id

DRAFT_TIMEOUT = 5.0
_MORE = " …"
_LIMIT = TextLimit(TEXT_LIMIT.size - len(_MORE))
_GONE = ("message_not_found", "cant_update_message", "edit_window_closed", "channel_not_found", "is_archived")
_DELETED = ("message_not_found", "cant_delete_message")


def beginning(target: Target, words: str) -> str:
    """What fits into one message of an unfinished answer. A slash command is answered elsewhere: nothing."""
    if text(target, "response_url") or not text(target, "channel"):
        return ""
    pieces = render(Markup.MRKDWN, words, _LIMIT)
    return f"{pieces[0].text}{_MORE}" if pieces else ""


class StreamingReply:
    """A draft's name holds the conversation as Slack gave it, which changing the message needs."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    async def show(self, config: Config, target: Target, words: str, draft: str, key: str) -> Sent:
        """Sends a draft, or changes it; `ref` is its name."""
        if draft:
            return await self.change(config, draft, {"text": words}, DRAFT_TIMEOUT)
        body = {"channel": text(target, "channel"), "text": words, "client_msg_id": message_id(key)}
        if thread := text(target, "thread_ts"):
            body["thread_ts"] = thread
        request = self._api.request(config, "chat.postMessage", json=body, timeout=DRAFT_TIMEOUT)
        sent, answer = await self._api.deliver(request)
        place = text(answer, "channel") or body["channel"]
        return replace(sent, ref=f"{place}:{sent.ref}") if sent.ref else sent

    async def change(
        self, config: Config, draft: str, message: Mapping[str, Any], timeout: float | None = None
    ) -> Sent:
        """Writes another message in the place of a draft: however often, it is there once."""
        place, _, ts = draft.rpartition(":")
        body = {"channel": place, "ts": ts, **message}
        sent, _ = await self._api.deliver(self._update(config, body, timeout))
        return replace(sent, ref=draft) if sent.outcome is Outcome.SENT else _repeatable(sent)

    def _update(self, config: Config, body: Mapping[str, Any], timeout: float | None) -> HttpRequest:
        return self._api.request(config, "chat.update", json=body, timeout=timeout)

    async def withdraw(self, config: Config, draft: str) -> Sent:
        """Takes a draft away; one that is gone already counts as taken away."""
        place, _, ts = draft.rpartition(":")
        request = self._api.request(config, "chat.delete", json={"channel": place, "ts": ts})
        sent, _ = await self._api.deliver(request)
        if sent.outcome is Outcome.PERMANENT and sent.detail.startswith(_DELETED):
            return Sent(Outcome.SENT, ref=draft)
        return _repeatable(sent)


def is_gone(sent: Sent) -> bool:
    """Whether a draft cannot be changed any more."""
    return sent.outcome is Outcome.PERMANENT and sent.detail.startswith(_GONE)


def _repeatable(sent: Sent) -> Sent:
    """To change a message once more, or to take it away, doubles nothing."""
    return replace(sent, outcome=Outcome.TRANSIENT) if sent.outcome is Outcome.UNKNOWN else sent
