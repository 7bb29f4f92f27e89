"""The Mattermost channel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from adapters.outbound.channels.common.bodies import at, size, text
from adapters.outbound.channels.community_chat import delivery, webhook
from adapters.outbound.channels.community_chat.api import Server
from adapters.outbound.channels.community_chat.bots import Bots
from adapters.outbound.channels.community_chat.definition import DEFINITION
from domain.channels.limits import Limits
from domain.channels.messages import (
    Answer,
    Attachment,
    ChannelMetadata,
    Config,
    OutboundMessage,
    RawCall,
    Received,
    Sender,
    Sent,
    Target,
)
from domain.channels.typed import RAW
from ports.capabilities import PlatformError
from ports.channels import Channel, ChannelDependencies

_POST_ANYWHERE = {"system_admin", "system_post_all"}
"""Roles that post in channels of which they are no members."""
_SOON = 2.0
"""Seconds that a call may wait for the bot's own account: without it the call is read all the same."""


class Mattermost:
    """Outgoing webhooks and slash commands in, posts out. Choices are typed."""

    metadata_seconds = 3600.0
    typing_seconds = 4.0
    """Clients show it for five seconds, unless the server's TimeBetweenUserTypingUpdatesMilliseconds is changed."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies
        self._bots = Bots(dependencies.clock)

    async def fetch_metadata(self, config: Config) -> ChannelMetadata:
        """The bot's own user id and name: its own posts are no messages. Raises `PlatformError`."""
        me = await self._server(config).me(_SOON)
        return {"userId": me.get("id", ""), "username": me.get("username", "")}

    async def is_bot(self, config: Config, sender: Sender) -> bool | None:
        """Posts of bots set outgoing webhooks off as well, and the payload does not tell them from people's."""
        return await self._bots.has(self._server(config), sender.external_id)

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return webhook.receive(config, call, known)

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return delivery.render_answer(answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return delivery.limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        return await delivery.send(
            self._server(config), self._dependencies.artifacts, _where(config, target), part, key
        )

    async def typing(self, config: Config, target: Target) -> Sent | None:
        return await delivery.typing(self._server(config), _where(config, target))

    async def probe(self, config: Config) -> None:
        """The token is good, and the bot may post in the channel. Raises `PlatformError`."""
        server, channel_id = self._server(config), str(config["channelId"])
        own = await server.me()
        channel = await server.channel(channel_id)
        if at(channel, "delete_at"):
            raise PlatformError("The channel of channelId is archived, so that nothing can be posted there.")
        posts_anywhere = _POST_ANYWHERE & set(text(own, "roles").split())
        if not posts_anywhere and not await server.is_member(channel_id):
            raise PlatformError(
                "The bot is no member of the channel of channelId, so that its posts are refused: invite it there."
            )

    async def described(self, config: Config, attachment: Attachment) -> Attachment:
        """Name, type and size of a file: a webhook tells its id alone."""
        try:
            info = await self._server(config).file_info(str(attachment.source["fileId"]))
        except PlatformError:
            return attachment
        return Attachment(
            text(info, "name") or attachment.name,
            text(info, "mime_type").partition(";")[0].strip() or attachment.mime_type,
            attachment.source,
            size(info, "size"),
        )

    def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        return self._server(config).download(str(attachment.source["fileId"]))

    def _server(self, config: Config) -> Server:
        return Server(self._dependencies.http, config)


def _where(config: Config, target: Target) -> Target:
    return {**target, "channel": target.get("channel") or config["channelId"]}


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = Mattermost(dependencies)
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        webhook=channel,
        metadata=channel,
        sender=channel,
        limits=channel,
        probe=channel,
        fetcher=channel,
        describer=channel,
        sender_filter=channel,
        typing=channel,
    )
