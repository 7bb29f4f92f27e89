"""The Odoo channel: record events in by polling, notes on the records out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.outbound.channels.erp_events import delivery, polling
from adapters.outbound.channels.erp_events.config import (
    CONFIG,
    DEFINITION,
    TARGET,
    OdooConfig,
    RecordTarget,
)
from adapters.outbound.channels.erp_events.opening import Opener
from adapters.outbound.channels.erp_events.rpc import OdooError, sign_in
from adapters.outbound.channels.erp_events.sessions import Sessions
from ports.capabilities import PlatformError, Polled
from ports.channels import Channel, ChannelDependencies
from ports.http import Http, HttpFailed


@dataclass(frozen=True, slots=True)
class Odoo:
    http: Http
    sessions: Sessions
    default_interval_minutes: float = 5.0

    async def poll(
        self, config: OdooConfig, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        return await polling.poll(self.sessions, config, cursor, now, since)

    async def probe(self, config: OdooConfig) -> None:
        """Signs in, reads the fields of each model and the own e-mail address. Raises `PlatformError`."""
        try:
            session = await sign_in(self.http, config)
            for model in config.model_names:
                await session.call(model, "fields_get", attributes=["type"])
            await delivery.check_sender(session, config.username)
        except OdooError as error:
            reached = not isinstance(error.__cause__, HttpFailed)
            raise PlatformError(str(error), transient=error.transient, answered=reached) from error


def build(dependencies: ChannelDependencies) -> Channel[OdooConfig, RecordTarget]:
    sessions = Sessions(dependencies.http)
    odoo = Odoo(dependencies.http, sessions)
    sender = delivery.Delivery(dependencies.http, dependencies.clock, sessions)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        sender=sender,
        opener=Opener(),
        limits=delivery,
        read_limits=delivery,
        poller=odoo,
        probe=odoo,
    )
