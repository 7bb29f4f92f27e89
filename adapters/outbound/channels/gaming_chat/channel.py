"""The gaming-chat channel: Discord (https://docs.discord.com/developers)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.client import DOWNLOAD_TIMEOUT
from domain.channels.limits import Limits
from domain.channels.messages import (
    Answer,
    Attachment,
    ChannelMetadata,
    ClosedPrompt,
    Config,
    OutboundMessage,
    RawCall,
    Received,
    Sent,
    Target,
)
from domain.channels.typed import RAW
from ports.capabilities import Emit
from ports.channels import Channel, ChannelDependencies
from ports.http import HttpRequest
from ports.links import LinkRecorder

from . import delivery, webhook
from .api import DiscordApi
from .definition import DEFINITION
from .gateway import Gateway
from .prompts import Prompts

MAX_DOWNLOAD = 500_000_000


class GamingChat:
    """Discord, with the capabilities of `ports.channels`: interactions by webhook, messages by gateway."""

    typing_seconds = delivery.Delivery.typing_seconds

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._api = DiscordApi(dependencies)
        self._delivery = delivery.Delivery(dependencies, self._api)
        self._prompts = Prompts(self._api)
        self._gateway = Gateway(dependencies, self._api)

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return webhook.receive(config, call, now)

    async def listen(self, instance_id: int, config: Config, emit: Emit, recorder: LinkRecorder) -> None:
        await self._gateway.listen(instance_id, config, emit, recorder)

    async def unlink(self, instance_id: int) -> None:
        await self._gateway.unlink(instance_id)

    async def stored(self) -> Sequence[int]:
        return await self._gateway.stored()

    def lacks(self) -> str | None:
        return None

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return self._delivery.render(config, target, answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return delivery.limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        return await self._delivery.send(config, target, part, key)

    async def typing(self, config: Config, target: Target) -> Sent | None:
        return await self._delivery.typing(config, target)

    def shows_waiting(self, config: Config, target: Target) -> bool:
        return delivery.is_deferred(target)

    def as_pressed(
        self, config: Config, target: Target, part: OutboundMessage, ref: str, press: Target | None
    ) -> Target | None:
        return self._prompts.as_pressed(config, target, part, ref, press)

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        await self._prompts.decided(config, target, closed)

    async def noticed(self, config: Config, target: Target, words: str) -> None:
        await self._prompts.noticed(config, target, words)

    async def probe(self, config: Config) -> None:
        await self._api.read(config, "/users/@me")

    def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        """The bytes of a file from Discord's CDN. Raises `PlatformError`."""
        request = HttpRequest(
            "GET",
            text(attachment.source, "url"),
            timeout=DOWNLOAD_TIMEOUT,
            max_bytes=MAX_DOWNLOAD,
            user_address=True,
        )
        return self._api.client.download(request)


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = GamingChat(dependencies)
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        webhook=channel,
        sender=channel,
        limits=channel,
        probe=channel,
        fetcher=channel,
        typing=channel,
        waiting=channel,
        button_ack=channel,
        prompt_closer=channel,
        connector=channel,
    )
