"""The gaming-chat channel: Discord (https://docs.discord.com/developers)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from adapters.outbound.channels.common.bodies import text
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
from domain.channels.model import ChannelDefinition
from ports.channels import ChannelDependencies, Emit, PlatformError
from ports.http import HttpFailed, HttpRequest
from ports.links import LinkRecorder

from . import webhook
from .api import DiscordApi
from .definition import DEFINITION
from .delivery import Delivery, as_pressed, is_deferred, render_answer
from .gateway import Gateway
from .limits import limits

FETCH_TIMEOUT = 120.0
MAX_DOWNLOAD = 500_000_000


class GamingChat:
    """Discord, as the faces of `ports.channels` see it: interactions by webhook, messages by gateway."""

    typing_seconds = 8.0
    """Discord shows it for ten seconds."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies
        self._api = DiscordApi(dependencies)
        self._delivery = Delivery(dependencies, self._api)
        self._gateway = Gateway(dependencies, self._api)

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return webhook.receive(config, call, now)

    async def listen(self, instance_id: int, config: Config, emit: Emit, recorder: LinkRecorder) -> None:
        await self._gateway.listen(instance_id, config, emit, recorder)

    async def unlink(self, instance_id: int) -> None:
        self._gateway.forget(instance_id)

    async def stored(self) -> Sequence[int]:
        return self._gateway.known()

    def lacks(self) -> str | None:
        return None

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return render_answer(target, answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        return await self._delivery.send(config, target, part, key)

    async def typing(self, config: Config, target: Target) -> Sent | None:
        return await self._delivery.typing(config, target)

    def shows_waiting(self, config: Config, target: Target) -> bool:
        return is_deferred(target)

    def as_pressed(
        self, config: Config, target: Target, part: OutboundMessage, ref: str, press: Target
    ) -> Target | None:
        return as_pressed(config, target, part, ref, press)

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        await self._delivery.decided(config, target, closed)

    async def noticed(self, config: Config, target: Target, words: str) -> None:
        await self._delivery.noticed(config, target, words)

    async def probe(self, config: Config) -> None:
        await self._api.ask(config, "/users/@me")

    async def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        """The bytes of a file from Discord's CDN. Raises `PlatformError`."""
        request = HttpRequest(
            "GET",
            text(attachment.source, "url"),
            timeout=FETCH_TIMEOUT,
            max_bytes=MAX_DOWNLOAD,
            user_address=True,
        )
        try:
            async for piece in self._dependencies.http.stream(request):
                yield piece
        except HttpFailed as error:
            raise PlatformError(f"Discord: {error}") from None


def build(dependencies: ChannelDependencies) -> GamingChat:
    return GamingChat(dependencies)
