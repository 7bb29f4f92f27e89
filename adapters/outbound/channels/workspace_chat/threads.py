"""Reads threads of Slack (https://docs.slack.dev/reference/methods/conversations.replies)."""

from collections.abc import Sequence
from datetime import UTC, datetime

from adapters.outbound.channels.common.bodies import items, text
from domain.channels.messages import Quoted, ThreadMessage

from .api import WebApi
from .config import SlackConfig, SlackTarget
from .events import posted

PAGE = 200
MOST_PAGES = 5
"""Slack lists a thread from its beginning: of longer ones the messages of the first pages are handed on."""
READ_TIMEOUT = 5.0


class Threads:
    """For which the bot needs the scopes channels:history and groups:history."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    async def read_quoted(self, config: SlackConfig, target: SlackTarget, quoted: Quoted) -> Quoted | None:
        page = await self._api.read(
            config, "conversations.replies", READ_TIMEOUT, channel=target.channel, ts=quoted.ref, limit="1"
        )
        found = [message for message in items(page, "messages") if text(message, "ts") == quoted.ref]
        return posted(found[0], target.bot) if found else None

    async def read_thread(
        self, config: SlackConfig, target: SlackTarget, before: str, most: int
    ) -> Sequence[ThreadMessage]:
        form = {"channel": target.channel, "ts": target.thread_ts, "latest": before, "limit": str(PAGE)}
        latest: list[ThreadMessage] = []
        for _ in range(MOST_PAGES):
            page = await self._api.read(config, "conversations.replies", READ_TIMEOUT, **form)
            messages = (message for message in items(page, "messages") if text(message, "ts") != before)
            earlier = (_earlier(message, target.bot) for message in messages)
            latest = [*latest, *filter(None, earlier)][-most:]
            cursor = text(page, "response_metadata", "next_cursor")
            if not cursor:
                break
            form["cursor"] = cursor
        return latest


def _earlier(message: object, bot: str) -> ThreadMessage | None:
    content = posted(message, bot)
    try:
        at = datetime.fromtimestamp(float(text(message, "ts")), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return ThreadMessage(content.text, content.author, at) if content.text else None
