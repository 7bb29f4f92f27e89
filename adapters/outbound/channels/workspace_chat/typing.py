"""Slack's own sign that an answer is being written: the status of the bot in a thread.

Source: https://docs.slack.dev/reference/methods/assistant.threads.setStatus
"""

from domain.channels.messages import Sent

from .api import WebApi
from .config import SlackConfig, SlackTarget

STATUS = "is writing ..."


class ThreadStatus:
    """Slack removes it when the bot writes in the thread. Outside of threads Slack has no such sign."""

    typing_seconds = 100.0
    """Slack shows it for two minutes."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    async def typing(self, config: SlackConfig, target: SlackTarget) -> Sent | None:
        if not target.channel or not target.thread_ts:
            return None
        thread = {"channel_id": target.channel, "thread_ts": target.thread_ts}
        return await self._api.post(config, "assistant.threads.setStatus", **thread, status=STATUS)
