"""Replaces a prompt that is over, and tells somebody who cannot decide it."""

import asyncio
from dataclasses import replace

from adapters.outbound.channels.common.messages import closed_text
from adapters.outbound.http.paths import segment
from adapters.outbound.rendering import Markup
from domain.channels.answers import ClosedPrompt, OutboundMessage
from domain.channels.messages import Outcome

from .api import TOKEN_GONE, DiscordApi
from .config import TEXT_LIMIT, DiscordConfig, DiscordTarget
from .interactions import EPHEMERAL
from .posting import NO_PINGS, channel_of

_SETTLING_PAUSES = (0.0, 0.5, 1.0, 2.0)
"""Seconds before each try to answer a press: the first may overtake our own acknowledgement."""


class Prompts:
    """Answers with the token of the press while it holds, else as the bot."""

    def __init__(self, api: DiscordApi) -> None:
        self._api = api

    def prompt_target(
        self,
        config: DiscordConfig,
        target: DiscordTarget,
        message: OutboundMessage,
        ref: str,
        press: DiscordTarget | None,
    ) -> DiscordTarget | None:
        """The token of a press is good for the message with the button. What the token of a command calls the
        original may be another message, so the prompt is named."""
        if not message.payload.get("choices"):
            return None
        channel = channel_of(config, target)
        return press or replace(target, channel_id=channel, prompt_id=ref, prompt_message=ref)

    async def acknowledge_press(self, config: DiscordConfig, target: DiscordTarget, notice: str) -> None:
        """Shows a text to the person who pressed and nobody else; a press without text needs no answer."""
        if not notice or not target.token:
            return
        body = {"content": notice, "flags": EPHEMERAL, "allowed_mentions": NO_PINGS}
        for pause in _SETTLING_PAUSES:
            await asyncio.sleep(pause)
            if (await self._api.by_token(target, "POST", "", body)).code not in TOKEN_GONE:
                return

    async def close_prompt(self, config: DiscordConfig, target: DiscordTarget, closed: ClosedPrompt) -> None:
        """Replaces a prompt and its buttons with the outcome."""
        prompt, named = target.prompt_id, target.prompt_message
        shown = await closed_text(Markup.DISCORD, closed, TEXT_LIMIT)
        if not prompt or shown is None:
            return
        body = {"content": shown.text, "components": [], "allowed_mentions": NO_PINGS}
        if target.token:
            path = f"/messages/{segment(named) if named else '@original'}"
            if (await self._api.by_token(target, "PATCH", path, body)).sent.outcome is Outcome.SENT:
                return
        path = f"/channels/{segment(target.channel_id)}/messages/{segment(prompt)}"
        await self._api.as_bot(config, "PATCH", path, body)
