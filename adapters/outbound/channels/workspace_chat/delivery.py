"""Writes answers to Slack: messages in mrkdwn, buttons, and the ways by which they reach a conversation."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from adapters.outbound.channels.bodies import text
from adapters.outbound.channels.files import file_payload
from adapters.outbound.channels.outcomes import by_status, exchange
from adapters.outbound.rendering import Markup, Rendered, render
from domain.channels.messages import Answer, Config, Outcome, Part, Sent, Target
from domain.channels.model import TextLimit
from ports.channels import Kit
from ports.http import HttpRequest

from .api import WebApi
from .definition import TEXT_LIMIT

RESPONSE_URL_SECONDS = 30 * 60 - 30
RESPONSE_URL_USES = 4
"""Slack takes five answers in 30 minutes; one is left for a part that has to be sent again."""
_BLOCK_LIMIT = TextLimit(3000)
_RESPONSE_URL = "response_url"
_NOT_THERE = ("not_in_channel", "channel_not_found", "is_archived", "restricted_action")


def render_answer(answer: Answer) -> list[Part]:
    """The answer as parts: texts, the choices under the last of them, then each file."""
    limit = _BLOCK_LIMIT if answer.choices else TEXT_LIMIT
    texts = [_text_part(each) for each in render(Markup.MRKDWN, answer.text, limit)]
    if answer.choices:
        texts = texts or [_text_part(Rendered("?", "?"))]
        texts[-1]["choices"] = [[each.label, each.value] for each in answer.choices]
    parts = texts + [file_payload(each) for each in answer.artifacts]
    return [Part({**each, "index": index}) for index, each in enumerate(parts)]


def _text_part(rendered: Rendered) -> dict[str, Any]:
    return {"kind": "text", "text": rendered.text, "plain": rendered.plain}


class Messages:
    """Sends one message by the first way that works."""

    def __init__(self, kit: Kit, api: WebApi) -> None:
        self._kit = kit
        self._api = api

    async def send(self, config: Config, target: Target, payload: Mapping[str, Any], key: str) -> Sent:
        message = message_of(payload)
        sent = await self._by_ways(config, target, message, int(payload.get("index", 0)), key)
        if sent.outcome is Outcome.PERMANENT and "invalid_blocks" in sent.detail:
            plain = {"text": payload["plain"]}
            sent = await self._by_ways(config, target, plain, int(payload.get("index", 0)), key)
        return sent

    async def _by_ways(
        self, config: Config, target: Target, message: Mapping[str, Any], index: int, key: str
    ) -> Sent:
        sent = Sent(Outcome.PERMANENT, "There is no conversation to answer in; set config.defaultChannel.")
        later: Sent | None = None
        async for tried in self._ways(config, target, message, index, key):
            sent = tried
            if not _other_way_may_help(sent):
                break
            if sent.outcome is Outcome.TRANSIENT:
                later = sent
        return later if later and sent.outcome is Outcome.PERMANENT else sent

    async def _ways(
        self, config: Config, target: Target, message: Mapping[str, Any], index: int, key: str
    ) -> AsyncIterator[Sent]:
        """A slash command may come from a conversation that the bot is not in: its response_url comes
        first there, and a direct message to the person last."""
        response_url = text(target, "response_url")
        if response_url and index < RESPONSE_URL_USES and self._is_fresh(target):
            yield await self._respond(response_url, message)
        if channel := text(target, "channel") or text(config, "defaultChannel"):
            yield await self._post(config, channel, text(target, "thread_ts"), message, key)
        if user := text(target, "user"):
            yield await self._post(config, user, "", message, key)

    def _is_fresh(self, target: Target) -> bool:
        since = target.get("since")
        age = self._kit.clock.now().timestamp() - since if isinstance(since, int | float) else 0.0
        return age < RESPONSE_URL_SECONDS

    async def _respond(self, address: str, message: Mapping[str, Any]) -> Sent:
        body = {"response_type": "in_channel", "replace_original": False, **message}
        request = HttpRequest("POST", address, json=body, user_address=True)
        answer = await exchange(self._kit.http, request)
        if isinstance(answer, Sent):
            return replace(answer, detail=f"{_RESPONSE_URL}: {answer.detail}")
        return by_status(answer, detail=f"{_RESPONSE_URL} was refused")

    async def _post(
        self, config: Config, channel: str, thread: str, message: Mapping[str, Any], key: str
    ) -> Sent:
        body: dict[str, Any] = {"channel": channel, **message, "client_msg_id": message_id(key)}
        if thread:
            body["thread_ts"] = thread
        sent, _ = await self._api.deliver(self._api.request(config, "chat.postMessage", json=body))
        return sent


def _other_way_may_help(sent: Sent) -> bool:
    """Whether the message is surely not there, for a reason that lies with the way."""
    if sent.outcome is Outcome.TRANSIENT:
        return _RESPONSE_URL in sent.detail
    return sent.outcome is Outcome.PERMANENT and (
        _RESPONSE_URL in sent.detail or sent.detail.startswith(_NOT_THERE)
    )


def message_of(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The text, and with choices the blocks of a message."""
    message: dict[str, Any] = {"text": payload["text"]}
    if choices := payload.get("choices"):
        message["blocks"] = [section(payload["text"]), _buttons(choices)]
    return message


def section(words: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words}}


def _buttons(choices: list[list[str]]) -> dict[str, Any]:
    buttons = [
        {
            "type": "button",
            "text": {"type": "plain_text", "text": label[:75]},
            "action_id": f"choice_{number}",
            "value": value,
        }
        for number, (label, value) in enumerate(choices, start=1)
    ]
    return {"type": "actions", "elements": buttons}


def message_id(key: str) -> str:
    """The client_msg_id of a part, a UUID: the same for every try."""
    return str(UUID(bytes=hashlib.sha256(key.encode()).digest()[:16], version=4))
