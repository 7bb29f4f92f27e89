"""The community-chat channel: Mattermost. Outgoing webhooks and slash commands in, posts out."""

from __future__ import annotations

from collections.abc import AsyncIterator

from adapters.outbound.channels.common.bodies import at, size, text
from adapters.outbound.channels.community_chat import delivery, webhook
from adapters.outbound.channels.community_chat.api import Server
from adapters.outbound.channels.community_chat.bots import Bots
from adapters.outbound.channels.community_chat.config import (
    CONFIG,
    DEFINITION,
    TARGET,
    MattermostConfig,
    MattermostTarget,
)
from domain.channels.messages import Attachment, ChannelMetadata, Sender
from ports.capabilities import PlatformError
from ports.channels import Channel, ChannelDependencies

_POST_ANYWHERE = {"system_admin", "system_post_all"}
"""Roles that post in channels of which they are no members."""
_METADATA_TIMEOUT = 2.0
"""Seconds that a call may wait for the bot's own account: without it the call is read all the same."""


class Mattermost:
    """Reads from a server what its calls do not tell."""

    metadata_seconds = 3600.0

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._http = dependencies.http
        self._bots = Bots(dependencies.clock)

    async def fetch_metadata(self, config: MattermostConfig) -> ChannelMetadata:
        """The bot's own user id and name: its own posts are no messages. Raises `PlatformError`."""
        me = await self._server(config).me(_METADATA_TIMEOUT)
        return {"userId": me.get("id", ""), "username": me.get("username", "")}

    async def is_bot(self, config: MattermostConfig, sender: Sender) -> bool | None:
        """Posts of bots set outgoing webhooks off as well, and the payload does not tell them from people's."""
        return await self._bots.has(self._server(config), sender.external_id)

    async def probe(self, config: MattermostConfig) -> None:
        """The token is good, and the bot may post in the channel. Raises `PlatformError`."""
        server = self._server(config)
        own = await server.me()
        if at(await server.channel(config.channel_id), "delete_at"):
            raise PlatformError("The channel of channelId is archived, so that nothing can be posted there.")
        posts_anywhere = _POST_ANYWHERE & set(text(own, "roles").split())
        if not posts_anywhere and not await server.is_member(config.channel_id):
            raise PlatformError(
                "The bot is no member of the channel of channelId, so that its posts are refused: invite it there."
            )

    async def described(self, config: MattermostConfig, attachment: Attachment) -> Attachment:
        """Name, type and size of a file: a webhook tells its id alone."""
        try:
            info = await self._server(config).file_info(str(attachment.source["fileId"]))
        except PlatformError:
            return attachment
        mime_type = text(info, "mime_type").partition(";")[0].strip() or attachment.mime_type
        return Attachment(
            text(info, "name") or attachment.name, mime_type, attachment.source, size(info, "size")
        )

    def fetch(self, config: MattermostConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        return self._server(config).download(str(attachment.source["fileId"]))

    def _server(self, config: MattermostConfig) -> Server:
        return Server(self._http, config)


def build(dependencies: ChannelDependencies) -> Channel[MattermostConfig, MattermostTarget]:
    mattermost = Mattermost(dependencies)
    sender = delivery.Delivery(dependencies)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        metadata=mattermost,
        sender=sender,
        limits=delivery,
        probe=mattermost,
        fetcher=mattermost,
        describer=mattermost,
        sender_filter=mattermost,
        typing=sender,
    )
