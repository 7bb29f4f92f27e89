"""Writes answers to Telegram: text in the chosen markup, photos, documents, inline keyboards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.outbound.channels.common.files import (
    FILE,
    FileUnavailable,
    artifact_of,
    content_of,
    file_payload,
    link_text,
)
from adapters.outbound.channels.common.messages import closed_text, split_question
from adapters.outbound.rendering import Markup, Rendered, render
from domain.channels.messages import Answer, Artifact, ClosedPrompt, Config, OutboundMessage, Sent, Target
from ports.channels import ArtifactReader
from ports.http import FormFile

from .api import BotApi, Refused
from .definition import TEXT_LIMIT

MAX_PHOTO = 10 * 1024 * 1024
MAX_DOCUMENT = 50 * 1024 * 1024
_MARKUPS = {
    "HTML": Markup.TELEGRAM_HTML,
    "Markdown": Markup.TELEGRAM_MARKDOWN,
    "MarkdownV2": Markup.TELEGRAM_MARKDOWNV2,
}
_AMENDMENTS = 4
"""How often one part is sent again in another form, each time for another reason."""


def render_answer(config: Config, answer: Answer) -> list[OutboundMessage]:
    """The answer as parts: texts, the choices under the last of them, then each file."""
    mode = parse_mode(config)
    pieces = [each for text in split_question(answer) for each in render(_MARKUPS[mode], text, TEXT_LIMIT)]
    texts = [_text_part(each, mode) for each in pieces]
    if answer.choices:
        texts = texts or [_text_part(Rendered("?", "?"), mode)]
        texts[-1]["choices"] = [[each.label, each.value] for each in answer.choices]
    parts = texts + [file_payload(each) for each in answer.artifacts]
    for each in parts[:1]:
        each["first"] = True
    return [OutboundMessage(each) for each in parts]


def parse_mode(config: Config) -> str:
    """The configured markup, HTML where none is."""
    mode = config.get("parseMode")
    return mode if isinstance(mode, str) and mode in _MARKUPS else "HTML"


def _text_part(rendered: Rendered, mode: str) -> dict[str, Any]:
    return {"kind": "text", "text": rendered.text, "plain": rendered.plain, "mode": mode}


class Delivery:
    """Sends parts; a form that Telegram refuses is amended and sent again at once."""

    def __init__(self, api: BotApi, artifacts: ArtifactReader) -> None:
        self._api = api
        self._artifacts = artifacts

    async def send(self, config: Config, target: Target, part: OutboundMessage) -> Sent:
        if part.payload.get("kind") == FILE:
            return await self._send_file(config, target, part.payload)
        return await self._send_text(config, _message(config, target, part.payload), part.payload["plain"])

    async def _send_text(self, config: Config, message: dict[str, Any], plain: str) -> Sent:
        sent, _ = await self._deliver(config, "sendMessage", message, (), plain)
        return sent

    async def _send_file(self, config: Config, target: Target, payload: Mapping[str, Any]) -> Sent:
        artifact = artifact_of(payload)
        try:
            content = await content_of(self._artifacts, artifact, MAX_DOCUMENT)
        except FileUnavailable:
            return await self._send_link(config, target, payload, artifact)
        for method, field in _ways(artifact, len(content)):
            file = FormFile(field, artifact.name, artifact.mime_type, content)
            sent, refused = await self._deliver(config, method, _place(target, payload), (file,))
            if refused is None or not refused.for_its_content:
                return sent
        return await self._send_link(config, target, payload, artifact)

    async def _send_link(
        self, config: Config, target: Target, payload: Mapping[str, Any], artifact: Artifact
    ) -> Sent:
        words = link_text(artifact)
        return await self._send_text(config, {**_place(target, payload), "text": words}, words)

    async def close(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        """Replaces a prompt that is over; where its text cannot be changed, it loses its buttons at least."""
        place = {"chat_id": target.get("chat_id"), "message_id": target.get("prompt_id")}
        emptied: dict[str, Any] = {**place, "reply_markup": {"inline_keyboard": []}}
        mode = parse_mode(config)
        shown = closed_text(_MARKUPS[mode], closed, TEXT_LIMIT)
        message = {**emptied, "text": shown.text, "parse_mode": mode, **_previews(config)}
        _, refused = await self._deliver(config, "editMessageText", message, (), shown.plain)
        if refused is not None and not refused.says("not modified"):
            await self._api.deliver(config, "editMessageReplyMarkup", emptied)

    async def _deliver(
        self,
        config: Config,
        method: str,
        message: dict[str, Any],
        files: Sequence[FormFile],
        plain: str = "",
    ) -> tuple[Sent, Refused | None]:
        for _ in range(_AMENDMENTS):
            sent, refused = await self._api.deliver(config, method, message, files)
            amended = _amended(message, refused, plain) if refused else None
            if amended is None:
                break
            message = amended
        return sent, refused


def _ways(artifact: Artifact, size: int) -> list[tuple[str, str]]:
    """Methods that may take the file, each with its field; what is no picture for Telegram is a document."""
    document = ("sendDocument", "document")
    return [("sendPhoto", "photo"), document] if artifact.is_image and size <= MAX_PHOTO else [document]


def _amended(message: dict[str, Any], refused: Refused, plain: str) -> dict[str, Any] | None:
    """The message in a form that Telegram may take after this refusal, None where there is none."""
    if refused.migrated_to is not None and message["chat_id"] != refused.migrated_to:
        return _without(message, "reply_parameters") | {"chat_id": refused.migrated_to}
    if refused.says("can't parse entities") and "parse_mode" in message:
        return _without(message, "parse_mode") | {"text": plain}
    if refused.says("replied not found") and "reply_parameters" in message:
        return _without(message, "reply_parameters")
    if refused.says("thread not found") and "message_thread_id" in message:
        return _without(message, "message_thread_id")
    return None


def _without(message: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {each: value for each, value in message.items() if each != name}


def _message(config: Config, target: Target, payload: Mapping[str, Any]) -> dict[str, Any]:
    message = {**_place(target, payload), "text": payload["text"], "parse_mode": payload["mode"]}
    message |= _previews(config)
    if choices := payload.get("choices"):
        message["reply_markup"] = {
            "inline_keyboard": [[{"text": label, "callback_data": value}] for label, value in choices]
        }
    return message


def _previews(config: Config) -> dict[str, Any]:
    disabled = config.get("disableWebPagePreview") is True
    return {"link_preview_options": {"is_disabled": True}} if disabled else {}


def _place(target: Target, payload: Mapping[str, Any]) -> dict[str, Any]:
    place: dict[str, Any] = {"chat_id": target.get("chat_id")}
    if "message_thread_id" in target:
        place["message_thread_id"] = target["message_thread_id"]
    if payload.get("first") and "reply_to" in target:
        place["reply_parameters"] = {
            "message_id": target["reply_to"],
            "allow_sending_without_reply": True,
        }
    return place
