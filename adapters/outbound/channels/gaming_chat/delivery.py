"""Sends answers to Discord: interaction answers, channel messages, buttons and files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.drafts import WITHDRAWN, in_place_of_draft, replaced
from adapters.outbound.channels.common.files import FILE, send_file
from adapters.outbound.channels.common.messages import file_payloads, split_question, text_payloads
from adapters.outbound.http.paths import segment
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer, Artifact, OutboundMessage
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Outcome, Sent
from ports.channels import ChannelDependencies
from ports.http import FormFile

from .api import ApiResult, DiscordApi
from .config import TEXT_LIMIT, DiscordConfig, DiscordTarget
from .posting import NO_PINGS, Posting, channel_of, message_of

MAX_FILE = 10 * 1024 * 1024
"""In servers without boosts; an interaction tells of a larger limit."""
_MAX_IN_MEMORY = 100 * 1024 * 1024
_TOO_LARGE = 40005
_OF_BOT = (Quota(50, 1.0, burst=10),)


def limits(config: DiscordConfig, target: DiscordTarget) -> Limits:
    """50 requests a second of a bot in all; Discord's answers tell what a channel takes, and say that those numbers
    are not to be built in (https://docs.discord.com/developers/topics/rate-limits)."""
    return Limits(config.bot_token, channel_of(config, target) or target.token, _OF_BOT)


def shows_waiting(config: DiscordConfig, target: DiscordTarget) -> bool:
    """Discord shows 'is thinking' for a command."""
    return target.deferred


def continued(target: DiscordTarget) -> DiscordTarget:
    """The answer to a command stays: the message follows it up."""
    return replace(target, deferred=False, reply_to="")


class Delivery:
    typing_seconds = 8.0
    """Discord shows it for ten seconds."""

    def __init__(self, dependencies: ChannelDependencies, api: DiscordApi, posting: Posting) -> None:
        self._artifacts = dependencies.artifacts
        self._api = api
        self._posting = posting

    def render(self, config: DiscordConfig, target: DiscordTarget, answer: Answer) -> list[OutboundMessage]:
        """Texts, the choices under the last of them, then each file; without any, 'is thinking' is taken away."""
        pieces = [
            piece for part in split_question(answer) for piece in render(Markup.DISCORD, part, TEXT_LIMIT)
        ]
        payloads = text_payloads(pieces, answer)
        payloads = in_place_of_draft(payloads, answer.draft, has_text=bool(payloads)) + file_payloads(answer)
        if not payloads and target.deferred:
            payloads = [{"kind": WITHDRAWN}]
        return [OutboundMessage({**payload, "index": index}) for index, payload in enumerate(payloads)]

    async def send(
        self, config: DiscordConfig, target: DiscordTarget, message: OutboundMessage, key: str
    ) -> Sent:
        payload, posting = message.payload, self._posting
        if payload.get("kind") == WITHDRAWN:
            return await posting.withdraw(config, target, text(payload, "draft"))
        first = payload.get("index", 0) == 0
        deliver = partial(posting.deliver, config, target, key, first)

        async def send_text(content: str) -> Sent:
            body = message_of(content, at(payload, "choices") or ())

            async def post() -> Sent:
                return (await deliver(body)).sent

            if not (draft := text(payload, "draft")):
                return await post()
            change = partial(posting.change, config, target, draft, body)
            return await replaced(change, partial(posting.withdraw, config, target, draft), post)

        if payload.get("kind") == FILE:
            limit = min(target.max_file or MAX_FILE, _MAX_IN_MEMORY)
            sent = await send_file(self._artifacts, payload, limit, partial(_upload, deliver), send_text)
        else:
            sent = await send_text(text(payload, "text"))
        if first and sent.outcome is Outcome.PERMANENT and target.deferred:
            await posting.withdraw(config, target)
        of_recipient = sent.of_recipient and channel_of(config, target) != config.default_channel_id
        return replace(sent, of_recipient=of_recipient)

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
