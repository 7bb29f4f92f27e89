"""Messages on Discord: sent, changed and deleted by the interaction's token while it holds, else as the bot."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.messages import cut_labels
from adapters.outbound.channels.common.outcomes import repeatable
from adapters.outbound.http.paths import segment
from domain.channels.messages import Outcome, Sent
from ports.http import FormFile
from ports.system import Clock

from .api import TOKEN_GONE, ApiResult, DiscordApi
from .config import DiscordConfig, DiscordTarget

TOKEN_SECONDS = 15 * 60 - 15
SETTLING_SECONDS = 5.0
"""An answer may overtake our own acknowledgement: until then Discord does not know the interaction."""
NO_PINGS: Mapping[str, list[str]] = {"parse": []}
_ROW = 5
"""Buttons in a row."""
_LONGEST_LABEL = 80
"""Of a button; its custom_id has up to 100 (https://docs.discord.com/developers/components/reference#button)."""
_UNKNOWN_MESSAGE = 10008


_HAS_THREAD = 160004
"""The code of "A thread has already been created for this message"."""


def channel_of(config: DiscordConfig, target: DiscordTarget) -> str:
    """A thread has the id of the message below which it began."""
    return target.thread_of or target.channel_id or config.default_channel_id


class Posting:
    def __init__(self, clock: Clock, api: DiscordApi) -> None:
        self._clock = clock
        self._api = api

    async def deliver(
        self,
        config: DiscordConfig,
        target: DiscordTarget,
        key: str,
        first: bool,
        message: Mapping[str, Any],
        file: FormFile | None = None,
    ) -> ApiResult:
        """Sends a message; the `first` one answers what `target` names."""
        if self._has_token(target):
            result = await self._respond(target, first, message, file)
            if result.code in TOKEN_GONE and self._age(target) < SETTLING_SECONDS:
                return replace(result, sent=Sent(Outcome.TRANSIENT, result.sent.detail))
            if not result.is_gone:
                return result
        channel = channel_of(config, target)
        if not channel:
            detail = "There is no conversation to answer in; set config.defaultChannelId."
            return ApiResult(Sent(Outcome.PERMANENT, detail))
        body = {**message, "nonce": nonce(key), "enforce_nonce": True}
        if target.thread_of:
            return await self._in_thread(config, target, body, file)
        if first and (message_id := target.reply_to):
            body["message_reference"] = {"message_id": message_id, "fail_if_not_exists": False}
        return await self._api.as_bot(config, "POST", f"/channels/{segment(channel)}/messages", body, file)

    async def _in_thread(
        self, config: DiscordConfig, target: DiscordTarget, body: Mapping[str, Any], file: FormFile | None
    ) -> ApiResult:
        """Sends into the thread, which is begun where there is none yet; into the channel where the bot may not."""
        channel = f"/channels/{segment(target.channel_id)}"
        path = f"{channel}/messages/{segment(target.thread_of)}/threads"
        begun = await self._api.as_bot(config, "POST", path, {"name": target.thread_name})
        if begun.sent.outcome is Outcome.SENT or begun.code == _HAS_THREAD:
            channel = f"/channels/{segment(target.thread_of)}"
        elif begun.sent.outcome is not Outcome.PERMANENT:
            return replace(begun, sent=repeatable(begun.sent))
        return await self._api.as_bot(config, "POST", f"{channel}/messages", body, file)

    async def _respond(
        self, target: DiscordTarget, first: bool, message: Mapping[str, Any], file: FormFile | None
    ) -> ApiResult:
        """A command's first message takes the place of 'is thinking'."""
        if first and target.deferred:
            result = await self._api.by_token(target, "PATCH", "/messages/@original", message, file)
            if result.code != _UNKNOWN_MESSAGE or self._age(target) < SETTLING_SECONDS:
                return result
        return await self._api.by_token(target, "POST", "", message, file)

    async def change(
        self, config: DiscordConfig, target: DiscordTarget, message_id: str, message: Mapping[str, Any]
    ) -> Sent:
        """Replaces a message of ours; doing it twice is harmless."""
        result = await self._on_message(config, target, "PATCH", message_id, message)
        sent = repeatable(result.sent)
        return replace(sent, ref=message_id) if sent.outcome is Outcome.SENT else sent

    async def withdraw(self, config: DiscordConfig, target: DiscordTarget, message_id: str = "") -> Sent:
        """Deletes a message, or takes 'is thinking' away. Where it is gone, there is nothing left to do."""
        if message_id:
            result = await self._on_message(config, target, "DELETE", message_id, {})
            return Sent(Outcome.SENT) if result.is_gone else repeatable(result.sent)
        if not self._has_token(target):
            return Sent(Outcome.SENT)
        result = await self._api.by_token(target, "DELETE", "/messages/@original", {})
        if result.is_gone and self._age(target) >= SETTLING_SECONDS:
            return Sent(Outcome.SENT)
        return replace(result.sent, outcome=Outcome.TRANSIENT) if result.is_gone else repeatable(result.sent)

    async def _on_message(
        self,
        config: DiscordConfig,
        target: DiscordTarget,
        method: str,
        message_id: str,
        body: Mapping[str, Any],
    ) -> ApiResult:
        path = f"/messages/{segment(message_id)}"
        if self._has_token(target):
            result = await self._api.by_token(target, method, path, body)
            if not result.is_gone:
                return result
        channel = segment(channel_of(config, target))
        return await self._api.as_bot(config, method, f"/channels/{channel}{path}", body)

    def _has_token(self, target: DiscordTarget) -> bool:
        return bool(target.token) and self._age(target) < TOKEN_SECONDS

    def _age(self, target: DiscordTarget) -> float:
        return 0.0 if target.since is None else self._clock.now().timestamp() - target.since


def nonce(key: str) -> str:
    """The nonce of a message, the same for every try: Discord makes one message of those that bear it."""
    return hashlib.sha256(key.encode()).hexdigest()[:25]


def message_of(content: str, choices: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    message: dict[str, Any] = {"content": content, "allowed_mentions": NO_PINGS}
    labels = cut_labels([label for label, _ in choices], _LONGEST_LABEL)
    buttons = [
        {"type": 2, "style": 2, "label": label, "custom_id": value}
        for label, (_, value) in zip(labels, choices, strict=True)
    ]
    if buttons:
        rows = (buttons[start : start + _ROW] for start in range(0, len(buttons), _ROW))
        message["components"] = [{"type": 1, "components": row} for row in rows]
    return message
