"""Replaces a prompt that is over, and tells somebody who cannot decide it."""

from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.messages import closed_text
from adapters.outbound.rendering import Markup
from domain.channels.answers import ClosedPrompt, OutboundMessage
from domain.channels.messages import Outcome

from .api import WebApi
from .config import SlackConfig, SlackTarget
from .messages import BLOCK_LIMIT, section


class Prompts:
    """Uses the response_url of the press; where it does not work, the Web API."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    def prompt_target(
        self,
        config: SlackConfig,
        target: SlackTarget,
        message: OutboundMessage,
        ref: str,
        press: SlackTarget | None,
    ) -> SlackTarget | None:
        """`ref` is the prompt's ts, behind 'channel:' where it took the place of a draft. A press names its message
        itself, also where the prompt went to the sender directly."""
        draft_channel, _, ts = ref.rpartition(":")
        channel = draft_channel or target.channel or config.default_channel
        if not message.payload.get("choices") or not channel:
            return None
        return press or SlackTarget(channel=channel, prompt_ts=ts)

    async def close_prompt(self, config: SlackConfig, target: SlackTarget, closed: ClosedPrompt) -> None:
        prompt, channel = target.prompt_ts, target.channel
        shown = await closed_text(Markup.MRKDWN, closed, BLOCK_LIMIT)
        if not prompt or shown is None:
            return
        message = {"text": shown.text, "blocks": [section(shown.text)]}
        if not await self._respond(target, {"replace_original": True, **message}):
            await self._api.post(config, "chat.update", channel=channel, ts=prompt, **message)

    async def acknowledge_press(self, config: SlackConfig, target: SlackTarget, notice: str) -> None:
        """Shows a text to the person who pressed and nobody else; a press without text needs no answer."""
        if not notice:
            return
        message = {"response_type": "ephemeral", "replace_original": False, "text": notice}
        if not await self._respond(target, message):
            body = {"channel": target.channel, "user": target.user, "text": notice}
            if thread := target.thread_ts:
                body["thread_ts"] = thread
            await self._api.post(config, "chat.postEphemeral", **body)

    async def _respond(self, target: SlackTarget, body: Mapping[str, Any]) -> bool:
        url = target.prompt_url
        return bool(url) and (await self._api.respond(url, body)).outcome is Outcome.SENT
