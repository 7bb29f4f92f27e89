"""The Odoo channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from adapters.outbound.channels.erp_events import delivery, polling
from adapters.outbound.channels.erp_events.definition import DEFINITION
from adapters.outbound.channels.erp_events.limits import limits
from adapters.outbound.channels.erp_events.rpc import OdooError, sign_in
from domain.channels.limits import Limits
from domain.channels.messages import Answer, Config, OutboundMessage, Sent, Target
from domain.channels.typed import RAW
from ports.capabilities import PlatformError, Polled
from ports.channels import Channel, ChannelDependencies


class Odoo:
    """Record events in by polling, notes on the records out."""

    default_interval_minutes = 5.0

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies

    async def poll(
        self, config: Config, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        return await polling.poll(self._dependencies.http, config, cursor, now, since)

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return delivery.messages(config, target, answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        """Odoo has no idempotency key; a POST to webhookUrl carries the event's identity as webhook-id."""
        seconds = int(self._dependencies.clock.now().timestamp())
        return await delivery.send(self._dependencies.http, config, target, part, seconds)

    async def probe(self, config: Config) -> None:
        """Signs in, reads the fields of each model and the own e-mail address. Raises `PlatformError`."""
        try:
            session = await sign_in(self._dependencies.http, config)
            for model in polling.listed(config, "models"):
                await session.call(model, "fields_get", attributes=["type"])
            await delivery.check_sender(session, str(config["username"]))
        except OdooError as error:
            raise PlatformError(str(error)) from error


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = Odoo(dependencies)
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        sender=channel,
        limits=channel,
        poller=channel,
        probe=channel,
    )
