"""The enterprise-chat channel: Microsoft Teams.

Activities in; answers out as the bot, or through an incoming webhook. Choices are card buttons.
"""

from dataclasses import replace
from datetime import datetime
from urllib.parse import urlsplit

from adapters.outbound.channels.common.bodies import items, text
from adapters.outbound.channels.common.client import PlatformClient
from domain.channels.messages import ChannelMetadata, RawCall, Received
from domain.channels.model import Proof
from domain.channels.refused import BOT, CHANNEL
from ports.channels import Channel, ChannelDependencies
from ports.http import HttpRequest

from . import delivery, webhook
from .config import CONFIG, DEFINITION, TARGET, TeamsConfig, TeamsTarget
from .connector import EMULATOR, LOGIN, OPENID, SERVICE, Connector

_METADATA_TIMEOUT = 4.0
"""Seconds for each of two requests that a call waits for; Teams gives it 15."""
_METADATA_PATH = "/v1/.well-known/openidconfiguration"


class Calls:
    """Reads calls with the signing keys of the Bot Framework."""

    metadata_seconds = 24 * 3600.0

    def __init__(self, dependencies: ChannelDependencies, connector: Connector) -> None:
        self._address = dependencies.address
        self._connector = connector
        self._keys = PlatformClient(
            dependencies.http, "The Bot Framework's signing keys cannot be fetched", lambda answer: ""
        )

    async def fetch_metadata(self, config: TeamsConfig) -> ChannelMetadata:
        """Issuer and signing keys of inbound tokens, none without an appId. Raises `PlatformError`."""
        if not config.app_id:
            return {}
        base = self._address(OPENID).rstrip("/")
        url = base if urlsplit(base).path else f"{base}{_METADATA_PATH}"
        metadata = await self._keys.read(HttpRequest("GET", url, timeout=_METADATA_TIMEOUT))
        url = text(metadata, "jwks_uri")
        keys = await self._keys.read(HttpRequest("GET", url, timeout=_METADATA_TIMEOUT))
        return {"issuer": text(metadata, "issuer"), "keys": items(keys, "keys")}

    def receive(
        self, config: TeamsConfig, call: RawCall, metadata: ChannelMetadata, now: datetime
    ) -> Received:
        """Reads a call, and marks events of an emulator that is answered without an app."""
        received = webhook.receive(config, call, metadata, now)
        events = (
            replace(event, target={**event.target, "emulator": True})
            if self._connector.is_emulator(config, text(event.target, "serviceUrl"))
            else event
            for event in received.events
        )
        return replace(received, events=tuple(events))


def build(dependencies: ChannelDependencies) -> Channel[TeamsConfig, TeamsTarget]:
    connector = Connector(dependencies)
    calls = Calls(dependencies, connector)
    sender = delivery.Delivery(dependencies, connector)
    # An emulator is answered without webhookUrl and appId.
    definition = replace(DEFINITION, advice=()) if dependencies.address(EMULATOR) else DEFINITION
    return Channel(
        definition=definition,
        addresses=(LOGIN, OPENID, SERVICE),
        config=CONFIG,
        target=TARGET,
        webhook=calls,
        refusals=(CHANNEL, BOT),
        call_proof=Proof.PLATFORM,
        metadata=calls,
        sender=sender,
        opener=connector,
        limits=delivery,
        probe=connector,
        fetcher=connector,
        typing=sender,
        streaming=sender,
        button_ack=sender,
        prompt_closer=sender,
        rich_kinds=delivery.RICH_KINDS,
        forms=sender,
    )
