"""Replaces a prompt that is over, and tells somebody who cannot decide it."""

import logging
from dataclasses import replace

from adapters.outbound.channels.common.messages import closed_text
from adapters.outbound.channels.community_chat.api import MattermostApi
from adapters.outbound.channels.community_chat.config import POST_LIMIT, MattermostConfig, MattermostTarget
from adapters.outbound.channels.community_chat.posting import Posting, in_channel
from adapters.outbound.rendering import Markup
from domain.channels.answers import ClosedPrompt, OutboundMessage
from domain.channels.messages import Outcome

log = logging.getLogger(__name__)


class Prompts:
    def __init__(self, api: MattermostApi, posting: Posting) -> None:
        self._api = api
        self._posting = posting

    def prompt_target(
        self,
        config: MattermostConfig,
        target: MattermostTarget,
        message: OutboundMessage,
        ref: str,
        press: MattermostTarget | None,
    ) -> MattermostTarget | None:
        """A post of a slash command's address has no id: there the press names it."""
        if not message.payload.get("choices"):
            return None
        return replace(in_channel(config, target), prompt=ref) if ref else press

    async def close_prompt(
        self, config: MattermostConfig, target: MattermostTarget, closed: ClosedPrompt
    ) -> None:
        shown = await closed_text(Markup.MATTERMOST, closed, POST_LIMIT)
        if not target.prompt or shown is None:
            return
        fields = {"message": shown.text, "props": {"attachments": []}}
        sent = await self._posting.change(config, target.prompt, fields)
        if sent.outcome is not Outcome.SENT:
            log.warning("a decided prompt could not be replaced: %s", sent.detail)

    async def acknowledge_press(
        self, config: MattermostConfig, target: MattermostTarget, notice: str
    ) -> None:
        """Answers below the prompt, by the name of who pressed: a bot has no posts for one person alone."""
        if not notice:
            return
        name = f"@{target.user_name}: " if target.user_name else ""
        below = {"root_id": target.root or target.prompt} if target.root or target.prompt else {}
        body = {"channel_id": target.channel, "message": f"{name}{notice}", **below}
        await self._api.post(config, "/posts", body, timeout=10.0)
