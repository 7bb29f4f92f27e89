"""The Microsoft Teams channel."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlsplit

from adapters.outbound.channels.common.bodies import items, text
from adapters.outbound.channels.enterprise_chat import delivery, webhook
from adapters.outbound.channels.enterprise_chat.connector import EMULATOR, OPENID, Connector
from adapters.outbound.channels.enterprise_chat.definition import DEFINITION
from adapters.outbound.channels.enterprise_chat.limits import limits
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
    Outcome,
    RawCall,
    Received,
    Sent,
    Target,
)
from domain.channels.model import ChannelDefinition
from ports.channels import ChannelDependencies, PlatformError
from ports.http import HttpAnswer, HttpFailed, HttpRequest

log = logging.getLogger(__name__)

_SOON = 4.0
"""Seconds for each of two requests that a call waits for; Teams gives it 15."""

_METADATA_PATH = "/v1/.well-known/openidconfiguration"


class Teams:
    """Activities in; answers out as the bot, or through an incoming webhook. Choices are card buttons."""

    facts_ttl = 24 * 3600.0
    typing_seconds = 3.0
    """Teams shows it for about three seconds."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies
        self._connector = Connector(dependencies)
        # An emulator is answered without webhookUrl and appId.
        self._definition = replace(DEFINITION, advice=()) if dependencies.address(EMULATOR) else DEFINITION

    @property
    def definition(self) -> ChannelDefinition:
        return self._definition

    async def facts(self, config: Config) -> ChannelMetadata:
        """Issuer and signing keys of inbound tokens, none without an appId. Raises `PlatformError`."""
        if not config.get("appId"):
            return {}
        metadata = await self._read(self._metadata_url())
        keys = await self._read(text(metadata, "jwks_uri"))
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
        return delivery.parts(config, target, answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        """The Bot Connector has no idempotency key."""
        return await delivery.send(self._dependencies.http, self._connector, config, target, part.payload)

    async def typing(self, config: Config, target: Target) -> Sent | None:
        if delivery.way(config, target) != delivery.BOT:
            return None
        conversation = {"id": target["conversation"]}
        body = {"type": "typing", "from": target.get("bot"), "conversation": conversation}
        return await self._connector.send(config, target, body, timeout=5.0)

    async def noticed(self, config: Config, target: Target, words: str) -> None:
        await delivery.noticed(self._connector, config, target, words)

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        """Best effort: the decision holds whether or not the prompt can be replaced."""
        sent = await delivery.decided(self._connector, config, target, closed)
        if sent is not None and sent.outcome is not Outcome.SENT:
            log.warning("a decided prompt could not be replaced: %s", sent.detail)

    def as_pressed(
        self, config: Config, target: Target, part: OutboundMessage, ref: str, press: Target
    ) -> Target | None:
        return {**target, "prompt": ref} if delivery.is_prompt(part.payload) else None

    async def probe(self, config: Config) -> None:
        """Gets a token with the bot's credentials. An incoming webhook cannot be tried without posting.

        Raises `PlatformError`.
        """
        if not (config.get("appId") and config.get("appPassword")):
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

    async def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        """The bytes of a file. Raises `HttpFailed`, `PlatformError` when the credentials are not taken."""
        try:
            async for piece in self._connector.download(config, str(attachment.source["url"])):
                yield piece
        except (TokenRefused, TokenUnavailable) as error:
            raise PlatformError(str(error)) from error

    def _metadata_url(self) -> str:
        base = self._dependencies.address(OPENID).rstrip("/")
        return base if urlsplit(base).path else f"{base}{_METADATA_PATH}"

    async def _read(self, url: str) -> object:
        """A JSON document of the Bot Framework. Raises `PlatformError`."""
        try:
            answer: HttpAnswer = await self._dependencies.http.send(HttpRequest("GET", url, timeout=_SOON))
        except HttpFailed as error:
            raise PlatformError(f"The Bot Framework's signing keys cannot be fetched: {error}") from error
        body: object = answer.json()
        if not answer.ok or not isinstance(body, dict):
            raise PlatformError(f"The Bot Framework's signing keys cannot be fetched: HTTP {answer.status}")
        return body


def build(dependencies: ChannelDependencies) -> Teams:
    """The channel, ready for use."""
    return Teams(dependencies)
