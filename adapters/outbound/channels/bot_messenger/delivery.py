"""Writes answers to Telegram: text in the chosen markup, photos, documents, inline keyboards."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.drafts import WITHDRAWN, in_place_of_draft, replaced
from adapters.outbound.channels.common.files import FILE, send_file
from adapters.outbound.channels.common.messages import (
    closed_text,
    file_payloads,
    split_question,
    text_payloads,
)
from adapters.outbound.rendering import render
from domain.channels.answers import Answer, Artifact, ClosedPrompt, OutboundMessage
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Sent
from ports.capabilities import PlatformError
from ports.channels import ArtifactReader
from ports.http import FormFile

from .api import BotApi
from .config import MARKUPS, TEXT_LIMIT, BotConfig, BotTarget
from .posting import address_of, is_group, link_preview, send_in_any_form, text_body
from .streaming import TelegramStreaming

MAX_PHOTO = 10 * 1024 * 1024
MAX_DOCUMENT = 50 * 1024 * 1024
MAX_NOTICE = 200
_BOT_QUOTAS = (Quota(30, 1.0, burst=6),)
_CHAT_QUOTAS = (Quota(1, 1.0),)
_GROUP_QUOTAS = (Quota(20, 60.0, burst=5), *_CHAT_QUOTAS)
"""https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this"""


class Delivery:
    """Sends messages and replaces prompts."""

    typing_seconds = 4.0
    """Telegram shows it for five seconds."""

    def __init__(self, api: BotApi, artifacts: ArtifactReader, streaming: TelegramStreaming) -> None:
        self._api = api
        self._streaming = streaming
        self._artifacts = artifacts

    def render(self, config: BotConfig, target: BotTarget, answer: Answer) -> Sequence[OutboundMessage]:
        markup = MARKUPS[config.mode]
        texts = [piece for part in split_question(answer) for piece in render(markup, part, TEXT_LIMIT)]
        payloads = text_payloads(texts, answer, with_plain=True, mode=config.mode)
        payloads = in_place_of_draft(payloads, answer.draft, has_text=bool(payloads)) + file_payloads(answer)
        for payload in payloads[:1]:
            payload["first"] = True
        return [OutboundMessage(payload) for payload in payloads]

    def limits(self, config: BotConfig, target: BotTarget) -> Limits:
        """Topics of a group count together, and edits as messages."""
        chat = "" if target.chat_id is None else str(target.chat_id)
        quotas = _GROUP_QUOTAS if is_group(target) else _CHAT_QUOTAS
        return Limits(config.bot_token, chat, _BOT_QUOTAS, quotas)

    async def send(self, config: BotConfig, target: BotTarget, message: OutboundMessage, key: str) -> Sent:
        payload = message.payload
        if payload.get("kind") == WITHDRAWN:
            return await self._streaming.withdraw(config, target, text(payload, "draft"))
        if payload.get("kind") == FILE:
            return await self._send_file(config, target, payload)
        if draft := text(payload, "draft"):
            return await replaced(
                lambda: self._streaming.change(config, target, draft, payload),
                lambda: self._streaming.withdraw(config, target, draft),
                lambda: self._send_text(config, target, payload),
            )
        return await self._send_text(config, target, payload)

    async def _send_text(self, config: BotConfig, target: BotTarget, payload: Mapping[str, Any]) -> Sent:
        body = {**address_of(target, reply=bool(payload.get("first"))), **text_body(config, payload)}
        attempt = await send_in_any_form(self._api, config, "sendMessage", body, plain=text(payload, "plain"))
        return attempt.sent

    async def _send_file(self, config: BotConfig, target: BotTarget, payload: Mapping[str, Any]) -> Sent:
        address = address_of(target, reply=bool(payload.get("first")))

        async def upload(artifact: Artifact, content: bytes) -> Sent | None:
            for method, field in _methods(artifact, len(content)):
                file = FormFile(field, artifact.name, artifact.mime_type, content)
                attempt = await send_in_any_form(self._api, config, method, address, (file,))
                if attempt.rejection is None or not attempt.rejection.of_content:
                    return attempt.sent
            return None

        async def send_text(text: str) -> Sent:
            return (await send_in_any_form(self._api, config, "sendMessage", {**address, "text": text})).sent

        return await send_file(self._artifacts, payload, MAX_DOCUMENT, upload, send_text)

    async def typing(self, config: BotConfig, target: BotTarget) -> Sent:
        body = {**address_of(target), "action": "typing"}
        return (await self._api.send(config.bot_token, "sendChatAction", body)).sent

    async def react(
        self, config: BotConfig, target: BotTarget, message_id: str, emoji: str, *, present: bool
    ) -> Sent:
        """Telegram takes the emoji of a list of its own; another is refused."""
        reaction = [{"type": "emoji", "emoji": emoji}] if present else []
        body = {"chat_id": target.chat_id, "message_id": int(message_id), "reaction": reaction}
        return (await self._api.send(config.bot_token, "setMessageReaction", body)).sent

    async def acknowledge_press(self, config: BotConfig, target: BotTarget, notice: str) -> None:
        """Answers the query of a pressed button: until then Telegram shows that it is being waited for."""
        if not target.callback_query_id:
            return
        payload = {"callback_query_id": target.callback_query_id}
        if notice:
            payload["text"] = notice[:MAX_NOTICE]
        with contextlib.suppress(PlatformError):
            await self._api.call(config.bot_token, "answerCallbackQuery", payload)

    async def close_prompt(self, config: BotConfig, target: BotTarget, closed: ClosedPrompt) -> None:
        """Shows the outcome to who pressed, and replaces the prompt; where its text cannot be changed, it loses at
        least its buttons."""
        await self.acknowledge_press(config, target, closed.outcome)
        text = await closed_text(MARKUPS[config.mode], closed, TEXT_LIMIT)
        if not target.prompt_id or text is None:
            return
        prompt: dict[str, Any] = {
            "chat_id": target.chat_id,
            "message_id": target.prompt_id,
            "reply_markup": {"inline_keyboard": []},
        }
        body = {**prompt, "text": text.text, "parse_mode": config.mode, **link_preview(config)}
        attempt = await send_in_any_form(self._api, config, "editMessageText", body, plain=text.plain)
        rejection = attempt.rejection
        if rejection is not None and not rejection.contains("not modified"):
            await self._api.send(config.bot_token, "editMessageReplyMarkup", prompt)

    def prompt_target(
        self,
        config: BotConfig,
        target: BotTarget,
        message: OutboundMessage,
        ref: str,
        press: BotTarget | None,
    ) -> BotTarget | None:
        if not message.payload.get("choices") or not ref.isdigit():
            return None
        return replace(press or BotTarget(), chat_id=target.chat_id, prompt_id=int(ref))


def _methods(artifact: Artifact, size: int) -> list[tuple[str, str]]:
    """Methods that may take the file, each with its field; a photo that Telegram rejects is sent as a document."""
    document = ("sendDocument", "document")
    return [("sendPhoto", "photo"), document] if artifact.is_image and size <= MAX_PHOTO else [document]
