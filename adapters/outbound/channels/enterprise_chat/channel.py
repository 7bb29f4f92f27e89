"""The Microsoft Teams channel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlsplit

from adapters.outbound.channels.common.bodies import items, text
from adapters.outbound.channels.common.client import PlatformClient
from adapters.outbound.channels.enterprise_chat import delivery, webhook
from adapters.outbound.channels.enterprise_chat.connector import EMULATOR, OPENID, Connector, has_app
from adapters.outbound.channels.enterprise_chat.definition import DEFINITION
from adapters.outbound.oauth.tokens import TokenRefused, TokenUnavailable
from domain.channels.limits import Limits
from domain.channels.messages import (
    Answer,
    Attachment,
    ChannelMetadata,
    ClosedPrompt,
    Config,
    Event,
    OutboundMessage,
    RawCall,
    Received,
    Sent,
    Target,
)
from domain.channels.model import ChannelDefinition
from domain.channels.typed import RAW
from ports.capabilities import PlatformError
from ports.channels import Channel, ChannelDependencies
from ports.http import HttpRequest

_SOON = 4.0
"""Seconds for each of two requests that a call waits for; Teams gives it 15."""

_METADATA_PATH = "/v1/.well-known/openidconfiguration"


class Teams:
    """Activities in; answers out as the bot, or through an incoming webhook. Choices are card buttons."""

    metadata_seconds = 24 * 3600.0
    typing_seconds = delivery.Delivery.typing_seconds

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies
        self._keys = PlatformClient(
            dependencies.http, "The Bot Framework's signing keys cannot be fetched", lambda answer: ""
        )
        self._connector = Connector(dependencies)
        self._delivery = delivery.Delivery(dependencies, self._connector)
        # An emulator is answered without webhookUrl and appId.
        self._definition = replace(DEFINITION, advice=()) if dependencies.address(EMULATOR) else DEFINITION

    @property
    def definition(self) -> ChannelDefinition:
        return self._definition

    async def fetch_metadata(self, config: Config) -> ChannelMetadata:
        """Issuer and signing keys of inbound tokens, none without an appId. Raises `PlatformError`."""
        if not config.get("appId"):
            return {}
        base = self._dependencies.address(OPENID).rstrip("/")
        url = base if urlsplit(base).path else f"{base}{_METADATA_PATH}"
        metadata = await self._keys.read(HttpRequest("GET", url, timeout=_SOON))
        keys = await self._keys.read(HttpRequest("GET", text(metadata, "jwks_uri"), timeout=_SOON))
        return {"issuer": text(metadata, "issuer"), "keys": items(keys, "keys")}

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        received = webhook.receive(config, call, known, now)
        return replace(received, events=tuple(self._with_way(config, event) for event in received.events))

    def _with_way(self, config: Config, event: Event) -> Event:
        """The event, marked where it comes from an emulator that is answered without an app."""
        if not self._connector.is_emulator(config, str(event.target["serviceUrl"])):
            return event
        return replace(event, target={**event.target, "emulator": True})

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return self._delivery.render(config, target, answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return delivery.limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        return await self._delivery.send(config, target, part, key)

    async def typing(self, config: Config, target: Target) -> Sent | None:
        return await self._delivery.typing(config, target)

    async def noticed(self, config: Config, target: Target, words: str) -> None:
        await self._delivery.noticed(config, target, words)

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        await self._delivery.decided(config, target, closed)

    def as_pressed(
        self, config: Config, target: Target, part: OutboundMessage, ref: str, press: Target | None
    ) -> Target | None:
        return self._delivery.as_pressed(config, target, part, ref, press)

    async def probe(self, config: Config) -> None:
        """Gets a token with the bot's credentials. An incoming webhook cannot be tried without posting.

        Raises `PlatformError`.
        """
        if not has_app(config):
            if not config.get("webhookUrl") and not self._dependencies.address(EMULATOR):
                raise PlatformError(
                    "Neither webhookUrl nor appId with appPassword is set: answers go nowhere."
                )
            return
        self._connector.forget(config)
        try:
            await self._connector.bearer(config)
        except (TokenRefused, TokenUnavailable) as error:
            raise PlatformError(f"Microsoft did not take appId and appPassword: {error}") from error

    def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        return self._connector.fetch(config, attachment)


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = Teams(dependencies)
    return Channel(
        definition=channel.definition,
        config=RAW,
        target=RAW,
        webhook=channel,
        metadata=channel,
        sender=channel,
        limits=channel,
        probe=channel,
        fetcher=channel,
        typing=channel,
        button_ack=channel,
        prompt_closer=channel,
    )
