"""The business-messaging channel: the WhatsApp Cloud API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits
from domain.channels.messages import (
    Answer,
    Attachment,
    ChannelMetadata,
    Config,
    OutboundMessage,
    RawCall,
    Received,
    Sent,
    Target,
)
from domain.channels.typed import RAW
from ports.capabilities import PlatformError
from ports.channels import Channel, ChannelDependencies
from ports.http import HttpFailed, HttpRequest

from . import webhook
from .api import GraphApi, bearer
from .definition import DEFINITION
from .delivery import MAX_DOCUMENT, Delivery, render_answer
from .limits import limits

FETCH_TIMEOUT = 120.0


class BusinessMessaging:
    """WhatsApp, as the faces of `ports.channels` see it. Sent messages cannot be changed: no `PromptCloser`."""

    typing_seconds = 20.0
    """WhatsApp shows it for up to 25 seconds."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies
        self._api = GraphApi(dependencies)
        self._delivery = Delivery(self._api, dependencies.artifacts)

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return webhook.receive(config, call)

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return render_answer(answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        """The key comes back with the statuses of the message: a message whose sending broke off is known by it."""
        return await self._delivery.send(config, target, part, key)

    async def typing(self, config: Config, target: Target) -> Sent | None:
        message = text(target, "message_id")
        return await self._api.typing(config, message) if message else None

    async def probe(self, config: Config) -> None:
        """The token is good for the phone number. Raises `PlatformError`."""
        await self._api.ask(config, text(config, "phoneNumberId"))

    async def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        """The bytes of a media file, whose address holds for five minutes. Raises `PlatformError`."""
        media = await self._api.ask(
            config,
            text(attachment.source, "media_id"),
            phone_number_id=text(config, "phoneNumberId"),
        )
        request = HttpRequest(
            "GET",
            text(media, "url"),
            headers=bearer(config),
            timeout=FETCH_TIMEOUT,
            max_bytes=MAX_DOCUMENT,
        )
        try:
            async for piece in self._dependencies.http.stream(request):
                yield piece
        except HttpFailed as error:
            raise PlatformError(f"WhatsApp: {error}") from None


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = BusinessMessaging(dependencies)
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
    )
