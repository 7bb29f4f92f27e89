"""Replaces a prompt that is over, and tells somebody who cannot decide it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.messages import closed_text
from adapters.outbound.rendering import Markup
from domain.channels.messages import ClosedPrompt, Config, OutboundMessage, Outcome, Target

from .api import WebApi
from .messages import BLOCK_LIMIT, section


class Prompts:
    """Uses the response_url of the press; where it does not work, the Web API."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    def as_pressed(
        self, config: Config, target: Target, part: OutboundMessage, ref: str, press: Target | None
    ) -> Target | None:
        """`ref` is the prompt's ts, behind 'channel:' where it took the place of a draft. A press names its message
        itself, also where the prompt went to the sender directly."""
        place, _, ts = ref.rpartition(":")
        channel = place or text(target, "channel") or text(config, "defaultChannel")
        if not part.payload.get("choices") or not channel:
            return None
        return press or {"channel": channel, "prompt_ts": ts}

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        prompt, channel = text(target, "prompt_ts"), text(target, "channel")
        if not prompt:
            return
        shown = closed_text(Markup.MRKDWN, closed, BLOCK_LIMIT).text
        message = {"text": shown, "blocks": [section(shown)]}
        if not await self._respond(target, {"replace_original": True, **message}):
            await self._api.post(config, "chat.update", channel=channel, ts=prompt, **message)

    async def noticed(self, config: Config, target: Target, words: str) -> None:
        """Shows a text to the person who pressed and nobody else; a press without text needs no answer."""
        if not words:
            return
        message = {"response_type": "ephemeral", "replace_original": False, "text": words}
        if not await self._respond(target, message):
            body = {"channel": text(target, "channel"), "user": text(target, "user"), "text": words}
            if thread := text(target, "thread_ts"):
                body["thread_ts"] = thread
            await self._api.post(config, "chat.postEphemeral", **body)

    async def _respond(self, target: Target, body: Mapping[str, Any]) -> bool:
        url = text(target, "prompt_url")
        return bool(url) and (await self._api.respond(url, body)).outcome is Outcome.SENT
