"""Replaces a prompt that is over, and tells somebody who cannot decide it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.messages import closed_text
from adapters.outbound.channels.common.outcomes import by_status, exchange
from adapters.outbound.rendering import Markup
from domain.channels.messages import ClosedPrompt, Config, OutboundMessage, Outcome, Sent, Target
from ports.channels import ChannelDependencies
from ports.http import HttpRequest

from .api import WebApi
from .messages import BLOCK_LIMIT, section


def as_pressed(
    config: Config, target: Target, part: OutboundMessage, ref: str, press: Target
) -> Target | None:
    """A prompt that was sent: its `ts`, behind its conversation where it took the place of a draft. The message of a
    press is named by Slack itself, also where the prompt went to the sender directly."""
    place, _, ts = ref.rpartition(":")
    channel = place or text(target, "channel") or text(config, "defaultChannel")
    if not part.payload.get("choices") or not channel:
        return None
    return press or {"channel": channel, "prompt_ts": ts}


class Prompts:
    """The press brings an address for this along; where it does not work, chat.update is tried."""

    def __init__(self, dependencies: ChannelDependencies, api: WebApi) -> None:
        self._dependencies = dependencies
        self._api = api

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        prompt, channel = text(target, "prompt_ts"), text(target, "channel")
        if not prompt:
            return
        message = _message(closed)
        if not await self._respond(target, {"replace_original": True, **message}):
            body = {"channel": channel, "ts": prompt, **message}
            await self._api.deliver(self._api.request(config, "chat.update", json=body))

    async def noticed(self, config: Config, target: Target, words: str) -> None:
        """Tells words to who pressed and nobody else; a press without words needs no answer."""
        if not words:
            return
        told = {"response_type": "ephemeral", "replace_original": False, "text": words}
        if not await self._respond(target, told):
            body = {"channel": text(target, "channel"), "user": text(target, "user"), "text": words}
            if thread := text(target, "thread_ts"):
                body["thread_ts"] = thread
            await self._api.deliver(self._api.request(config, "chat.postEphemeral", json=body))

    async def _respond(self, target: Target, body: Mapping[str, Any]) -> bool:
        """Whether the address that came with the press took it."""
        address = text(target, "prompt_url")
        if not address:
            return False
        answer = await exchange(
            self._dependencies.http, HttpRequest("POST", address, json=body, user_address=True)
        )
        sent = answer if isinstance(answer, Sent) else by_status(answer)
        return sent.outcome is Outcome.SENT


def _message(closed: ClosedPrompt) -> dict[str, Any]:
    shown = closed_text(Markup.MRKDWN, closed, BLOCK_LIMIT).text
    return {"text": shown, "blocks": [section(shown)]}
