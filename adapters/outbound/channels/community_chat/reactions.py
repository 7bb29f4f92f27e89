"""The bot's reactions to posts in Mattermost (https://developers.mattermost.com/api-documentation/, reactions)."""

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.http.paths import segment
from domain.channels.messages import Outcome, Sent
from ports.capabilities import PlatformError

from .api import MattermostApi
from .config import MattermostConfig, MattermostTarget


class MattermostReactions:
    def __init__(self, api: MattermostApi) -> None:
        self._api = api

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
        try:
            own = text(await self._api.fetch_metadata(config), "userId")
        except PlatformError as error:
            return Sent(Outcome.TRANSIENT, str(error))
        if present:
            body = {"user_id": own, "post_id": message_id, "emoji_name": name}
            return await self._api.post(config, "/reactions", body)
        path = f"/users/{segment(own)}/posts/{segment(message_id)}/reactions/{segment(name)}"
        return await self._api.remove(config, path)
