"""Sends answers to Telegram: text in the chosen markup, photos, documents, inline keyboards, drafts and reactions."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from adapters.outbound.channels.common import messages, outcomes
from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.files import FILE, send_file
from adapters.outbound.channels.common.rich import under_last
from domain.channels.answers import Answer, Artifact, ClosedPrompt, OutboundMessage, Preview
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Outcome, Sent
from ports.capabilities import PlatformError
from ports.channels import ArtifactReader
from ports.http import FormFile

from . import rich
from .api import Attempt, BotApi
from .config import GENERAL, MARKUPS, TEXT_LIMIT, BotConfig, BotTarget

MAX_PHOTO = 10 * 1024 * 1024
MAX_DOCUMENT = 50 * 1024 * 1024
MAX_NOTICE = 200
CHAT_SECONDS = 1.0
GROUP_SECONDS = 5.0
"""A group takes 20 messages a minute: the answer needs some of them."""
_FORMS = 4
"""How often one message is sent in another form, each time for another reason."""
_LINKS = "Links"
_DOCUMENT = ("sendDocument", "document")
_BOT_QUOTAS = (Quota(30, 1.0, burst=6),)
_CHAT_QUOTAS = (Quota(1, 1.0),)
_GROUP_QUOTAS = (Quota(20, 60.0, burst=5), *_CHAT_QUOTAS)
"""https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this"""


class Delivery:
    """Sends messages and replaces prompts. The reference of a draft is the id of its message in the target's chat."""

    typing_seconds = 4.0
    """Telegram shows it for five seconds."""

    def __init__(self, api: BotApi, artifacts: ArtifactReader) -> None:
        self._api = api
        self._artifacts = artifacts

    def render(self, config: BotConfig, target: BotTarget, answer: Answer) -> Sequence[OutboundMessage]:
        answer, links = rich.with_links(answer)
        texts = messages.rendered(answer, MARKUPS[config.mode], TEXT_LIMIT)
        payloads = messages.text_payloads(texts, answer, with_plain=True, mode=config.mode)
        if links and not payloads:
            payloads = [{"kind": "text", "text": _LINKS, "plain": _LINKS, "mode": config.mode}]
        payloads = under_last(payloads, links)
        payloads = messages.in_place_of_draft(payloads, answer.draft, has_text=bool(payloads))
        payloads += rich.payloads(answer.rich, config.mode) if answer.rich else ()
        payloads += messages.file_payloads(answer)
        for payload in payloads[:1]:
            payload["first"] = True
        return [OutboundMessage(payload) for payload in payloads]

    def limits(self, config: BotConfig, target: BotTarget) -> Limits:
        """Topics of a group count together, and edits as messages."""
        chat = "" if target.chat_id is None else str(target.chat_id)
        return Limits(
            config.bot_token, chat, _BOT_QUOTAS, _GROUP_QUOTAS if _is_group(target) else _CHAT_QUOTAS
        )

    async def send(self, config: BotConfig, target: BotTarget, message: OutboundMessage, key: str) -> Sent:
        payload = message.payload
        draft, is_first = text(payload, "draft"), bool(payload.get("first"))

        async def withdraw() -> Sent:
            body = {"chat_id": target.chat_id, "message_id": int(draft)}
            attempt = await self._api.send(config.bot_token, "deleteMessage", body)
            is_gone = attempt.contains("to delete not found")
            return Sent(Outcome.SENT, ref=draft) if is_gone else outcomes.repeatable(attempt.sent)

        if payload.get("kind") == messages.WITHDRAWN:
            return await withdraw()
        if payload.get("kind") == rich.METHOD:
            return await self._send_rich(config, _address(target, reply=is_first), payload)
        if payload.get("kind") != FILE:
            post = partial(self._send_text, config, target, payload, reply=is_first)
            change = partial(self._change, config, target, draft, payload)
            return await (messages.replaced(change, withdraw, post) if draft else post())
        address = _address(target, reply=is_first)

        async def upload(artifact: Artifact, content: bytes) -> Sent | None:
            """A photo that Telegram rejects is sent as a document."""
            is_photo = artifact.is_image and len(content) <= MAX_PHOTO
            for method, field in [("sendPhoto", "photo"), _DOCUMENT] if is_photo else [_DOCUMENT]:
                file = FormFile(field, artifact.name, artifact.mime_type, content)
                attempt = await self._send(config, method, address, files=(file,))
                if not attempt.is_of_content:
                    return attempt.sent
            return None

        async def send_text(link: str) -> Sent:
            return (await self._send(config, "sendMessage", {**address, "text": link})).sent

        return await send_file(self._artifacts, payload, MAX_DOCUMENT, upload, send_text)

    async def _send_rich(
        self, config: BotConfig, address: dict[str, Any], payload: Mapping[str, Any]
    ) -> Sent:
        """Sends a photo, a place or a contact; for a photo that Telegram cannot fetch, a text with a link."""
        body = {**address, **payload["fields"]}
        if rows := rich.keyboard(payload):
            body["reply_markup"] = {"inline_keyboard": rows}
        attempt = await self._send(config, str(payload["call"]), body)
        if not payload.get("plain") or not attempt.is_of_content:
            return attempt.sent
        body = {**address, "text": payload["plain"]}
        return (await self._send(config, "sendMessage", body)).sent

    async def _send(
        self,
        config: BotConfig,
        method: str,
        body: dict[str, Any],
        plain: str = "",
        files: Sequence[FormFile] = (),
    ) -> Attempt:
        """Sends a message; one that Telegram rejects for its form is sent again at once in another form."""
        for _ in range(_FORMS):
            attempt = await self._api.send(config.bot_token, method, body, files)
            amended = _amended(body, attempt, plain)
            if amended is None:
                break
            body = amended
        return attempt

    async def _send_text(
        self, config: BotConfig, target: BotTarget, payload: Mapping[str, Any], *, reply: bool
    ) -> Sent:
        body = {**_address(target, reply=reply), **_text_body(config, payload)}
        return (await self._send(config, "sendMessage", body, text(payload, "plain"))).sent

    def preview(self, config: BotConfig, target: BotTarget) -> Preview | None:
        seconds = GROUP_SECONDS if _is_group(target) else CHAT_SECONDS
        return messages.preview(MARKUPS[config.mode], TEXT_LIMIT, seconds)

    async def draft(
        self, config: BotConfig, target: BotTarget, message: OutboundMessage, draft: str, key: str
    ) -> Sent:
        if draft:
            return await self._change(config, target, draft, message.payload)
        return await self._send_text(config, target, message.payload, reply=True)

    async def _change(
        self, config: BotConfig, target: BotTarget, draft: str, payload: Mapping[str, Any]
    ) -> Sent:
        body = {"chat_id": target.chat_id, "message_id": int(draft), **_text_body(config, payload)}
        attempt = await self._send(config, "editMessageText", body, text(payload, "plain"))
        if attempt.contains("not modified"):
            return Sent(Outcome.SENT, ref=draft)
        return outcomes.edited(attempt.sent, draft)

    async def typing(self, config: BotConfig, target: BotTarget) -> Sent:
        body = {**_address(target), "action": "typing"}
        return (await self._api.send(config.bot_token, "sendChatAction", body)).sent

    async def react(
        self, config: BotConfig, target: BotTarget, message_id: str, emoji: str, *, present: bool
    ) -> Sent:
        """Telegram takes the emoji of a list of its own; another is refused."""
        reaction = [{"type": "emoji", "emoji": emoji}] if present else []
        body = {"chat_id": target.chat_id, "message_id": int(message_id), "reaction": reaction}
        return (await self._api.send(config.bot_token, "setMessageReaction", body)).sent

    async def acknowledge_press(self, config: BotConfig, target: BotTarget, notice: str) -> None:
        """Answers the query of a pressed button: until then Telegram shows that the bot is at work."""
        if not target.callback_query_id:
            return
        payload = {"callback_query_id": target.callback_query_id}
        if notice:
            payload["text"] = notice[:MAX_NOTICE]
        with contextlib.suppress(PlatformError):
            await self._api.call(config.bot_token, "answerCallbackQuery", payload)

    async def close_prompt(self, config: BotConfig, target: BotTarget, closed: ClosedPrompt) -> None:
        """Shows the outcome to the person who pressed, and replaces the prompt. A prompt whose text cannot be changed
        loses its buttons."""
        await self.acknowledge_press(config, target, closed.outcome)
        shown = await messages.closed_text(MARKUPS[config.mode], closed, TEXT_LIMIT)
        if not target.prompt_id or shown is None:
            return
        prompt: dict[str, Any] = {
            "chat_id": target.chat_id,
            "message_id": target.prompt_id,
            "reply_markup": {"inline_keyboard": []},
        }
        body = {**prompt, "text": shown.text, "parse_mode": config.mode, **_link_preview(config)}
        attempt = await self._send(config, "editMessageText", body, shown.plain)
        if attempt.status and not attempt.contains("not modified"):
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


def _amended(body: dict[str, Any], attempt: Attempt, plain: str) -> dict[str, Any] | None:
    """The message in a form that Telegram may take after this attempt, or None."""
    if attempt.migrated_to is not None and body["chat_id"] != attempt.migrated_to:
        return _without(body, "reply_parameters") | {"chat_id": attempt.migrated_to}
    if attempt.contains("can't parse entities") and "parse_mode" in body:
        return _without(body, "parse_mode") | {"text": plain}
    if attempt.contains("replied not found") and "reply_parameters" in body:
        return _without(body, "reply_parameters")
    if attempt.contains("thread not found") and "message_thread_id" in body:
        return _without(body, "message_thread_id")
    return None


def _without(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


def _text_body(config: BotConfig, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a text, wherever it is shown."""
    body = {"text": payload["text"], "parse_mode": payload.get("mode", config.mode), **_link_preview(config)}
    if rows := rich.keyboard(payload):
        body["reply_markup"] = {"inline_keyboard": rows}
    return body


def _link_preview(config: BotConfig) -> dict[str, Any]:
    return {"link_preview_options": {"is_disabled": True}} if config.disable_web_page_preview else {}


def _address(target: BotTarget, *, reply: bool = False) -> dict[str, Any]:
    address: dict[str, Any] = {"chat_id": target.chat_id}
    if target.message_thread_id not in (None, GENERAL):
        address["message_thread_id"] = target.message_thread_id
    if reply and target.reply_to is not None:
        address["reply_parameters"] = {"message_id": target.reply_to, "allow_sending_without_reply": True}
    return address


def _is_group(target: BotTarget) -> bool:
    """Groups have negative ids (https://core.telegram.org/bots/api#chat)."""
    return str(target.chat_id or "").startswith("-")
