"""Replaces a decided prompt, so that its buttons cannot be pressed any more."""

from __future__ import annotations

from typing import Any

from adapters.outbound.channels.bodies import items, text
from adapters.outbound.channels.outcomes import by_status, exchange
from domain.channels.messages import Config, Outcome, Part, Sent, Target
from ports.channels import Kit
from ports.http import HttpRequest

from .api import WebApi
from .messages import section


def as_pressed(config: Config, target: Target, part: Part, ref: str) -> Target | None:
    """A prompt that was sent: its `ts`, behind its conversation where it took the place of a draft."""
    place, _, ts = ref.rpartition(":")
    channel = place or text(target, "channel") or text(config, "defaultChannel")
    if not part.payload.get("choices") or not channel:
        return None
    return {"channel": channel, "prompt_ts": ts, "prompt_text": part.payload["text"]}


class Prompts:
    """The press brings an address for this along; where it does not work, chat.update is tried."""

    def __init__(self, kit: Kit, api: WebApi) -> None:
        self._kit = kit
        self._api = api

    async def decided(self, config: Config, target: Target, outcome: str) -> None:
        prompt, channel = text(target, "prompt_ts"), text(target, "channel")
        if not prompt:
            return
        message = _message(target, outcome)
        if address := text(target, "prompt_url"):
            body = {"replace_original": True, **message}
            request = HttpRequest("POST", address, json=body, user_address=True)
            answer = await exchange(self._kit.http, request)
            sent = answer if isinstance(answer, Sent) else by_status(answer)
            if sent.outcome is Outcome.SENT:
                return
        body = {"channel": channel, "ts": prompt, **message}
        await self._api.deliver(self._api.request(config, "chat.update", json=body))


def _message(target: Target, outcome: str) -> dict[str, Any]:
    words = text(target, "prompt_text")
    blocks = items(target, "prompt_blocks") or ([section(words)] if words else [])
    note = {"type": "context", "elements": [{"type": "plain_text", "text": outcome[:2000] or "-"}]}
    return {"text": f"{words}\n{outcome}".strip(), "blocks": [*blocks, note]}
