"""The community-chat channel: Mattermost. Outgoing webhooks and slash commands in, posts out."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from adapters.outbound.channels.common.addresses import read_address
from adapters.outbound.channels.common.bodies import at, integer, text
from adapters.outbound.net.urls import segment
from domain.channels.answers import Author
from domain.channels.messages import Quoted, ThreadMessage
from domain.channels.refused import BOT, CHANNEL
from domain.channels.rich import RichKind
from ports.capabilities import Opened, OpenRequest, PlatformError
from ports.channels import Channel, ChannelDependencies

from . import delivery, webhook
from .api import Bots, MattermostApi
from .config import CONFIG, DEFINITION, TARGET, MattermostConfig, MattermostTarget, session_of
from .socket import Socket
from .webhook import DIRECT, files_of, shown_in

READ_TIMEOUT = 5.0
_ADDRESS = re.compile(r"(user:)?([a-z0-9]{26})")
_BETWEEN = "__"
"""Between the ids of the two people in the name of a direct channel."""


class Conversations:
    """Reads threads, and opens channels and direct messages for messages that answer none. People are named by their
    names, which takes one more call for all of a thread."""

    address = "the id (26 letters and digits) of a channel or a user, or user: and the id of a user"

    def __init__(self, api: MattermostApi) -> None:
        self._api = api

    def default_address(self, config: MattermostConfig) -> str:
        return config.channel_id

    async def open(self, config: MattermostConfig, request: OpenRequest) -> Opened[MattermostTarget]:
        """A bare id is that of a channel, or else of a user."""
        is_user, number = read_address(_ADDRESS, request.to, self.address).groups()
        channel = None if is_user else await self._api.find_channel(config, number)
        if channel is not None and text(channel, "type") != DIRECT:
            return _opened(channel)
        own = text(await self._api.fetch_metadata(config), "userId")
        if channel is None:
            return _opened(await self._api.open_direct(config, own, number), number)
        people = text(channel, "name").split(_BETWEEN)
        return _opened(channel, next((person for person in people if person != own), own))

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
                shown_in(post), names[text(post, "user_id")], datetime.fromtimestamp(_time(post) / 1000, UTC)
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


def _opened(channel: Mapping[str, object], person: str = "") -> Opened[MattermostTarget]:
    """Nobody is known of a channel of many: a conversation begins with each person who answers there."""
    channel_id = text(channel, "id")
    if not channel_id:
        raise PlatformError("Mattermost's answer names no channel.")
    return Opened(session_of(channel_id, person), MattermostTarget(channel=channel_id))


def build(dependencies: ChannelDependencies) -> Channel[MattermostConfig, MattermostTarget]:
    api = MattermostApi(dependencies)
    bots, conversations = Bots(dependencies.clock, api), Conversations(api)
    sender = delivery.Delivery(dependencies, api, bots)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        refusals=(CHANNEL, BOT),
        metadata=api,
        sender=sender,
        opener=conversations,
        limits=delivery,
        probe=api,
        fetcher=api,
        describer=api,
        quoted_reader=conversations,
        thread_reader=conversations,
        sender_filter=bots,
        typing=sender,
        reactions=sender,
        connector=Socket(dependencies, api),
        streaming=sender,
        button_ack=sender,
        thumb_buttons=True,
        prompt_closer=sender,
        rich_kinds=frozenset({RichKind.CARDS}),
        button_limit=delivery,
    )
