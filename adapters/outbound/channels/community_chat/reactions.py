"""The bot's reactions to posts in Mattermost (https://developers.mattermost.com/api-documentation/, reactions)."""

from adapters.outbound.http.paths import segment
from domain.channels.messages import Outcome, Sent

from .api import MattermostApi
from .bots import Bots
from .config import MattermostConfig, MattermostTarget


class MattermostReactions:
    def __init__(self, api: MattermostApi, bots: Bots) -> None:
        self._api = api
        self._bots = bots

    async def react(
        self,
        config: MattermostConfig,
        target: MattermostTarget,
        message_id: str,
        emoji: str,
        *,
        present: bool,
    ) -> Sent:
        name = emoji.strip(":")
        own = await self._bots.account(config)
        if own is None:
            return Sent(Outcome.TRANSIENT, "Mattermost does not tell whose token it is")
        if present:
            body = {"user_id": own, "post_id": message_id, "emoji_name": name}
            return await self._api.post(config, "/reactions", body)
        path = f"/users/{segment(own)}/posts/{segment(message_id)}/reactions/{segment(name)}"
        return await self._api.remove(config, path)
