"""Sends answers to Discord: interaction answers, channel messages, buttons and files."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.files import FILE, send_file
from adapters.outbound.channels.common.messages import file_payloads, split_question, text_payloads
from adapters.outbound.channels.common.outcomes import repeatable
from adapters.outbound.http.paths import segment
from adapters.outbound.rendering import Markup, render
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Answer, Artifact, OutboundMessage, Outcome, Sent
from ports.channels import ChannelDependencies
from ports.http import FormFile

from .api import TOKEN_GONE, ApiResult, DiscordApi
from .config import TEXT_LIMIT, DiscordConfig, DiscordTarget

TOKEN_SECONDS = 15 * 60 - 15
SETTLING_SECONDS = 5.0
"""An answer may overtake our own acknowledgement: until then Discord does not know the interaction."""
MAX_FILE = 10 * 1024 * 1024
"""In servers without boosts; an interaction tells of a larger limit."""
WITHDRAWN = "withdrawn"
NO_PINGS: Mapping[str, list[str]] = {"parse": []}
_MAX_IN_MEMORY = 100 * 1024 * 1024
_ROW = 5
"""Buttons in a row."""
_UNKNOWN_MESSAGE = 10008
_TOO_LARGE = 40005
_OF_BOT = (Quota(50, 1.0, burst=10),)


def limits(config: DiscordConfig, target: DiscordTarget) -> Limits:
    """50 requests a second of a bot in all; Discord's answers tell what a channel takes, and say that those numbers
    are not to be built in (https://docs.discord.com/developers/topics/rate-limits)."""
    return Limits(config.bot_token, channel_of(config, target) or target.token, _OF_BOT)


def shows_waiting(config: DiscordConfig, target: DiscordTarget) -> bool:
    """Discord shows 'is thinking' for a command."""
    return target.deferred


def channel_of(config: DiscordConfig, target: DiscordTarget) -> str:
    return target.channel_id or config.default_channel_id


class Delivery:
    """Sends messages by the interaction's token while it holds, else as the bot."""

    typing_seconds = 8.0
    """Discord shows it for ten seconds."""

    def __init__(self, dependencies: ChannelDependencies, api: DiscordApi) -> None:
        self._clock = dependencies.clock
        self._artifacts = dependencies.artifacts
        self._api = api

    def render(self, config: DiscordConfig, target: DiscordTarget, answer: Answer) -> list[OutboundMessage]:
        """Texts, the choices under the last of them, then each file; without any, 'is thinking' is taken away."""
        pieces = [
            piece for part in split_question(answer) for piece in render(Markup.DISCORD, part, TEXT_LIMIT)
        ]
        payloads = text_payloads(pieces, answer) + file_payloads(answer)
        if not payloads and target.deferred:
            payloads = [{"kind": WITHDRAWN}]
        return [OutboundMessage({**payload, "index": index}) for index, payload in enumerate(payloads)]

    async def send(
        self, config: DiscordConfig, target: DiscordTarget, message: OutboundMessage, key: str
    ) -> Sent:
        payload = message.payload
        if payload.get("kind") == WITHDRAWN:
            return await self._withdraw(target)
        first = payload.get("index", 0) == 0
        deliver = partial(self._deliver, config, target, key, first)

        async def send_text(content: str) -> Sent:
            return (await deliver(_message(content, at(payload, "choices") or ()))).sent

        if payload.get("kind") == FILE:
            limit = min(target.max_file or MAX_FILE, _MAX_IN_MEMORY)
            sent = await send_file(self._artifacts, payload, limit, partial(_upload, deliver), send_text)
        else:
            sent = await send_text(text(payload, "text"))
        if first and sent.outcome is Outcome.PERMANENT and target.deferred:
            await self._withdraw(target)
        return sent

    async def _withdraw(self, target: DiscordTarget) -> Sent:
        """Takes 'is thinking' away. Where it is gone, with its token or without, there is nothing left to do."""
        age = self._age(target)
        if age >= TOKEN_SECONDS:
            return Sent(Outcome.SENT)
        result = await self._api.by_token(target, "DELETE", "/messages/@original", {})
        if result.is_gone and age >= SETTLING_SECONDS:
            return Sent(Outcome.SENT)
        return replace(result.sent, outcome=Outcome.TRANSIENT) if result.is_gone else repeatable(result.sent)

    async def _deliver(
        self,
        config: DiscordConfig,
        target: DiscordTarget,
        key: str,
        first: bool,
        message: Mapping[str, Any],
        file: FormFile | None = None,
    ) -> ApiResult:
        age = self._age(target)
        if target.token and age < TOKEN_SECONDS:
            result = await self._respond(target, first, message, file)
            if result.code in TOKEN_GONE and age < SETTLING_SECONDS:
                return replace(result, sent=Sent(Outcome.TRANSIENT, result.sent.detail))
            if not result.is_gone:
                return result
        channel = channel_of(config, target)
        if not channel:
            detail = "There is no conversation to answer in; set config.defaultChannelId."
            return ApiResult(Sent(Outcome.PERMANENT, detail))
        body = {**message, "nonce": nonce(key), "enforce_nonce": True}
        if first and (message_id := target.reply_to):
            body["message_reference"] = {"message_id": message_id, "fail_if_not_exists": False}
        return await self._api.as_bot(config, "POST", f"/channels/{segment(channel)}/messages", body, file)

    async def _respond(
        self, target: DiscordTarget, first: bool, message: Mapping[str, Any], file: FormFile | None
    ) -> ApiResult:
        """A command's first message takes the place of 'is thinking'."""
        if first and target.deferred:
            result = await self._api.by_token(target, "PATCH", "/messages/@original", message, file)
            if result.code != _UNKNOWN_MESSAGE or self._age(target) < SETTLING_SECONDS:
                return result
        return await self._api.by_token(target, "POST", "", message, file)

    def _age(self, target: DiscordTarget) -> float:
        return 0.0 if target.since is None else self._clock.now().timestamp() - target.since

    async def typing(self, config: DiscordConfig, target: DiscordTarget) -> Sent | None:
        """Shows 'typing'; a command shows 'is thinking' by itself."""
        if not target.channel_id or target.deferred:
            return None
        path = f"/channels/{segment(target.channel_id)}/typing"
        return (await self._api.as_bot(config, "POST", path, {})).sent


async def _upload(
    deliver: Callable[[Mapping[str, Any], FormFile], Awaitable[ApiResult]], artifact: Artifact, content: bytes
) -> Sent | None:
    """None where the file is too large for Discord."""
    message = {"allowed_mentions": NO_PINGS, "attachments": [{"id": "0", "filename": artifact.name}]}
    result = await deliver(message, FormFile("files[0]", artifact.name, artifact.mime_type, content))
    return None if result.status == 413 or result.code == _TOO_LARGE else result.sent


def nonce(key: str) -> str:
    """The nonce of a message, the same for every try: Discord makes one message of those that bear it."""
    return hashlib.sha256(key.encode()).hexdigest()[:25]


def _message(content: str, choices: Sequence[tuple[str, str]]) -> dict[str, Any]:
    message: dict[str, Any] = {"content": content, "allowed_mentions": NO_PINGS}
    buttons = [
        {"type": 2, "style": 2, "label": label[:80], "custom_id": value[:100]} for label, value in choices
    ]
    if buttons:
        rows = (buttons[start : start + _ROW] for start in range(0, len(buttons), _ROW))
        message["components"] = [{"type": 1, "components": row} for row in rows]
    return message
