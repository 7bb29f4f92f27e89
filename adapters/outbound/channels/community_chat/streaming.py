"""Shows an answer on Mattermost while it is being made: a post, changed as the answer grows.

Source: https://developers.mattermost.com/api-documentation/#/operations/PatchPost
"""

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.drafts import preview
from adapters.outbound.channels.community_chat.config import POST_LIMIT, MattermostConfig, MattermostTarget
from adapters.outbound.channels.community_chat.posting import Posting, in_channel
from adapters.outbound.rendering import Markup
from domain.channels.answers import OutboundMessage, Preview
from domain.channels.messages import Sent

DRAFT_SECONDS = 1.0
"""Our choice: what a server takes is its own setting (10 requests a second where its limit is switched on)."""


class MattermostStreaming:
    """The reference of a draft is the id of its post."""

    def __init__(self, posting: Posting) -> None:
        self._posting = posting

    def preview(self, config: MattermostConfig, target: MattermostTarget) -> Preview | None:
        """A slash command is answered at another address, where nothing can be changed."""
        return None if target.response_url else preview(Markup.MATTERMOST, POST_LIMIT, DRAFT_SECONDS)

    async def draft(
        self,
        config: MattermostConfig,
        target: MattermostTarget,
        message: OutboundMessage,
        draft: str,
        key: str,
    ) -> Sent:
        content = text(message.payload, "text")
        if draft:
            return await self._posting.change(config, draft, {"message": content})
        return await self._posting.post(config, in_channel(config, target), key, content)
