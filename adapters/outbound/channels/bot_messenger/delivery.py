"""Writes answers to Telegram: text in the chosen markup, photos, documents, inline keyboards."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.files import FILE, send_file
from adapters.outbound.channels.common.messages import (
    closed_text,
    file_payloads,
    split_question,
    text_payloads,
)
from adapters.outbound.rendering import render
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Answer, Artifact, ClosedPrompt, OutboundMessage, Sent
from ports.capabilities import PlatformError
from ports.channels import ArtifactReader
from ports.http import FormFile

from .api import Attempt, BotApi, Rejection
from .config import MARKUPS, TEXT_LIMIT, BotConfig, BotTarget

MAX_PHOTO = 10 * 1024 * 1024
MAX_DOCUMENT = 50 * 1024 * 1024
MAX_NOTICE = 200
_RETRIES = 4
"""How often one message is sent in another form, each time for another reason."""
_BOT_QUOTAS = (Quota(30, 1.0, burst=6),)
_CHAT_QUOTAS = (Quota(1, 1.0),)
_GROUP_QUOTAS = (Quota(20, 60.0, burst=5), *_CHAT_QUOTAS)
"""https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this"""


class Delivery:
    """Sends messages; one that Telegram rejects for its form is sent again at once in another form."""

    typing_seconds = 4.0
    """Telegram shows it for five seconds."""

    def __init__(self, api: BotApi, artifacts: ArtifactReader) -> None:
        self._api = api
        self._artifacts = artifacts

    def render(self, config: BotConfig, target: BotTarget, answer: Answer) -> Sequence[OutboundMessage]:
        markup = MARKUPS[config.mode]
        texts = [piece for part in split_question(answer) for piece in render(markup, part, TEXT_LIMIT)]
        payloads = text_payloads(texts, answer, with_plain=True, mode=config.mode) + file_payloads(answer)
        for payload in payloads[:1]:
            payload["first"] = True
        return [OutboundMessage(payload) for payload in payloads]

    def limits(self, config: BotConfig, target: BotTarget) -> Limits:
        """Groups have negative ids (https://core.telegram.org/bots/api#chat); topics of a group count together."""
        chat = "" if target.chat_id is None else str(target.chat_id)
        quotas = _GROUP_QUOTAS if chat.startswith("-") else _CHAT_QUOTAS
        return Limits(config.bot_token, chat, _BOT_QUOTAS, quotas)

    async def send(self, config: BotConfig, target: BotTarget, message: OutboundMessage, key: str) -> Sent:
        payload = message.payload
        address = _address(target, reply=bool(payload.get("first")))
        if payload.get("kind") != FILE:
            body = {**address, "text": payload["text"], "parse_mode": payload["mode"], **_preview(config)}
            attempt = await self._send(
                config, "sendMessage", body | _keyboard(payload), (), text(payload, "plain")
            )
            return attempt.sent

        async def upload(artifact: Artifact, content: bytes) -> Sent | None:
            for method, field in _methods(artifact, len(content)):
                file = FormFile(field, artifact.name, artifact.mime_type, content)
                attempt = await self._send(config, method, address, (file,))
                if attempt.rejection is None or not attempt.rejection.of_content:
                    return attempt.sent
            return None

        async def send_text(text: str) -> Sent:
            return (await self._send(config, "sendMessage", {**address, "text": text})).sent

        return await send_file(self._artifacts, payload, MAX_DOCUMENT, upload, send_text)

    async def typing(self, config: BotConfig, target: BotTarget) -> Sent:
        body = {**_address(target), "action": "typing"}
        return (await self._api.send(config.bot_token, "sendChatAction", body)).sent

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
        if not target.prompt_id:
            return
        prompt: dict[str, Any] = {
            "chat_id": target.chat_id,
            "message_id": target.prompt_id,
            "reply_markup": {"inline_keyboard": []},
        }
        text = closed_text(MARKUPS[config.mode], closed, TEXT_LIMIT)
        body = {**prompt, "text": text.text, "parse_mode": config.mode, **_preview(config)}
        rejection = (await self._send(config, "editMessageText", body, (), text.plain)).rejection
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

    async def _send(
        self,
        config: BotConfig,
        method: str,
        body: dict[str, Any],
        files: Sequence[FormFile] = (),
        plain: str = "",
    ) -> Attempt:
        for _ in range(_RETRIES):
            attempt = await self._api.send(config.bot_token, method, body, files)
            amended = _amended(body, attempt.rejection, plain) if attempt.rejection else None
            if amended is None:
                break
            body = amended
        return attempt


def _methods(artifact: Artifact, size: int) -> list[tuple[str, str]]:
    """Methods that may take the file, each with its field; a photo that Telegram rejects is sent as a document."""
    document = ("sendDocument", "document")
    return [("sendPhoto", "photo"), document] if artifact.is_image and size <= MAX_PHOTO else [document]


def _amended(body: dict[str, Any], rejection: Rejection, plain: str) -> dict[str, Any] | None:
    """The message in a form that Telegram may take after this rejection, None where there is none."""
    if rejection.migrated_to is not None and body["chat_id"] != rejection.migrated_to:
        return _without(body, "reply_parameters") | {"chat_id": rejection.migrated_to}
    if rejection.contains("can't parse entities") and "parse_mode" in body:
        return _without(body, "parse_mode") | {"text": plain}
    if rejection.contains("replied not found") and "reply_parameters" in body:
        return _without(body, "reply_parameters")
    if rejection.contains("thread not found") and "message_thread_id" in body:
        return _without(body, "message_thread_id")
    return None


def _without(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


def _keyboard(payload: Mapping[str, Any]) -> dict[str, Any]:
    if not payload.get("choices"):
        return {}
    buttons = [[{"text": label, "callback_data": value}] for label, value in payload["choices"]]
    return {"reply_markup": {"inline_keyboard": buttons}}


def _preview(config: BotConfig) -> dict[str, Any]:
    return {"link_preview_options": {"is_disabled": True}} if config.disable_web_page_preview else {}


def _address(target: BotTarget, *, reply: bool = False) -> dict[str, Any]:
    address: dict[str, Any] = {"chat_id": target.chat_id}
    if target.message_thread_id is not None:
        address["message_thread_id"] = target.message_thread_id
    if reply and target.reply_to is not None:
        address["reply_parameters"] = {"message_id": target.reply_to, "allow_sending_without_reply": True}
    return address
