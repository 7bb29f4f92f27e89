"""Shows an answer in Telegram while it is being made: a message, edited as the answer grows.

Sources: https://core.telegram.org/bots/api#editmessagetext, #deletemessage, and
https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.drafts import preview
from adapters.outbound.channels.common.outcomes import repeatable
from domain.channels.answers import OutboundMessage, Preview
from domain.channels.messages import Outcome, Sent

from .api import BotApi
from .config import MARKUPS, TEXT_LIMIT, BotConfig, BotTarget
from .posting import address_of, is_group, send_in_any_form, text_body

CHAT_SECONDS = 1.0
GROUP_SECONDS = 5.0
"""A group takes 20 messages a minute: the answer needs some of them."""


class TelegramStreaming:
    """The reference of a draft is the id of its message in the chat of the target."""

    def __init__(self, api: BotApi) -> None:
        self._api = api

    def preview(self, config: BotConfig, target: BotTarget) -> Preview | None:
        seconds = GROUP_SECONDS if is_group(target) else CHAT_SECONDS
        return preview(MARKUPS[config.mode], TEXT_LIMIT, seconds)

    async def draft(
        self, config: BotConfig, target: BotTarget, message: OutboundMessage, draft: str, key: str
    ) -> Sent:
        payload = message.payload
        if draft:
            return await self.change(config, target, draft, payload)
        body = {**address_of(target, reply=True), **text_body(config, payload)}
        attempt = await send_in_any_form(self._api, config, "sendMessage", body, plain=text(payload, "plain"))
        return attempt.sent

    async def change(
        self, config: BotConfig, target: BotTarget, draft: str, payload: Mapping[str, Any]
    ) -> Sent:
        """Replaces a draft; doing it twice is harmless."""
        body = {**_message(target, draft), **text_body(config, payload)}
        attempt = await send_in_any_form(
            self._api, config, "editMessageText", body, plain=text(payload, "plain")
        )
        if attempt.rejection is not None and attempt.rejection.contains("not modified"):
            return Sent(Outcome.SENT, ref=draft)
        sent = repeatable(attempt.sent)
        return replace(sent, ref=draft) if sent.outcome is Outcome.SENT else sent

    async def withdraw(self, config: BotConfig, target: BotTarget, draft: str) -> Sent:
        """Deletes a draft; one that is gone already counts as deleted."""
        attempt = await self._api.send(config.bot_token, "deleteMessage", _message(target, draft))
        if attempt.rejection is not None and attempt.rejection.contains("to delete not found"):
            return Sent(Outcome.SENT, ref=draft)
        return repeatable(attempt.sent)


def _message(target: BotTarget, draft: str) -> dict[str, Any]:
    return {"chat_id": target.chat_id, "message_id": int(draft)}
