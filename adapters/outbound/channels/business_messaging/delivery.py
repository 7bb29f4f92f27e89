"""Writes answers to WhatsApp: texts, reply buttons and media."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.files import (
    FILE,
    FileUnavailable,
    artifact_of,
    content_of,
    file_payload,
    link_text,
)
from adapters.outbound.rendering import Markup, Rendered, render
from domain.channels.messages import Answer, Artifact, Choice, Config, OutboundMessage, Outcome, Sent, Target
from domain.channels.model import TextLimit
from ports.channels import ArtifactReader
from ports.http import FormFile

from .api import GraphApi
from .definition import BUTTONS, TEXT_LIMIT

_BUTTON_BODY = TextLimit(1024)
_TITLE = 20
_MB = 1024 * 1024
_KINDS = {
    "image": (frozenset({"image/jpeg", "image/png"}), 5 * _MB),
    "video": (frozenset({"video/mp4", "video/3gpp"}), 16 * _MB),
    "audio": (frozenset({"audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"}), 16 * _MB),
}
"""Media types and sizes that go as pictures, films and sounds; the rest goes as documents
(https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types)."""
STATUS_SECONDS = 20.0
"""Within which a message that arrived shows itself by a status."""
MAX_DOCUMENT = 100 * _MB


def render_answer(answer: Answer) -> list[OutboundMessage]:
    """The answer as parts: texts, the choices under the last of them, then each file."""
    buttons = 0 < len(answer.choices) <= BUTTONS
    limit = _BUTTON_BODY if buttons else TEXT_LIMIT
    words = answer.text if buttons or not answer.choices else _with_typed(answer.text, answer.choices)
    texts = [_text_part(each) for each in render(Markup.WHATSAPP, words, limit)]
    if buttons:
        texts = texts or [_text_part(Rendered("?", "?"))]
        texts[-1]["choices"] = [[each.label, each.value] for each in answer.choices]
    return [OutboundMessage(each) for each in texts + [file_payload(each) for each in answer.artifacts]]


def _text_part(rendered: Rendered) -> dict[str, Any]:
    return {"kind": "text", "text": rendered.text}


def _with_typed(words: str, choices: tuple[Choice, ...]) -> str:
    """A message offers at most three buttons: more choices are typed."""
    listed = "\n".join(f"- {each.label}" for each in choices)
    return f"{words}\n\n{listed}"


class Delivery:
    """Sends parts."""

    def __init__(self, api: GraphApi, artifacts: ArtifactReader) -> None:
        self._api = api
        self._artifacts = artifacts

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        if part.payload.get("kind") == FILE:
            return await self._send_file(config, target, part.payload, key)
        return await self._sent(config, target, _content(part.payload), key)

    async def _sent(self, config: Config, target: Target, content: Mapping[str, Any], key: str) -> Sent:
        """Sends a message. One that may have arrived gives its status time to tell so."""
        sent = await self._api.message(config, _message(target, content, key))
        return replace(sent, retry_after=STATUS_SECONDS) if sent.outcome is Outcome.UNKNOWN else sent

    async def _send_file(self, config: Config, target: Target, payload: Mapping[str, Any], key: str) -> Sent:
        artifact = artifact_of(payload)
        try:
            content = await content_of(self._artifacts, artifact, MAX_DOCUMENT)
        except FileUnavailable:
            return await self._send_link(config, target, artifact, key)
        file = FormFile("file", artifact.name, artifact.mime_type, content)
        uploaded, media_id = await self._api.upload(config, file)
        if uploaded.outcome is Outcome.PERMANENT:
            return await self._send_link(config, target, artifact, key)
        if uploaded.outcome is not Outcome.SENT:
            return uploaded
        return await self._sent(config, target, _media(artifact, len(content), media_id), key)

    async def _send_link(self, config: Config, target: Target, artifact: Artifact, key: str) -> Sent:
        return await self._sent(config, target, _content({"text": link_text(artifact)}), key)


def _message(target: Target, content: Mapping[str, Any], key: str) -> dict[str, Any]:
    phone = text(target, "to")
    receiver = {"to": phone} if phone else {"recipient": text(target, "recipient")}
    return {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        **receiver,
        **content,
        "biz_opaque_callback_data": key,
    }


def _content(payload: Mapping[str, Any]) -> dict[str, Any]:
    words = payload["text"]
    choices = payload.get("choices")
    if not choices:
        return {"type": "text", "text": {"preview_url": False, "body": words}}
    buttons = [{"type": "reply", "reply": {"id": value, "title": label[:_TITLE]}} for label, value in choices]
    action = {"buttons": buttons}
    return {
        "type": "interactive",
        "interactive": {"type": "button", "body": {"text": words}, "action": action},
    }


def _media(artifact: Artifact, size: int, media_id: str) -> dict[str, Any]:
    for kind, (mime_types, limit) in _KINDS.items():
        if artifact.mime_type in mime_types and size <= limit:
            return {"type": kind, kind: {"id": media_id}}
    return {"type": "document", "document": {"id": media_id, "filename": artifact.name}}
