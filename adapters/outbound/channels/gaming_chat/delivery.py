"""Writes answers to Discord: interaction answers, channel messages, buttons and files."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.files import (
    FILE,
    FileUnavailable,
    artifact_of,
    content_of,
    file_payload,
    link_text,
)
from adapters.outbound.channels.common.messages import closed_text, parted
from adapters.outbound.http.paths import segment
from adapters.outbound.rendering import Markup, render
from domain.channels.messages import Answer, ClosedPrompt, Config, OutboundMessage, Outcome, Sent, Target
from ports.channels import ChannelDependencies
from ports.http import FormFile

from .api import DiscordApi, Tried, bot
from .definition import TEXT_LIMIT

TOKEN_SECONDS = 15 * 60 - 15
SETTLING_SECONDS = 5.0
"""An answer may overtake our own acknowledgement: until then Discord does not know the interaction."""
MAX_FILE = 10 * 1024 * 1024
"""In servers without boosts; an interaction tells of a larger limit."""
_MAX_HELD = 100 * 1024 * 1024
_IN_A_ROW = 5
_NO_PINGS: Mapping[str, list[str]] = {"parse": []}
_UNKNOWN_MESSAGE = 10008
_TOKEN_GONE = frozenset({10008, 10015, 10062, 50027})
_TOO_LARGE = 40005
WITHDRAWN = "withdrawn"
_EPHEMERAL = 1 << 6
_SETTLING_PAUSES = (0.0, 0.5, 1.0, 2.0)
"""Seconds before each try to tell who pressed something: the first may overtake our own acknowledgement."""


def is_deferred(target: Target) -> bool:
    """Whether the target is a command, for which Discord shows 'is thinking'."""
    return target.get("deferred") is True


def render_answer(target: Target, answer: Answer) -> list[OutboundMessage]:
    """The answer as parts: texts, the choices under the last of them, then each file. Where it has none of these,
    'is thinking' is taken away."""
    pieces = [each for text in parted(answer) for each in render(Markup.DISCORD, text, TEXT_LIMIT)]
    texts = [_text_part(each.text) for each in pieces]
    if answer.choices:
        texts = texts or [_text_part("?")]
        texts[-1]["choices"] = [[each.label, each.value] for each in answer.choices]
    parts = texts + [file_payload(each) for each in answer.artifacts]
    if not parts and is_deferred(target):
        parts = [{"kind": WITHDRAWN}]
    return [OutboundMessage({**each, "index": index}) for index, each in enumerate(parts)]


def _text_part(words: str) -> dict[str, Any]:
    return {"kind": "text", "text": words}


class Delivery:
    """Sends parts by the interaction's token while it holds, else as messages of the bot."""

    def __init__(self, dependencies: ChannelDependencies, api: DiscordApi) -> None:
        self._dependencies = dependencies
        self._api = api

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        if part.payload.get("kind") == WITHDRAWN:
            return await self._withdraw(target)
        first = part.payload.get("index", 0) == 0
        if part.payload.get("kind") == FILE:
            sent = await self._send_file(config, target, part.payload, key, first)
        else:
            message = _message(part.payload["text"], part.payload.get("choices", ()))
            sent = (await self._deliver(config, target, message, key, first)).sent
        if first and sent.outcome is Outcome.PERMANENT and is_deferred(target):
            await self._withdraw(target)
        return sent

    async def _withdraw(self, target: Target) -> Sent:
        """Takes 'is thinking' away. Where it is gone, with its token or without, there is nothing left to do."""
        token, age = text(target, "token"), self._age(target)
        if age >= TOKEN_SECONDS:
            return Sent(Outcome.SENT)
        path = f"/webhooks/{segment(text(target, 'application_id'))}/{segment(token)}/messages/@original"
        tried = await self._api.call("DELETE", path, {}, secret=token)
        is_gone = tried.code in _TOKEN_GONE or tried.status in (401, 404)
        if is_gone and age < SETTLING_SECONDS:
            return replace(tried.sent, outcome=Outcome.TRANSIENT)
        if tried.sent.outcome is Outcome.UNKNOWN:  # to take it away once more does no harm
            return replace(tried.sent, outcome=Outcome.TRANSIENT)
        return Sent(Outcome.SENT) if is_gone else tried.sent

    async def _send_file(
        self, config: Config, target: Target, payload: Mapping[str, Any], key: str, first: bool
    ) -> Sent:
        artifact = artifact_of(payload)
        link = _message(link_text(artifact), ())
        try:
            limit = min(int(target.get("max_file", MAX_FILE)), _MAX_HELD)
            content = await content_of(self._dependencies.artifacts, artifact, limit)
        except FileUnavailable:
            return (await self._deliver(config, target, link, key, first)).sent
        message = {
            "allowed_mentions": _NO_PINGS,
            "attachments": [{"id": "0", "filename": artifact.name}],
        }
        file = FormFile("files[0]", artifact.name, artifact.mime_type, content)
        tried = await self._deliver(config, target, message, key, first, file)
        if tried.status == 413 or tried.code == _TOO_LARGE:
            tried = await self._deliver(config, target, link, key, first)
        return tried.sent

    async def _deliver(
        self,
        config: Config,
        target: Target,
        message: Mapping[str, Any],
        key: str,
        first: bool,
        file: FormFile | None = None,
    ) -> Tried:
        age = self._age(target)
        if text(target, "token") and age < TOKEN_SECONDS:
            tried = await self._respond(target, message, first, file)
            if tried.code in _TOKEN_GONE and age < SETTLING_SECONDS:
                return Tried(Sent(Outcome.TRANSIENT, tried.sent.detail), tried.status, tried.code)
            if tried.code not in _TOKEN_GONE and tried.status not in (401, 404):
                return tried
        return await self._post(config, target, message, key, first, file)

    def _age(self, target: Target) -> float:
        since = target.get("since")
        return self._dependencies.clock.now().timestamp() - since if isinstance(since, int | float) else 0.0

    async def _respond(
        self, target: Target, message: Mapping[str, Any], first: bool, file: FormFile | None
    ) -> Tried:
        """A command's first part takes the place of 'is thinking'; a follow-up needs no bot token."""
        token = text(target, "token")
        path = f"/webhooks/{segment(text(target, 'application_id'))}/{segment(token)}"
        if first and is_deferred(target):
            original = f"{path}/messages/@original"
            tried = await self._api.call("PATCH", original, message, file=file, secret=token)
            if tried.code != _UNKNOWN_MESSAGE or self._age(target) < SETTLING_SECONDS:
                return tried
        return await self._api.call("POST", path, message, file=file, secret=token)

    async def _post(
        self,
        config: Config,
        target: Target,
        message: Mapping[str, Any],
        key: str,
        first: bool,
        file: FormFile | None,
    ) -> Tried:
        channel = text(target, "channel_id") or text(config, "defaultChannelId")
        if not channel:
            words = "There is no conversation to answer in; set config.defaultChannelId."
            return Tried(Sent(Outcome.PERMANENT, words))
        whole = {**message, "nonce": nonce(key), "enforce_nonce": True}
        if first and (message_id := text(target, "reply_to")):
            whole["message_reference"] = {"message_id": message_id, "fail_if_not_exists": False}
        path = f"/channels/{segment(channel)}/messages"
        return await self._api.call("POST", path, whole, headers=bot(config), file=file)

    async def typing(self, config: Config, target: Target) -> Sent | None:
        """Shows 'typing' for ten seconds; a command shows 'is thinking' by itself."""
        channel = at(target, "channel_id")
        if not channel or is_deferred(target):
            return None
        path = f"/channels/{segment(channel)}/typing"
        return (await self._api.call("POST", path, {}, headers=bot(config))).sent

    async def noticed(self, config: Config, target: Target, words: str) -> None:
        """Tells words to who pressed and nobody else; a press without words needs no answer."""
        token = text(target, "token")
        if not words or not token:
            return
        path = f"/webhooks/{segment(text(target, 'application_id'))}/{segment(token)}"
        body = {"content": words, "flags": _EPHEMERAL, "allowed_mentions": _NO_PINGS}
        for pause in _SETTLING_PAUSES:
            await asyncio.sleep(pause)
            if (await self._api.call("POST", path, body, secret=token)).code not in _TOKEN_GONE:
                return

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        """Takes the buttons away from a prompt that is over and writes what came of it."""
        prompt, token = text(target, "prompt_id"), text(target, "token")
        if not prompt:
            return
        words = closed_text(Markup.DISCORD, closed, TEXT_LIMIT).text
        body = {"content": words, "components": [], "allowed_mentions": _NO_PINGS}
        named = text(target, "prompt_message")
        message = segment(named) if named else "@original"
        path = f"/webhooks/{segment(text(target, 'application_id'))}/{segment(token)}/messages/{message}"
        tried = await self._api.call("PATCH", path, body, secret=token) if token else None
        if tried is None or tried.sent.outcome is not Outcome.SENT:
            path = f"/channels/{segment(text(target, 'channel_id'))}/messages/{segment(prompt)}"
            await self._api.call("PATCH", path, body, headers=bot(config))


def as_pressed(
    config: Config, target: Target, part: OutboundMessage, ref: str, press: Target
) -> Target | None:
    """A prompt that was sent. What the token of a command calls the original may be another message; the token of a
    press is good for the message with the button, which Discord names itself."""
    channel = text(target, "channel_id") or text(config, "defaultChannelId")
    if not part.payload.get("choices"):
        return None
    return press or {**target, "channel_id": channel, "prompt_id": ref, "prompt_message": ref}


def nonce(key: str) -> str:
    """The nonce of a part, the same for every try: Discord makes one message of those that bear it."""
    return hashlib.sha256(key.encode()).hexdigest()[:25]


def _message(words: str, choices: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"content": words, "allowed_mentions": _NO_PINGS}
    buttons = [
        {"type": 2, "style": 2, "label": label[:80], "custom_id": value[:100]} for label, value in choices
    ]
    rows = [buttons[at : at + _IN_A_ROW] for at in range(0, len(buttons), _IN_A_ROW)]
    if rows:
        message["components"] = [{"type": 1, "components": row} for row in rows]
    return message
