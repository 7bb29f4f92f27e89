"""Posts of the bot on Mattermost: made, changed, deleted."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.outcomes import repeatable
from adapters.outbound.channels.community_chat.api import MattermostApi
from adapters.outbound.channels.community_chat.config import MattermostConfig, MattermostTarget
from domain.channels.messages import Outcome, Sent

_GONE = "HTTP 404"


class Posting:
    def __init__(self, api: MattermostApi) -> None:
        self._api = api

    async def post(
        self, config: MattermostConfig, target: MattermostTarget, key: str, message: str, **more: Any
    ) -> Sent:
        """Posts in the thread, beside it where it is gone. `key` keeps the server from making a post twice."""
        body = {"channel_id": target.channel, "message": message, "pending_post_id": key, **more}
        if target.root:
            sent = await self._post(config, {**body, "root_id": target.root})
            thread_is_gone = sent.outcome is Outcome.PERMANENT and "root" in sent.detail.lower()
            if not thread_is_gone:
                return sent
        return await self._post(config, body)

    async def _post(self, config: MattermostConfig, body: Mapping[str, Any]) -> Sent:
        """A failure in the channel of the instance itself concerns the instance."""
        sent = await self._api.post(config, "/posts", body)
        return replace(sent, of_recipient=sent.of_recipient and body["channel_id"] != config.channel_id)

    async def change(self, config: MattermostConfig, post_id: str, fields: Mapping[str, Any]) -> Sent:
        """Replaces fields of a post; doing it twice is harmless."""
        sent = repeatable(await self._api.change(config, post_id, fields))
        return replace(sent, ref=post_id) if sent.outcome is Outcome.SENT else sent

    async def withdraw(self, config: MattermostConfig, post_id: str) -> Sent:
        """Deletes a post; one that is gone already counts as deleted."""
        sent = await self._api.delete(config, post_id)
        is_gone = sent.outcome is Outcome.PERMANENT and sent.detail.startswith(_GONE)
        return Sent(Outcome.SENT, ref=post_id) if is_gone else repeatable(sent)


def in_channel(config: MattermostConfig, target: MattermostTarget) -> MattermostTarget:
    """The target with a channel: that of the config where it names none."""
    return replace(target, channel=target.channel or config.channel_id)
