"""Reads threads of Mattermost (https://developers.mattermost.com/api-documentation/#/operations/GetPostThread)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from adapters.outbound.channels.common.bodies import at, integer, text
from adapters.outbound.channels.community_chat.api import MattermostApi
from adapters.outbound.channels.community_chat.config import MattermostConfig, MattermostTarget
from adapters.outbound.channels.community_chat.webhook import files_of, shown_in
from adapters.outbound.http.paths import segment
from domain.channels.answers import Author
from domain.channels.messages import Quoted, ThreadMessage

READ_TIMEOUT = 5.0


class Threads:
    """People are named by their names, which takes one more call for all of a thread."""

    def __init__(self, api: MattermostApi) -> None:
        self._api = api

    async def read_quoted(
        self, config: MattermostConfig, target: MattermostTarget, quoted: Quoted
    ) -> Quoted | None:
        path = f"/posts/{segment(quoted.ref)}"
        post = await self._api.read(config, path, "the first post of the thread", READ_TIMEOUT)
        names = await self._names(config, [post])
        return Quoted(shown_in(post), names[text(post, "user_id")], files_of(post))

    async def read_thread(
        self, config: MattermostConfig, target: MattermostTarget, before: str, most: int
    ) -> Sequence[ThreadMessage]:
        path = f"/posts/{segment(target.root)}/thread"
        thread = await self._api.read(config, path, "the thread", READ_TIMEOUT)
        posts = [post for post in (at(thread, "posts") or {}).values() if isinstance(post, Mapping)]
        called_at = next((_time(post) for post in posts if text(post, "id") == before), 0)
        earlier = [post for post in posts if _time(post) < called_at and shown_in(post)]
        latest = sorted(earlier, key=_time)[-most:]
        names = await self._names(config, latest)
        return [
            ThreadMessage(
                shown_in(post),
                names[text(post, "user_id")],
                datetime.fromtimestamp(_time(post) / 1000, UTC),
            )
            for post in latest
        ]

    async def _names(self, config: MattermostConfig, posts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """The author of each post by the id of its user."""
        own = text(await self._api.fetch_metadata(config), "userId")
        ids = {text(post, "user_id") for post in posts}
        users = await self._api.users(config, sorted(ids - {own}))
        names = {text(user, "id"): text(user, "username") for user in users}
        return {id: Author.RESOURCE if id == own else names.get(id) or id for id in ids}


def _time(post: Mapping[str, Any]) -> int:
    """In milliseconds since 1970."""
    return integer(post, "create_at") or 0
